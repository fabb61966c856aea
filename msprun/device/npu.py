"""An Ascend NPU: which one, seen under which numbers, in what environment; found without torch and never reset."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from msprun import lease, process, schema, toolkit
from msprun.device import cann, choice, mask, npu_smi
from msprun.device.cpu import cores, host_variables
from msprun.device.inventory import Runner, device_files, inventory, pulse
from msprun.device.world import refuse_ranks
from msprun.errors import ConfigError, MachineError
from msprun.lease import Leases
from msprun.model.npu import Chip, Finding, Inventory, Pulse, Use
from msprun.model.plan import DeviceFacts, Source

# Leftovers that would change what is measured, or have somebody else collect at the same time. Caches of compiled
# kernels lie in the home folder and stay where they are: all sessions share them.
_UNSET = (
    "ASCEND_LAUNCH_BLOCKING", "ASCEND_DEVICE_ID", "ASCEND_SLOG_PRINT_TO_STDOUT", "ASCEND_MODULE_LOG_LEVEL",
    "ASCEND_GLOBAL_EVENT_ENABLE", "PROFILING_MODE", "PROFILING_OPTIONS", "PROFILER_SAMPLECONFIG",
)  # fmt: skip


class Host(Struct, frozen=True, kw_only=True):
    """What this host shows: the logic ids behind torch's numbers (None: not known), and all that npu-smi tells."""

    seen: Inventory
    logics: tuple[int, ...] | None
    mask: tuple[int, ...] | None
    leases: Leases | None = None

    def chip(self, logic: int) -> Chip | None:
        """The chip of a logic id."""
        return next((chip for chip in self.seen.chips or () if chip.logic_id == logic), None)

    def spell(self) -> str:
        """The visible devices, for messages."""
        if self.mask is not None:
            return f"{mask.NAME}={','.join(map(str, self.mask))} shows {_count(len(self.mask))}"
        return f"this host has {_count(len(self.logics or ()))}"


class Npu:
    """Device time of a call is what a profiler of CANN sees. `run` hears tools, so that tests need none."""

    def __init__(self, run: Runner = process.capture, dev: Path = Path("/dev")) -> None:
        self._run = run
        self._dev = dev

    def select(self, run: schema.Run, environ: Mapping[str, str]) -> DeviceFacts:
        """The NPU that is asked for, or the best one; nothing is leased yet.

        Raises ConfigError or MachineError: a mask that is none, no such device, no right, nothing healthy, many ranks.
        """
        refuse_ranks(environ)
        host = self._host(run, environ)
        id, source, why = self._choose(run.device, host)
        logic = host.logics[id] if host.logics is not None else id
        chip = host.chip(logic)
        return DeviceFacts(
            kind="npu",
            id=id,
            id_source=source,
            id_why=why,
            name="not known" if chip is None else npu_smi.soc_name(chip.name) or chip.name,
            cores=cores(),
            threads=run.device.threads,
            logic=logic,
            physical=None if chip is None else chip.physical_id,
            card=None if chip is None else chip.npu_id,
            chip=None if chip is None else chip.chip_id,
            health=None if chip is None else chip.health,
            lease=lease_name(chip, logic),
        )

    def check(self, python: Path, environ: Mapping[str, str]) -> tuple[Finding, ...]:
        """CANN and torch_npu as the worker would find them. Raises MachineError where they cannot work together."""
        findings = cann.examine(environ, python).findings
        fatal = next((finding for finding in findings if finding.is_fatal), None)
        if fatal is not None:
            raise MachineError(fatal.message, fatal.hint)
        return findings

    def environment(self, facts: DeviceFacts, environ: Mapping[str, str] = os.environ) -> dict[str, str | None]:
        """The chosen device alone, errors alone in the log, torch_npu loaded, host memory and threads as on the CPU.

        A process that sees one device cannot touch another by an operator that says `npu:0`, or by torch_npu's own
        start. The toolkit's tools are found also where only its variables are set: torch_npu's parser starts msprof,
        too. Where the logs go is each session's own.
        """
        return {
            **host_variables(facts.threads),
            **dict.fromkeys(_UNSET),
            "PATH": toolkit.search_path(environ),
            mask.NAME: None if facts.logic is None else str(facts.logic),
            "ASCEND_GLOBAL_LOG_LEVEL": "3",
            "TORCH_DEVICE_BACKEND_AUTOLOAD": "1",
        }

    def use(self, facts: DeviceFacts, environ: Mapping[str, str] = os.environ) -> Use | None:
        """Who uses the device now and how it feels; None where npu-smi does not tell."""
        seen = inventory(self._run, environ, is_mapped=False)
        chip = next((c for c in seen.chips or () if c.place == (facts.card, facts.chip)), None)
        if chip is None:
            return None
        return Use(
            processes=choice.processes_of(chip, seen.processes),
            memory_used_mb=chip.memory_used_mb,
            memory_total_mb=chip.memory_total_mb,
            aicore_percent=chip.aicore_percent,
            health=chip.health,
        )

    def pulse(self, facts: DeviceFacts, environ: Mapping[str, str] = os.environ) -> Pulse | None:
        """Its clock, load and temperature now; None where npu-smi does not tell."""
        if facts.card is None or facts.chip is None:
            return None
        return pulse(self._run, environ, (facts.card, facts.chip))

    def _host(self, run: schema.Run, environ: Mapping[str, str]) -> Host:
        masked = mask.visible(environ)
        seen = inventory(self._run, environ)
        files = device_files(self._dev)
        known = tuple(chip.logic_id or 0 for chip in seen.chips) if seen.chips is not None else tuple(range(len(files)))
        if seen.chips is None and run.device.id is None:
            _refuse_blind(seen, bool(files))
        if masked is not None and known:
            mask.check_range(masked, known, seen.chips)
        folder = lease.present_folder(None if run.lease.dir is None else Path(run.lease.dir))
        return Host(
            seen=seen,
            logics=masked if masked is not None else known or None,
            mask=masked,
            leases=None if folder is None else Leases(folder, ""),
        )

    def _choose(self, asked: schema.Device, host: Host) -> tuple[int, Source, str | None]:
        if asked.physical is not None:
            return _by_physical(asked, host), "cli", f"device.physical={asked.physical}"
        if asked.id is not None:
            return _by_id(asked.id, host), "cli", None
        by_mask: Source = "auto" if host.mask is None else "env"
        if host.mask is not None and len(host.mask) == 1:
            return 0, "env", f"the only device of {mask.NAME}"
        if host.seen.chips is None:
            return 0, by_mask, f"the first one, since the load is not known: {host.seen.why}"
        best, why = choice.pick(_candidates(host))
        return best.id, "auto", why


def lease_name(chip: Chip | None, logic: int) -> str:
    """The name under which all runs of the host lease a device: by its physical id, else by its card and chip.

    Where npu-smi tells nothing it is the logic id, which is the physical one at least outside of containers.
    """
    if chip is None:
        return f"npu{logic}"
    return f"npu{chip.npu_id}-{chip.chip_id}" if chip.physical_id is None else f"npu{chip.physical_id}"


def _refuse_blind(seen: Inventory, has_files: bool) -> None:
    """Raises MachineError where nothing can be measured, rather than have the worker fail later."""
    if seen.code == "no_right":
        raise MachineError(
            f"the NPUs may not be opened: {seen.why}",
            "start the container with its devices and rights; device.id=0 tries all the same",
        )
    if seen.code == "no_tool" and not has_files:
        raise MachineError("no NPU is here: neither /dev/davinci* nor npu-smi", "on the processor: device=cpu")


def _by_id(id: int, host: Host) -> int:
    """Raises ConfigError where torch would not have this number."""
    logics = host.logics
    if logics is None or id < len(logics):
        return id
    hint = "device.id is 0" if len(logics) == 1 else f"device.id is 0 to {len(logics) - 1}, as torch counts"
    for place, logic in enumerate(logics):
        chip = host.chip(logic)
        if id == (chip.physical_id if chip is not None and chip.physical_id is not None else logic):
            hint += f"; physical {id} is device.id={place}"
    raise ConfigError(f"device.id={id} is not there: {host.spell()}", hint)


def _by_physical(asked: schema.Device, host: Host) -> int:
    """Raises ConfigError where no visible device has this physical id, or `device.id` means another one."""
    ids = {chip.physical_id: chip.logic_id for chip in host.seen.chips or () if chip.physical_id is not None}
    if not ids:
        raise ConfigError(
            f"device.physical={asked.physical}: physical ids are not known here", "name it by its number: device.id=0"
        )
    logic = ids.get(asked.physical or 0)
    if logic is None or host.logics is None or logic not in host.logics:
        visible = [str(physical) for physical, known in sorted(ids.items()) if known in (host.logics or ())]
        raise ConfigError(
            f"device.physical={asked.physical} is not there: {host.spell()}",
            f"visible are device.physical={' '.join(visible)}",
        )
    id = host.logics.index(logic)
    if asked.id not in (None, id):
        raise ConfigError(
            f"device.id={asked.id} and device.physical={asked.physical} are two devices",
            f"drop one of them; physical {asked.physical} is device.id={id}",
        )
    return id


def _candidates(host: Host) -> Sequence[choice.Candidate]:
    found = []
    for id, logic in enumerate(host.logics or ()):
        chip = host.chip(logic)
        if chip is not None:
            name = lease_name(chip, logic)
            found.append(
                choice.Candidate(
                    id=id,
                    chip=chip,
                    processes=choice.processes_of(chip, host.seen.processes),
                    is_leased=host.leases is not None and host.leases.is_taken(name),
                    sick=host.leases.sick(name) if host.leases is not None else None,
                )
            )
    return found


def _count(number: int) -> str:
    return f"{number} device{'' if number == 1 else 's'}"
