"""What the scheduler's task types are for the account."""

from __future__ import annotations

# Names of op_summary's Task Type, kernel_details' Accelerator Core and task_time's kernel_type: those of operators
# (hostTaskTypeMap of Ascend/msprof), of the runtime (KERNEL_..., TS_TASK_TYPE_...) and of the device (..._SQE and the
# FFTS+ contexts). Upper case, blanks as underscores.
_NAMES: dict[str, tuple[str, ...]] = {
    "compute": (
        # AI_CORE is the cube kernel of split chips, any kernel of unsplit ones, and was any kernel in 2023.
        "AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "MIX_AIV", "DSA", "DSA_SQE",
        "KERNEL_AICORE", "KERNEL_AIVEC", "KERNEL_MIX_AIC", "KERNEL_MIX_AIV", "KERNEL_SIMT",
        "AIC", "AIV", "AIC_SQE", "AIV_SQE",
    ),
    "ai_cpu": ("AI_CPU", "KERNEL_AICPU"),
    "copy": ("MEMCPY", "MEMCPY_ASYNC", "KERNEL_MEMCPY", "MEMSET", "MEMSET_ASYNC", "SDMA", "SDMA_SQE", "PCIE_DMA_SQE"),
    "communication": (
        "HCCL", "COMMUNICATION", "HCCL_AI_CPU", "CCU", "CCU_LAUNCH", "RDMA", "RDMA_SEND", "RDMA_DB_SEND", "ROCCE_SQE",
    ),
    "other": (
        "EVENT_RECORD", "EVENT_WAIT", "EVENT_RESET", "REMOTE_EVENT_WAIT", "EVENT_RECORD_SQE", "EVENT_WAIT_SQE",
        "NOTIFY_RECORD", "NOTIFY_WAIT", "NOTIFY_RECORD_SQE", "NOTIFY_WAIT_SQE",
        "WRITE_VALUE", "WRITE_VALUE_SQE", "WRITEVALUETASK", "MEM_WAIT_VALUE",
        "PROFILING_ENABLE", "PROFILING_DISABLE", "PROFILER_TRACE", "PROFILER_TRACE_EX", "PROFILER_DYNAMIC_ENABLE",
        "PROFILER_DYNAMIC_DISABLE", "ONLINE_PROF_ENABLE", "ONLINE_PROF_DISABLE", "MSTX",
        "TASK_TIMEOUT_SET", "STARS_COMMON", "PLACE_HOLDER_SQE", "FLIP", "NOP", "BARRIER", "CMO", "CMO_TASK",
        "DATA_CONTEXT", "LOAD_CONTEXT", "INVALIDATE_DATA_CONTEXT", "WRITEBACK_DATA_CONTEXT", "INVALID", "WRITE_BACK",
        "STREAM_SWITCH", "STREAM_ACTIVE", "CREATE_STREAM", "LABEL_SET", "LABEL_SWITCH", "LABEL_GOTO",
        "MODEL_EXECUTE", "MODEL_MAINTAINCE", "MODEL_END_GRAPH", "MAINTENANCE", "CREATE_L2_ADDR", "HOSTFUNC_CALLBACK",
        "DATA_DUMP", "DATADUMP_LOADINFO",
    ),
}  # fmt: skip
KIND_OF: dict[str, str] = {name: kind for kind, names in _NAMES.items() for name in names}


def kind(task_kind: str | None) -> str:
    """One of `KINDS` for a profiler's word; `unknown` for None and for words not listed, which never are kernels.

    DVPP, FFTS_PLUS, FUSION and DPU are not listed on purpose: what they hold may be computing, and may hold kernels
    that have rows of their own.
    """
    return "unknown" if task_kind is None else KIND_OF.get(task_kind.strip().replace(" ", "_").upper(), "unknown")
