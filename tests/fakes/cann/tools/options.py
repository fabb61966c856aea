"""The command line of msprof: what it knows, its defaults, what it refuses and in which words."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from tools.chips import chip
from tools.faults import faults

SWITCHES = (
    "ascendcl", "runtime-api", "ai-core", "l2", "aicpu", "msproftx", "hccl", "model-execution", "task-memory",
    "task-block", "export", "parse", "query", "clear",
)  # fmt: skip
CHOICES = {
    "task-time": ("on", "off", "l0", "l1", "l2", "l3"),
    "aic-mode": ("task-based", "sample-based"),
    "type": ("text", "db"),
    "summary-format": ("csv", "json"),
    "reports": None,
}
FREE = (
    "output", "application", "aic-freq", "aic-metrics", "mstx-domain-include", "mstx-domain-exclude", "storage-limit",
    "environment", "delay", "duration", "model-id", "iteration-id", "python-path",
)  # fmt: skip
NUMBERS = ("delay", "duration", "model-id", "iteration-id")
EVERY_GROUP = (
    "ArithmeticUtilization", "PipeUtilization", "Memory", "MemoryL0", "MemoryUB", "ResourceConflictRatio", "L2Cache",
    "PipelineExecuteUtilization", "MemoryAccess",
)  # fmt: skip
STORAGE_MB = (200, 4294967295)
ODD = set("\n\f\r\b\t\v\x7f\"'\\%><|&$;`")


class Refused(Exception):
    """A command line that msprof does not take; the text is what it prints."""


def parse(words: list) -> tuple:
    """(options, application): names without their dashes, and the words of the program to be run.

    The first word that does not begin with a dash starts the application; its own words are never looked at.
    """
    options: dict = {}
    for number, word in enumerate(words):
        if not word.startswith("--"):
            return options, words[number:]
        name, mark, value = word[2:].partition("=")
        if not known(name):
            raise Refused("[ERROR] unrecognized option '%s'\n%s" % (word, USAGE))
        if not mark:
            raise Refused("[ERROR] Argument --%s requires a value, write --%s=<value>." % (name, name))
        options[name] = value
    return options, options.get("application", "").split()


def known(name: str) -> bool:
    """Whether this msprof has the option: markers are younger than some toolkits that are in use."""
    if "no_msproftx" in faults() and name in ("msproftx", "mstx-domain-include", "mstx-domain-exclude"):
        return False
    return name in SWITCHES or name in CHOICES or name in FREE


def examined(options: dict) -> dict:
    """The options with their defaults and what follows from them. Refused: one is bad.

    `group` of counters by kernel or `sampled` by time, None where there are none; `sample_hz`; `storage_bytes`.
    """
    _check(options)
    full = dict(
        {"task-time": "on", "ascendcl": "on", "runtime-api": "off", "msproftx": "off", "type": "text"}, **options
    )
    group = _group(full)
    sampled = full.get("aic-mode") == "sample-based"
    full["group"], full["sampled"] = (None, group) if sampled else (group, None)
    full["sample_hz"] = _frequency(full)
    full["storage_bytes"] = _storage(options["storage-limit"]) if "storage-limit" in options else None
    full["record_bytes"] = int(os.environ.get("FAKE_CANN_RECORD_BYTES", "128"))
    return full


def _check(options: dict) -> None:
    """Refused: a value is none of its option's, or options do not go together or with the chip."""
    for name, value in options.items():
        choices = ("on", "off") if name in SWITCHES else CHOICES.get(name)
        if choices and value not in choices:
            raise Refused(
                "[ERROR] Argument --%s %s is invalid, please choose from: %s." % (name, value, ", ".join(choices))
            )
        if name in NUMBERS and not re.fullmatch(r"\d+", value):
            raise Refused("[ERROR] Argument --%s %s is invalid, please input a positive integer." % (name, value))
    if options.get("task-time") == "l3":
        raise Refused("[ERROR] Argument --task-time l3 is not supported on this platform.")
    if options.get("task-block") == "on" and chip().family != "950":
        raise Refused("[ERROR] Argument --task-block on is not supported on this platform.")
    if "mstx-domain-include" in options and "mstx-domain-exclude" in options:
        raise Refused("[ERROR] Argument --mstx-domain-include and --mstx-domain-exclude can not be set together.")
    if "python-path" in options and not shutil.which(options["python-path"]):
        raise Refused("[ERROR] Argument --python-path %s does not exist or permission denied." % options["python-path"])


def _group(options: dict) -> str:
    """The group of counters, None where they are off."""
    named = options.get("aic-metrics", "PipeUtilization")
    events = named[len("Custom:") :].split(",") if named.startswith("Custom:") else []
    fits = named in chip().groups
    if events:
        fits = len(events) <= 8 and all(re.fullmatch(r"0x[0-9a-fA-F]+|\d+", event) for event in events)
    if not fits:
        raise Refused(
            "[ERROR] Argument --aic-metrics %s is invalid in this platform, please check input range: %s."
            % (named, ", ".join(chip().groups))
        )
    default = "on" if options["task-time"] in ("on", "l1", "l2") else "off"
    return named if options.get("ai-core", default) == "on" else None


def _frequency(options: dict) -> int:
    """Readings of sampled counters in a second."""
    text = options.get("aic-freq", "100")
    if not text.isdigit() or not 1 <= int(text) <= 100:
        raise Refused("[ERROR] Argument --aic-freq %s is invalid, valid range is [1, 100]." % text)
    return int(text)


def _storage(text: str) -> int:
    found = re.fullmatch(r"(\d+)MB", text)
    if not found or not STORAGE_MB[0] <= int(found.group(1)) <= STORAGE_MB[1]:
        raise Refused(
            "[ERROR] Argument --storage-limit %s is invalid, valid range is [%dMB, %dMB]." % ((text,) + STORAGE_MB)
        )
    return int(found.group(1)) << 20


def folder(options: dict, application: list) -> Path:
    """Where PROF folders go, made if it is missing: --output, else the current folder, else the application's."""
    if "output" not in options:
        return Path(application[0]).resolve().parent if "application" in options else Path.cwd()
    named = options["output"]
    path = Path(named)
    if set(named) & ODD:
        raise Refused("[ERROR] Argument --output %s contains invalid character." % named)
    if len(named) > 1024:
        raise Refused("[ERROR] Argument --output is too long, at most 1024 characters.")
    if path.is_symlink():
        raise Refused("[ERROR] Argument --output %s is soft link, which is not support!" % named)
    if path.exists() and not path.is_dir():
        raise Refused("[ERROR] Argument --output %s is not a dir." % named)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise Refused("[ERROR] Argument --output %s permission denied." % named) from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise Refused("[ERROR] Argument --output %s permission denied." % named)
    return path.resolve()


USAGE = """\
Usage:
      msprof [--options] [application] [application arguments]
Options:
      --output=<path>                 the folder that profiling data are saved in
      --application=<command>         the application to be profiled, in the older form
      --type=<text|db>                what is exported, default text
      --task-time=<l0|l1|l2|on|off>   the level of task times, default on
      --ai-core=<on|off>              AI core counters
      --aic-mode=<task-based|sample-based>
      --aic-metrics=<group>           %s, Custom:<events>
      --ascendcl=<on|off>             host interfaces, default on
      --runtime-api=<on|off>          runtime interfaces, default off
      --msproftx=<on|off>             user markers, default off
      --mstx-domain-include=<names>   --mstx-domain-exclude=<names>
      --storage-limit=<n>MB           the oldest data are dropped beyond it
      --export=<on|off>               parse and export the data in --output
      --query=<on|off>                list the data in --output
""" % ", ".join(EVERY_GROUP)
