"""The texts with which torch_npu and the runtime report faults."""

import os
import time

LOOK = "Rectify the fault based on the error information in the ascend log."
MEANINGS = {
    107001: ("Invalid device ID.", "Check whether the device ID is valid."),
    507014: ("The aicore execution times out.", LOOK),
    507015: ("The aicore execution is abnormal.", LOOK),
    507033: ("Failed to open the device.", LOOK),
}
ERROR = "there is an exception of fftsplus aivector error, core id is 20, error code = %s"
DETAILS = {
    107001: "EE1001: [PID: %d] %s The argument is invalid.Reason: Set device failed, invalid device.",
    507014: "EZ9999: Inner Error!\nEZ9999: [PID: %d] %s " + ERROR % "0, [aicore timeout], subErrType:4.",
    507015: "EZ9999: Inner Error!\nEZ9999: [PID: %d] %s " + ERROR % "0x800000, The MPU address access is invalid.",
    507033: "EE9999: Inner Error!\nEE9999: [PID: %d] %s open device failed, runtime result = 507033.",
}


def failure(place, call, code):
    """The RuntimeError of an ACL call that answered `code`."""
    stamp = time.strftime("%Y-%m-%d-%H:%M:%S")
    meaning, cure = MEANINGS[code]
    lines = [
        "%s:build/CMakeFiles/torch_npu.dir/compiler_depend.ts:508 NPU function error: %s, error code is %d"
        % (place, call, code),
        "[ERROR] %s (PID:%d, Device:0, RankID:-1) ERR00100 PTA call acl api failed" % (stamp, os.getpid()),
        "[Error]: %s\n        %s" % (meaning, cure),
        DETAILS[code] % (os.getpid(), stamp + ".000.001"),
        "        TraceBack (most recent call last):",
    ]
    return RuntimeError("\n".join(lines) + "\n")


def out_of_memory(wanted, total, used):
    """The text of torch.OutOfMemoryError; bytes."""
    sizes = tuple(size / (1 << 30) for size in (wanted, total, used, used, max(0, total - used), used))
    return (
        "NPU out of memory. Tried to allocate %.2f GiB (NPU 0; %.2f GiB total capacity; %.2f GiB already allocated; "
        "%.2f GiB current active; %.2f GiB free; %.2f GiB reserved in total by PyTorch) If reserved memory is >> "
        "allocated memory try setting max_split_size_mb to avoid fragmentation." % sizes
    )
