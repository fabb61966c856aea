"""What a kind of device needs beside torch's own calls: to be chosen, waited for, limited and described."""

import ctypes

import torch

from .protocol import BOOST_SIZE, SEPARATOR_SHAPE

BOOST_CALLS = 16


class Host:
    """The processor: a call is over when it returns."""

    def __init__(self, job):
        self.torch = torch.device("cpu")

    def synchronize(self):
        """Wait until everything that was launched has run."""

    def environment(self):
        """What a worker tells of it."""
        return {}

    def give_back(self):
        """Nothing: what is freed is free."""

    def stream(self):
        """The handle of the current stream for C libraries, None where there is none."""

    def boost(self):
        """Nothing: whoever shares the processor decides on its clock."""


class Npu:
    """An Ascend NPU by way of torch_npu, which torch loads by itself."""

    def __init__(self, job):
        if not hasattr(torch, "npu"):
            import torch_npu  # noqa: F401  (its import registers torch.npu)
        torch.npu.set_device(job.device_id)
        self.torch = torch.device("npu", job.device_id)
        self.op_timeout = set_op_timeout(job.op_timeout_s)
        self.square = self.odd = None

    def synchronize(self):
        torch.npu.synchronize()

    def environment(self):
        free, total = torch.npu.mem_get_info(self.torch.index)
        return {
            "device_name": torch.npu.get_device_name(self.torch.index),
            "device_count": torch.npu.device_count(),
            "device_free_bytes": free,
            "device_total_bytes": total,
            "torch_npu": version("torch_npu"),
            "op_timeout": self.op_timeout,
        }

    def give_back(self):
        """What torch_npu keeps of freed memory is the device's again."""
        torch.npu.empty_cache()

    def stream(self):
        """Asked afresh each time: reading it also waits until torch_npu's launching thread has nothing left to do."""
        return torch.npu.current_stream().npu_stream

    def boost(self):
        """Some milliseconds of matrix products, since an idle NPU clocks down; of a prime size, so they are known."""
        if self.square is None:
            self.square = torch.ones(BOOST_SIZE, BOOST_SIZE, dtype=torch.float16, device=self.torch)
        for _ in range(BOOST_CALLS):
            torch.mm(self.square, self.square)

    def separate(self):
        """One short kernel of a shape that hardly anybody has; what the tensor holds is of no interest."""
        if self.odd is None:
            self.odd = torch.empty(SEPARATOR_SHAPE, dtype=torch.float32, device=self.torch)
        self.odd.neg_()


def set_op_timeout(seconds):
    """Have the device end operators that run longer; how that was done, or why it was not.

    The limit counts for the whole process and in whole seconds (aclrtSetOpExecuteTimeOut).
    """
    if seconds is None:
        return "not asked for"
    whole = max(1, int(seconds))
    try:
        import acl

        code, how = acl.rt.set_op_execute_time_out(whole), "acl.rt"
    except (ImportError, AttributeError):
        try:
            code, how = ctypes.CDLL("libascendcl.so").aclrtSetOpExecuteTimeOut(ctypes.c_uint32(whole)), "libascendcl"
        except (OSError, AttributeError) as error:
            return "not set: %s" % error
    return "%d s by %s" % (whole, how) if code == 0 else "not set: error %s" % code


def version(name):
    """A module's version, None where it tells none."""
    module = __import__(name)
    return getattr(module, "__version__", None)


KINDS = {"cpu": Host, "npu": Npu}
