"""Programs of several ranks: msprun measures one device, and says how the others are profiled."""

from __future__ import annotations

from collections.abc import Mapping

from msprun.errors import MachineError

# How launchers tell a rank of how many it is: torchrun, HCCL's own, Open MPI, MPICH's and Slurm's srun.
SIZES = ("WORLD_SIZE", "RANK_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
# What makes a process a rank of torch.distributed or HCCL.
_RANKS = ("RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "RANK_ID")


def refuse_ranks(environ: Mapping[str, str]) -> None:
    """Raises MachineError where this process was started as one rank of several."""
    for name in SIZES:
        text = environ.get(name, "")
        if text.isdecimal() and int(text) > 1:
            unset = " ".join(f"-u {known}" for known in (*SIZES, *_RANKS) if known in environ)
            raise MachineError(
                f"this is one of {text} processes ({name}={text}), and only one device can be measured",
                f"alone: env {unset} msprun ...; all of them: "
                f"msprun mode=standard -- torchrun --nproc-per-node={text} PROGRAM",
            )
