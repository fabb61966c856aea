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
| load | case | `shape`, `dtype` (labels as real), `empty`, `bytes`, `arguments`, `inputs_from`, `notes` |
| construct | case, side | `construct_s`, `prepare_us` (None without a `prepare`), `notes` |
| part | case | from now on one side of it at a time is in memory, made again when it is called |
| first | case, side | `first_us`, `output_bytes`; of the reference also `hash` of its outputs (None without check) |
| check | case, side, rule, hash | `state`, `rule`, `figures`, `notes` |
| attack | case, side, rule, hash | the same, of calls with changed contents in the same buffers |
| cache_facts | case | `sets`, `bytes` (of all sets, or of the buffer that flushes), `llc_bytes` |
| time | case, blocks [[side, calls], ...] | `elapsed_ns` [one a block], `recorded` |
| boost | case | `recorded`; before a visit, on devices that clock down |
| collect | word `begin` or `end` | `torch_npu` alone: nothing before is in its files; `begin` tells of `markers` |
| recheck | case, side, rule, hash | as check, of one more call with the first inputs |
| breakdown | case, side | `operators` [{name, calls, duration_us}], `operators_us`, `wall_us`, and two more |
| probe | | (ok: the worker still computes rightly) |
| release | case | |
| bye | | |

Notes are `{"code", "figures"}`; any answer may hold some that came up since the last (`harness_touched`,
`globals_changed`). Sides are `reference`, `candidate` and, where the job names one, `against`, an older build of the
candidate; `side` is `candidate` where a check says none. A state that was found by repeated calls says by which in
`figures["on"]`: `changed_contents`, `late_write`, `later_call` or `reference_changed`.
`breakdown` looks at calls with the first inputs, of which one that follows another is told, and at one with contents in
the same buffers that no call has seen, also not in an earlier breakdown. `kernels_vary`: they did not run the same
operators; `fresh_us`: wall time of the latter, None where the contents cannot change.
`inputs_from` is `provider` or `cases_file`; `arguments` are [name or null, description]: a tensor's {shape, dtype},
a number, null, a list of these, else {kind}.
`recorded` is None where the host's clock decides, else every call, flush and boost in the order in which they ran:
[number, case, side or null, `call` | `restore` | `flush` | `boost` | `pause`, start_ns, end_ns] (Unix, host). With a
collector each lies in a marker `mr|<number>` of the domain `msprun`; `environment`, or with `torch_npu` the answer to
`collect`, says whether `markers` work, or why not; then a separator kernel runs before each call, and behind the last
one of a request as a `pause` with a number of its own; the host rests on both sides of it. A failure's answer has
`abandoned`, the numbers of calls that it does not tell of.
`job.json` (beside the wrapper) holds `nonce`, `socket`, `seed`, `device`, `threads`, `folder`, `log`, `mark`,
`operator` {folder, reference {file, cls}, candidate {file, cls}, against {file, cls, folder} or null},
`cases` [{index, name, inputs or null}], `sides`, `check` (as CheckRule), `warmup`, `repeats`,
`cache` (`warm`, `rotate`, `flush`), `cache_bytes` (the device's last cache, null: look), `grad` (calls are forward and
backward), `device_id` (what torch calls it), `op_timeout_s`, `collector` (null, `msprof`, `torch_npu`).
`mark` is a file of one byte that names the side whose call is running: `r`, `c`, `a` or `-`.
"""

import json

VERSION = 1
MARKS = {"reference": b"r", "candidate": b"c", "against": b"a"}
IDLE = b"-"
# Rows and columns of what a boost multiplies: a prime, so that its kernels are known by their shapes.
BOOST_SIZE = 4093
# Of what a separator negates.
SEPARATOR_SHAPE = (1, 3, 5, 7, 11, 13)


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
