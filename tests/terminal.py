"""A terminal in which a real shell completes what is typed."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
START = {
    "bash": (["bash", "--noprofile", "--norc", "-i"], 'PS1="ready""> "; eval "$(msprun -sc install=bash)"\n'),
    "zsh": (["zsh", "-f", "-i"], 'eval "$(msprun -sc install=zsh)"; PROMPT="ready""> "\n'),
    "fish": (
        ["fish", "--no-config", "-i"],
        "msprun -sc install=fish | source; function fish_prompt; echo -n ready'> '; end\n",
    ),
}
PROGRAM = """\
#!/bin/sh
if [ "$1" = -sc ]; then PYTHONPATH={root} exec {python} -m msprun "$@"; fi
for word in "$@"; do printf '%s\\n' "$word"; done > {words}.part
mv {words}.part {words}
"""


class Terminal:
    """One shell, started in `here`; the `msprun` that it finds completes for real and otherwise notes its words."""

    def __init__(self, shell: str, here: Path, bin_folder: Path) -> None:
        if not shutil.which(shell):
            pytest.skip(f"{shell} is not installed")
        self.words_file = bin_folder / "words"
        program = bin_folder / "msprun"
        program.write_text(PROGRAM.format(root=ROOT, python=sys.executable, words=self.words_file))
        program.chmod(0o755)
        argv, self.start = START[shell]
        self.pid, self.screen = pty.fork()
        if self.pid == 0:
            path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
            os.execvpe(argv[0], argv, {**os.environ, "PATH": path, "TERM": "dumb", "LC_ALL": "C.UTF-8"})
        self.seen = ""

    def __enter__(self) -> Terminal:
        self.write(self.start)
        self.wait_for("ready> ")
        self.wait_until_quiet()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.screen)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def words(self, keys: str) -> list[str]:
        """The words that a command gets when these keys are typed, Return after them."""
        self.words_file.unlink(missing_ok=True)
        self.write(keys + "\n")
        deadline = time.monotonic() + 20
        while not self.words_file.exists():
            assert time.monotonic() < deadline, self.seen
            self.read()
        self.wait_until_quiet()
        return self.words_file.read_text().splitlines()

    def wait_for(self, text: str) -> None:
        """Until that text is on the screen."""
        deadline = time.monotonic() + 20
        while text not in self.seen:
            assert time.monotonic() < deadline, self.seen
            self.read()

    def wait_until_quiet(self) -> None:
        """Until the shell has drawn its prompt and waits for keys."""
        while self.read():
            pass
        self.seen = ""

    def write(self, keys: str) -> None:
        os.write(self.screen, keys.encode())

    def read(self) -> bool:
        """Take what the shell has printed, if it prints something within a moment."""
        ready, _, _ = select.select([self.screen], [], [], 0.2)
        if ready:
            self.seen += os.read(self.screen, 65536).decode(errors="replace")
        return bool(ready)
