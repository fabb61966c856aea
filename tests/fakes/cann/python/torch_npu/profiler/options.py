"""What torch_npu.profiler can be asked for."""

import os
from enum import Enum


class ProfilerActivity(Enum):
    CPU = "CPU"
    NPU = "NPU"


class ProfilerAction(Enum):
    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class ProfilerLevel:
    Level_none = "Level_none"
    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"


class AiCMetrics:
    """Group by its name in the msprof command."""

    PipeUtilization = "ACL_AICORE_PIPE_UTILIZATION"
    ArithmeticUtilization = "ACL_AICORE_ARITHMETIC_UTILIZATION"
    Memory = "ACL_AICORE_MEMORY_BANDWIDTH"
    MemoryL0 = "ACL_AICORE_L0B_AND_WIDTH"
    MemoryUB = "ACL_AICORE_MEMORY_UB"
    ResourceConflictRatio = "ACL_AICORE_RESOURCE_CONFLICT_RATIO"
    L2Cache = "ACL_AICORE_L2_CACHE"
    MemoryAccess = "ACL_AICORE_MEMORY_ACCESS"
    AiCoreNone = "ACL_AICORE_NONE"


class ExportType:
    Text = "text"
    Db = "db"


# Not yet known where FAKE_CANN_MSTX_API is old or none.
YOUNGER = ("mstx", "mstx_domain_include", "mstx_domain_exclude")


class _ExperimentalConfig:
    """Level, counters and markers; counters need Level1 or more."""

    def __init__(self, profiler_level=ProfilerLevel.Level0, aic_metrics=None, l2_cache=False, msprof_tx=False, **more):
        self.profiler_level = profiler_level
        below = profiler_level in (ProfilerLevel.Level0, ProfilerLevel.Level_none)
        # The real one too replaces also the group of no counters where it is named.
        asked = AiCMetrics.PipeUtilization if aic_metrics in (None, AiCMetrics.AiCoreNone) else aic_metrics
        self._aic_metrics = AiCMetrics.AiCoreNone if below else asked
        self.l2_cache = l2_cache
        if os.environ.get("FAKE_CANN_MSTX_API") in ("old", "none"):
            refuse([name for name in YOUNGER if name in more])
        self.mstx = bool(msprof_tx or more.pop("mstx", False))
        self.domains = more.pop("mstx_domain_include", None) or []
        self.not_domains = more.pop("mstx_domain_exclude", None) or []
        export = more.pop("export_type", None) or [ExportType.Text]
        self.export_type = export if isinstance(export, list) else [export]
        self.data_simplification = more.pop("data_simplification", True)
        for name in ("record_op_args", "op_attr", "gc_detect_threshold", "host_sys", "sys_io", "sys_interconnection"):
            more.pop(name, None)
        refuse(list(more))

    @property
    def group(self):
        """The counters' name in tables, None without."""
        names = {value: name for name, value in vars(AiCMetrics).items() if not name.startswith("_")}
        return None if self._aic_metrics == AiCMetrics.AiCoreNone else names[self._aic_metrics]


def refuse(names):
    """As Python does, where there are any."""
    if names:
        raise TypeError("__init__() got an unexpected keyword argument %r" % names[0])


class Schedule:
    """Which action a step calls for; steps count from 0."""

    def __init__(self, wait, active, warmup, repeat, skip_first, skip_first_wait):
        self.words = {"wait": wait, "active": active, "warmup": warmup, "repeat": repeat, "skip_first": skip_first}
        self.skip_first_wait = skip_first_wait

    def __call__(self, step):
        wait, active, warmup = (self.words[name] for name in ("wait", "active", "warmup"))
        step -= self.words["skip_first"]
        step += wait if self.skip_first_wait else 0
        cycle = wait + warmup + active
        if step < 0 or self.words["repeat"] and step >= cycle * self.words["repeat"]:
            return ProfilerAction.NONE
        place = step % cycle
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if place == cycle - 1 else ProfilerAction.RECORD


def schedule(wait, active, warmup=0, repeat=0, skip_first=0, skip_first_wait=0):
    """torch_npu's order of arguments, which is not torch's. Raises ValueError for counts that make no sense."""
    if min(wait, warmup, repeat, skip_first) < 0 or active < 1:
        raise ValueError("Invalid schedule: counts must not be negative, and active must be positive.")
    return Schedule(wait, active, warmup, repeat, skip_first, skip_first_wait)
