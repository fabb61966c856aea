"""The PROF folder inside a `*_ascend_pt` folder: raw data of a recording, which the msprof command exports."""

import json
import os
import shutil
import subprocess

NO_MSPROF = "Export CANN Profiling data failed! 'msprof' command not found!"
NO_EXPORT = "Failed to export CANN TEXT Profiling data."
SIMPLIFIED = ("mindstudio_profiler_output", "mindstudio_profiler_log")


class Raw:
    """Written as the fake msprof writes its own, so that its faults hold here too."""

    def __init__(self, folder, recording, tools):
        """Write what was recorded below `folder`."""
        self.tools = tools
        config, device = recording.config, recording.device
        self.faults = tools.faults.of_session(device.settings.state)
        process, *others = recording.records()
        options = {
            "task-time": "l0" if config.profiler_level == "Level0" else "on",
            "ascendcl": "on",
            "msproftx": "on" if config.mstx else "off",
            "type": "text",
            "group": config.group,
            "record_bytes": 128,
            "start_ns": recording.start_ns,
            "session": process["session"],
            "faults": self.faults,
        }
        self.prof = tools.prof.make(folder, 1, process, options)
        with open(str(self.prof / ("device_%d/data/stars.jsonl" % device.logic)), "w") as file:
            file.write("".join(json.dumps(record) + "\n" for record in [process] + others))

    def export(self):
        """What went wrong, None where msprof did its part."""
        msprof = shutil.which("msprof")
        if msprof is None:
            return NO_MSPROF
        done = subprocess.run([msprof, "--export=on", "--output=%s" % self.prof], stdout=subprocess.DEVNULL)
        return NO_EXPORT if done.returncode else None

    def kernels(self):
        """The rows that there are of an op_summary, None without such a table."""
        if not any(self.prof.glob("mindstudio_profiler_output/op_summary_*.csv")):
            return None
        before = os.environ.get("FAKE_CANN_FAULT", "")
        os.environ["FAKE_CANN_FAULT"] = self.faults
        try:
            return self.tools.capture.read(self.prof).kernels
        finally:
            os.environ["FAKE_CANN_FAULT"] = before

    def simplify(self):
        """Remove what was exported, as is done unless data_simplification=False."""
        for name in SIMPLIFIED:
            shutil.rmtree(str(self.prof / name), ignore_errors=True)
