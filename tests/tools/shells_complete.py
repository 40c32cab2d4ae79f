"""Types commands into real shells, each in a terminal, presses Tab and looks at the words that come of it.

shells_complete.py COMMAND SHELL   SHELL is bash, zsh or fish; ends with status 77 where that is not installed
"""

import os
import pty
import re
import select
import shutil
import sys
import tempfile
import time

TAB, HOME, INTERRUPT = "\t", "\x01", "\x03"

# What is typed, with a Tab behind it, and the words that the line then has. `tile.ptx` is a file of the working directory.
CASES = [
    ("{name} layo", ["{name}", "layout"]),
    ("{name} run --targ", ["{name}", "run", "--target"]),
    ("{name} run --target sm_100f", ["{name}", "run", "--target", "sm_100f"]),
    ("{name} run --target=sm_90a", ["{name}", "run", "--target=sm_90a"]),
    ("{name} run ti", ["{name}", "run", "tile.ptx"]),
    ("{name} run tile.ptx --in mma.0.a=nu", ["{name}", "run", "tile.ptx", "--in", "mma.0.a=numbers.npy"]),
    ("{name} launch --undefined ha", ["{name}", "launch", "--undefined", "hardware"]),
    ("{name} layout mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f16.e4m3.e5m2.", ["{name}", "layout", "mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f16.e4m3.e5m2.f16"]),
    ("{name} completion f", ["{name}", "completion", "fish"]),
]

START = {
    "bash": (["--norc", "--noprofile", "-i"], "source <({name} completion bash)"),
    "zsh": (["-f", "-i"], "bindkey -e; autoload -Uz compinit; compinit -u -D; source <({name} completion zsh)"),
    "fish": (["--no-config", "-i"], "{name} completion fish | source"),
}


class Terminal:
    """A shell in a pseudo-terminal."""

    def __init__(self, shell: str, directory: str, path: str) -> None:
        self.seen = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(directory)
            environment = {"PATH": path + ":/usr/bin:/bin", "TERM": "vt100", "HOME": directory, "LC_ALL": "C.UTF-8", "PS1": "> "}
            os.execve(shutil.which(shell), [shell, *START[shell][0]], environment)

    def type(self, keys: str) -> None:
        os.write(self.fd, keys.encode())

    def wait_for(self, pattern: str, seconds: float = 30) -> bool:
        """Whether `pattern` is printed from here on."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if re.search(pattern, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", self.seen)):
                return True
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:
                    return False
        return False

    def end(self) -> None:
        os.close(self.fd)  # which ends the shell
        os.waitpid(self.pid, 0)


def wrong_line(terminal: Terminal, typed: str, expected: list[str]) -> str:
    """Empty if `typed` and a Tab make a line of the words `expected`; otherwise what the terminal showed."""
    terminal.seen = ""
    terminal.type(typed + TAB + HOME + "printf '<%s>' \r")  # which shows its words
    shown = "".join(f"<{word}>" for word in expected)
    if terminal.wait_for(re.escape(shown)):
        return ""
    terminal.type(INTERRUPT)
    return f"{typed!r} and Tab is not {shown}: {terminal.seen!r}"


def main() -> int:
    command, shell = sys.argv[1:]
    if shutil.which(shell) is None:
        print(f"skipped: no {shell}")
        return 77
    name = os.path.basename(command)
    with tempfile.TemporaryDirectory() as directory:
        for file in ("tile.ptx", "numbers.npy"):
            open(os.path.join(directory, file), "w").close()
        terminal = Terminal(shell, directory, os.path.dirname(os.path.abspath(command)))
        terminal.type(START[shell][1].format(name=name) + "; echo rea''dy\r")
        if not terminal.wait_for("ready\n"):
            print(f"{shell} does not start: {terminal.seen!r}")
            return 1
        answers = [wrong_line(terminal, typed.format(name=name), [word.format(name=name) for word in expected]) for typed, expected in CASES]
        terminal.end()
    wrong = [answer for answer in answers if answer]
    print("\n".join(wrong) or f"{shell}: {len(CASES)} lines completed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
