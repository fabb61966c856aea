"""The words that keys take, where they take nothing else; apart from the schema, for which completion has no time."""

from __future__ import annotations

KEYWORDS: dict[str, tuple[str, ...]] = {
    "impl": ("both", "reference", "candidate"),
    "order": ("interleaved", "sequential"),
    "cache": ("warm", "rotate", "flush"),
    "boost": ("auto", "off"),
    "isolation": ("shared", "side", "case"),
    "metric": ("device", "span", "host"),
    "device.busy": ("wait", "refuse", "warn"),
    "fail_on": ("any", "incorrect", "failed", "never"),
    "print": ("text", "json"),
    "lang": ("auto", "en", "zh"),
    "check.rule": ("standard", "close", "none"),
    "check.level": ("L0", "L1", "L2"),
}
SWITCHES: dict[str, tuple[str, ...]] = {"save_to_op": ("auto", "true", "false")}
