#!/usr/bin/env python3
"""The terminal's words: session_test.py COMMAND. Values are computed here, from the source of steps.cu."""

import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from client import session  # noqa: E402

COMMAND = sys.argv[1]
FOLDER = pathlib.Path(__file__).resolve().parent
LAUNCH = [str(FOLDER / "steps.ptx"), "--grid", "2", "--block", "64", "--buffer", "x=zeros:512", "--param", "x"]


def values(thread, block):
    """Of `value` in the loop: before it, and behind each turn."""
    all_values = [thread + 100 * block]
    for i in range(4):
        turned = (all_values[-1] * 3 + 100 * block + (thread + i) % 64) & 0xFFFFFFFF
        all_values.append(turned ^ turned >> 5)
    return all_values


def said(*commands):
    return session(COMMAND, LAUNCH, commands)


def numbers(pattern, text):
    return [int(each, 0) for each in re.findall(pattern, text, re.M)]


REG = r"= 0x[0-9a-f]+ = (-?\d+)"


def goes_both_ways():
    expected = values(36, 1)
    text = said(
        "break steps.cu:18 if blockIdx.x == 1 && threadIdx.x == 36", "run", "print %r29", "watch %r29",
        *["reverse-continue", "print %r29"] * 4,
        *["continue", "print %r29"] * 4,
    )  # fmt: skip
    got = numbers(REG + "$", text)
    assert got == [expected[4]] + expected[3::-1] + expected[1:], (got, expected)


def steps():
    lines = lambda text: [int(n) for n in re.findall(r"^steps\.cu:(\d+) in", text, re.M)]  # noqa: E731
    forward = lines(said("break 15 if threadIdx.x == 3", "run", *["step"] * 5))
    assert forward[:4] == [15, 4, 5, 14], forward
    over = lines(said("break 15 if threadIdx.x == 3", "run", *["next"] * 3))
    assert over == [15, 14, 15, 14], over
    back = lines(said("break 18 if threadIdx.x == 3", "run", *["reverse-step"] * 7))
    assert back == [18, 17, 16, 10, 14, 5, 4, 15], back  # nvcc moves a statement of line 10 behind the loop
    finished = lines(said("break 4 if threadIdx.x == 3", "run", "finish"))
    assert finished[0] == 4 and finished[1] != 5, finished
    times = numbers(r"time (\d+)", said("break 18", "run", "stepi", "stepi", "reverse-stepi", "reverse-stepi"))
    assert times[0] == times[4] and times[1] == times[3] and times[0] < times[1] < times[2], times


def looks():
    text = said(
        "break 15 if blockIdx.x == 1 && lane == 4", "run", "print threadIdx.x", "print/x tile[5]", "print blockIdx.x * 64 + threadIdx.x",
        "x/4u32 tile", "print/w %r1", "backtrace", "info warps", "info registers", "info variables", "diverged", "info breakpoints",
        "print (f32)%r29", "print {u32:shared}(%r15)",
    )  # fmt: skip
    assert "threadIdx.x = 36" in text and "tile[5] = 0x69" in text and "= 100" in text, text
    assert "100  101  102  103" in text and "lane 31: 0x3f = 63" in text and "#0 steps at steps.cu:15" in text
    assert "steps_param_0" in text and "the warp has not diverged" in text and "hit 1 time" in text
    assert "= 136" in text.splitlines()[-1], text
    waiting = said("break 12", "run", "continue", "info barriers", "info warps")
    assert "barrier 0: 32 of all" in waiting and "waits at a barrier" in waiting, waiting
    split = said("break 17", "run", "diverged")
    assert "lanes 1,3,5," in split and "lanes 0,2,4," in split, split


def writers():
    text = said("break 18 if blockIdx.x == 1", "run", "focus lane 5", "who-wrote tile[9]", "goto 1", "run", "who-wrote %r20")
    assert "written here, block (1,0,0) warp 0 lane 9" in text and "st.shared.u32" in text, text
    assert "=> PTX 49: ld.shared.u32 %r20" in text.splitlines()[-1], text
    traced = said("break 18 if blockIdx.x == 1 && threadIdx.x == 33", "run", "where-from %r20", "where-from %r24")
    assert "number of the machine" in traced and "x" in traced.splitlines()[-2], traced
    end = session(COMMAND, LAUNCH, ["run", "who-wrote x[100]", "print threadIdx.x"])
    assert "st.global.u32" in end and "threadIdx.x = 36" in end, end


def errors():
    for command, words in [
        ("print %r99", "%r29"), ("print thraedIdx.x", "threadIdx.x"), ("break nowhere.cu:3", "steps.cu"), ("print 1 +", "operand"), ("prnt 1", "print"),
        ("info nothing", "warps"), ("focus warp 9", "warps 0 to 1"), ("x/4q x", "type"), ("print tile[64]", "64 elements"), ("print {u32}0x10", "cannot read"),
        ("who-wrote x[3]", "before the launch"), ("explain 1,2", "no mma"), ("banks", "accesses no memory"), ("print/z 1", "format"), ("condition 7 1", "no breakpoint 7"),
    ]:  # fmt: skip
        run = subprocess.run([COMMAND, "debug", *LAUNCH, "--batch", "-ex", "start", "-ex", command], capture_output=True, text=True)
        assert run.returncode == 1 and words in run.stdout.splitlines()[-1], (command, run.stdout, run.stderr)


def stops_at_errors_of_kernels():
    text = session(COMMAND, [*LAUNCH[:-4], "--buffer", "x=zeros:300", "--param", "x"], ["run", "print threadIdx.x", "reverse-step", "print/x %r29"])
    assert "error: " in text and "st.global.u32" in text and "threadIdx.x = 32" in text, text


def narrows():
    text = session(COMMAND, [*LAUNCH, "--blocks", "1"], ["break 18", "run", "info blocks"])
    assert "block (1,0,0)" in text and "block (0,0,0)" not in text, text


def scripts():
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "find.gdb")
        script.write_text("# a comment\nbreak 18\nrun\nprint %r29\n")
        text = session(COMMAND, [*LAUNCH, "-x", str(script)], ["echo behind"])
        assert numbers(REG, text)[0] == values(32, 0)[4] and text.splitlines()[-1] == "behind", text


for test in [goes_both_ways, steps, looks, writers, errors, stops_at_errors_of_kernels, narrows, scripts]:
    begin = time.monotonic()
    test()
    print(f"{test.__name__}: {time.monotonic() - begin:.1f} s")
