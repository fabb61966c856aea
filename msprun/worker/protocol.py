"""The words that parent and worker speak: JSON lines over a unix socket.

The parent listens, the worker connects. One request is in flight at a time. Each line is an object with the
session's `nonce` (a line without it is an accident of the operator's and ends the session) and the request's `id`.

Request: `{"nonce", "id", "do": WORD, ...}`. Answer: `{"nonce", "id", "ok": true, ...}` or
`{"nonce", "id", "ok": false, "failure": {"stage", "kind", "message", "side", "trace"}}` where `kind` is `exception`,
`exit` or `out_of_memory` and `message` is one line: exception type, text, and the operator's own file and line.
Every answer is appended to `results.jsonl` before it is sent.

| do | asks | answers |
| --- | --- | --- |
| (on connect, id 0) | | `environment` {python, executable, torch, threads, platform, pid, device, ...} |
| describe | | `cases` [{name, shape, dtype}], `notes`: asked when no cases file tells |
| load | case | `shape`, `dtype` (labels as real), `empty`, `bytes`, `inputs_from` (provider, cases_file), `notes` |
| construct | case, side | `construct_s`, `notes` |
| first | case, side | `first_us`, `output_bytes`; of the reference also `hash` of its outputs (None without check) |
| check | case, rule, hash | `state`, `rule`, `figures`, `notes` |
| time | case, blocks [[side, calls], ...] | `elapsed_ns` [one a block] |
| breakdown | case, side | `operators` [{name, calls, duration_us}], `operators_us`, `wall_us` |
| probe | | (ok: the worker still computes rightly) |
| release | case | |
| bye | | |

Notes are `{"code", "figures"}`. Sides are `reference` and `candidate`.
`job.json` (beside the wrapper) holds `nonce`, `socket`, `seed`, `device`, `threads`, `folder`, `log`, `mark`,
`operator` {folder, reference {file, cls}, candidate {file, cls}}, `cases` [{index, name, inputs or null}],
`sides`, `check` (as CheckRule), `warmup`, `repeats`.
`mark` is a file of one byte that names the side whose call is running: `r`, `c` or `-`.
"""

import json

VERSION = 1
MARKS = {"reference": b"r", "candidate": b"c"}
IDLE = b"-"


class ChannelError(Exception):
    """A line that is no message of this session."""


def encode(message):
    """One message as one line of bytes; NaN and infinity are refused (strict JSON)."""
    return json.dumps(message, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def decode(line, nonce):
    """The message of a line. Raises ChannelError when it is no object that carries `nonce`."""
    try:
        message = json.loads(line.decode())
    except ValueError:
        raise ChannelError("not JSON: %.80r" % (line,)) from None
    if not isinstance(message, dict) or message.get("nonce") != nonce:
        raise ChannelError("not of this session: %.80r" % (line,))
    return message
