"""The columns of op_summary: a fixed part, and counters by family and group."""

from __future__ import annotations

from functools import lru_cache

FIXED = (
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),"
    "Task Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,"
    "Output Shapes,Output Data Types,Output Formats,Context ID"
).split(",")
# Old files lack these.
LATER = ("Device_id", "OP State", "HF32 Eligible")
# Chips without the newer scheduler lack these.
STARS = ("Mix Block Num", "Context ID")
DIM = {"Block Num": "Block Dim", "Mix Block Num": "Mix Block Dim"}
OLD = dict(DIM, **{"Task Start Time(us)": "Task Start Time"})

TASK_TIME = "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)"
OP_STATISTIC = "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)"
API_STATISTIC = "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance"
MSPROF_TX = (
    "Device_id,pid,tid,category,event_type,payload_type,payload_value,Start_time(us),End_time(us),message_type,"
    "message,domain,mark_id,Device Start_time(us),Device End_time(us)"
)

L2_CACHE = "Device_id,Stream Id,Task Id,Hit Rate,Victim Rate,Op Name"
AICPU = (
    "Device_id,Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Task_time(us),Dispatch_time(us),Total_time(us),"
    "Stream ID,Task ID"
)

L2 = (
    "write_cache_hit,write_cache_miss_allocate,r0_read_cache_hit,r0_read_cache_miss_allocate,r1_read_cache_hit,"
    "r1_read_cache_miss_allocate"
)
LOCAL_L2 = (
    "read_local_l2_hit,read_local_l2_miss,read_local_l2_victim,write_local_l2_hit,write_local_l2_miss,"
    "write_local_l2_victim"
)
MOVES = (
    "read_main_memory_datas(KB),write_main_memory_datas(KB),GM_to_L1_datas(KB),L0C_to_L1_datas(KB),"
    "L0C_to_GM_datas(KB),GM_to_UB_datas(KB),UB_to_GM_datas(KB)"
)

# Words of a side; those that end in `:pipe` stand for a time and a ratio, those in `:bw` for a bandwidth in GB/s,
# those in `:rw` for the bandwidths of reading and of writing.
SPLIT = {
    "PipeUtilization": (
        "mac:pipe,scalar:pipe,mte1:pipe,mte2:pipe,fixpipe:pipe,icache_miss_rate",
        "vec:pipe,scalar:pipe,mte2:pipe,mte3:pipe,icache_miss_rate",
    ),
    "ArithmeticUtilization": (
        "mac_fp16_ratio,mac_int8_ratio,cube_fops",
        "vec_fp32_ratio,vec_fp16_ratio,vec_int32_ratio,vec_misc_ratio,vector_fops",
    ),
    "Memory": ("l1:rw,main_mem:rw,l2:rw", "ub:rw,main_mem:rw,l2:rw"),
    "MemoryL0": ("l0a:rw,l0b:rw,l0c_read_bw_cube:bw,l0c_write_bw_cube:bw", "l0c:rw"),
    "MemoryUB": (
        "ub_read_bw_scalar:bw,ub_write_bw_scalar:bw",
        "ub_read_bw_vector:bw,ub_write_bw_vector:bw,ub_read_bw_scalar:bw,ub_write_bw_scalar:bw",
    ),
    "ResourceConflictRatio": ("", "vec_bankgroup_cflt_ratio,vec_bank_cflt_ratio,vec_resc_cflt_ratio"),
    "L2Cache": (L2, L2),
    "MemoryAccess": (MOVES, MOVES),
}
NEWEST = {
    "PipeUtilization": (
        "mac:pipe,scalar:pipe,mte1:pipe,mte2:pipe,mte3:pipe,fixpipe:pipe,icache_miss_rate",
        "vec:pipe,scalar:pipe,mte2:pipe,mte3:pipe,icache_miss_rate",
    ),
    "ArithmeticUtilization": ("mac_fp16_ratio,mac_int8_ratio,cube_fops", ""),
    "Memory": ("l1:rw,main_mem:rw", "ub:rw,main_mem:rw"),
    "MemoryL0": ("l0a:rw,l0b:rw,l0c_read_bw:bw,l0c_read_bw_cube:bw,l0c_write_bw_cube:bw", ""),
    "MemoryUB": (
        "fixp2ub_write_bw:bw",
        "ub_read_bw_mte:bw,ub_write_bw_mte:bw,ub_read_bw_vector:bw,ub_write_bw_vector:bw,ub_read_bw_scalar:bw,"
        "ub_write_bw_scalar:bw",
    ),
    "ResourceConflictRatio": ("", "vec_bank_cflt_ratio,vec_resc_cflt_ratio"),
    "L2Cache": (LOCAL_L2, LOCAL_L2),
}
UNSPLIT = {
    "PipeUtilization": (
        "vec:pipe,mac:pipe,scalar:pipe,mte1:pipe,mte2:pipe,mte3:pipe,icache_miss_rate,memory_bound",
    ),
    "ArithmeticUtilization": (
        "mac_fp16_ratio,mac_int8_ratio,vec_fp32_ratio,vec_fp16_ratio,vec_int32_ratio,vec_misc_ratio,cube_fops,"
        "vector_fops",
    ),
    "Memory": ("ub:rw,l1:rw,l2:rw,main_mem:rw",),
    "MemoryL0": ("l0a:rw,l0b:rw,l0c:rw,l0c_read_bw_cube:bw,l0c_write_bw_cube:bw",),
    "MemoryUB": (
        "ub_read_bw_mte:bw,ub_write_bw_mte:bw,ub_read_bw_vector:bw,ub_write_bw_vector:bw,ub_read_bw_scalar:bw,"
        "ub_write_bw_scalar:bw",
    ),
    "ResourceConflictRatio": ("vec_bankgroup_cflt_ratio,vec_bank_cflt_ratio,vec_resc_cflt_ratio",),
}  # fmt: skip
GROUPS = {"910B": SPLIT, "A3": SPLIT, "950": NEWEST, "310P": UNSPLIT}

# Sampled over a process: no times, no prefixes, and but for one group the same words for both sides.
SAMPLED = {
    "PipeUtilization": (
        "vec_ratio,mac_ratio,scalar_ratio,mte1_ratio,mte2_ratio,mte3_ratio,icache_miss_rate,memory_bound"
    ),
    "ArithmeticUtilization": UNSPLIT["ArithmeticUtilization"][0],
    "Memory": UNSPLIT["Memory"][0],
    "MemoryL0": UNSPLIT["MemoryL0"][0],
    "MemoryUB": SPLIT["MemoryUB"][1],
    "ResourceConflictRatio": UNSPLIT["ResourceConflictRatio"][0],
    "L2Cache": L2,
    "MemoryAccess": MOVES.lower().replace("(kb)", "(KB)"),
}
SAMPLED_CUBES = "mac_ratio,scalar_ratio,mte1_ratio,mte2_ratio,fixpipe_ratio,icache_miss_rate"
SAMPLED_NEWEST = {
    "PipeUtilization": (
        "vec_ratio,mac_ratio,scalar_ratio,mte1_ratio,mte2_ratio,mte3_ratio,fixpipe_ratio,icache_miss_rate,memory_bound"
    ),
    "ArithmeticUtilization": NEWEST["ArithmeticUtilization"][0],
    "Memory": "ub:rw,l1:rw,main_mem:rw",
    "MemoryL0": NEWEST["MemoryL0"][0],
    "MemoryUB": NEWEST["MemoryUB"][1],
    "ResourceConflictRatio": NEWEST["ResourceConflictRatio"][1],
    "L2Cache": LOCAL_L2,
}


def fixed(family: str, cann: tuple) -> list:
    """The fixed columns in the spelling of a release, by the names of today: pairs (today's, written)."""
    renamed = OLD if cann < (8,) else DIM if cann < (9,) else {}
    dropped = (STARS if family == "310P" else ()) + (LATER if cann < (8,) else ())
    return [(name, renamed.get(name, name)) for name in FIXED if name not in dropped]


@lru_cache(maxsize=64)
def counters(family: str, group: str) -> list:
    """The counter columns of a group, in order, without the two or four that lead each side: a list for each side."""
    if group.startswith("Custom:"):
        return [group[len("Custom:") :].split(",")] * (1 if family == "310P" else 2)
    sides = GROUPS[family][group]
    return [[column for word in side.split(",") if word for column in _spelled(word)] for side in sides]


@lru_cache(maxsize=64)
def sampled(family: str, group: str) -> list:
    """The metrics of sampled counters, for cube (or unsplit) and for vector cores."""
    if group.startswith("Custom:"):
        return [group[len("Custom:") :].split(",")] * 2
    words = (SAMPLED_NEWEST if family == "950" else SAMPLED)[group]
    cubes = SAMPLED_CUBES if group == "PipeUtilization" and family in ("910B", "A3") else words
    return [[column for word in side.split(",") for column in _spelled(word)] for side in (cubes, words)]


def _spelled(word: str) -> list:
    name, _, kind = word.partition(":")
    if kind == "pipe":
        return [name + "_time(us)", name + "_ratio"]
    if kind == "rw":
        return [name + "_read_bw(GB/s)", name + "_write_bw(GB/s)"]
    return [name + "(GB/s)"] if kind == "bw" else [name]
