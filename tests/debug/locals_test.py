#!/usr/bin/env python3
"""Variables of the source, from the DWARF of nvcc -G: locals_test.py COMMAND SOURCE. Values are those of locals.cu."""

import base64
import lzma
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from client import Adapter, session  # noqa: E402

COMMAND = sys.argv[1]
FOLDER = pathlib.Path(__file__).resolve().parent
PTX = lzma.decompress((FOLDER / "locals.ptx.xz").read_bytes()).decode()
START = struct.pack("<ffiii", 2.5, -1.0, 10, 20, 30)
LAUNCH = ["--grid", "1", "--block", "64", "--buffer", "x=zeros:256", "--param", "x", "--param", "bytes:" + START.hex(), "--param", "f64:3"]


def values(text):
    """What `print` has said, by expression."""
    return dict(re.findall(r"^(.+?) = (.*?)(?:  \(.*)?$", text, re.M))


def looks(ptx):
    asked = [
        "p", "p.y", "p.tags[2]", "start.tags", "scale", "sums", "sums[1][1]", "box.x", "box.tags[1]", "box.corner->y", "box.kind", "box.rest", "box.whole",
        "box.halves[1]", "*box.corner", "colour", "box.even", "letter", "far", "h", "alias.tags[1]", "tile[2]", "*mine", "mine[-1]", "*(mine + 1)", "ratio",
        "counted", "threadIdx.x", "(u32)p.tags[0]",
    ]  # fmt: skip
    said = session(COMMAND, [ptx, *LAUNCH], ["break 53 if threadIdx.x == 3", "run", *["print " + each for each in asked], "x/3s32 p.tags", "x/2s16 &tile[4]"])
    got = values(said)
    sums = 20 + sum(3 * i + 10 for i in range(3))
    expected = {
        "p": f"{{x = 2.5, y = -1, tags = {{10, {sums}, 30}}}}", "p.y": "-1", "p.tags[2]": "30", "start.tags": "{10, 20, 30}", "scale": "3",
        "sums[1][1]": "2", "box.x": "1.5", "box.tags[1]": "5", "box.corner->y": "-1", "box.kind": "5", "box.rest": "9", "box.whole": "131073",
        "box.halves[1]": "2", "*box.corner": f"{{x = 2.5, y = -1, tags = {{10, {sums}, 30}}}}", "colour": "green (7)", "box.even": "false", "letter": "107 'k'",
        "far": "-5000000000", "h": "0.5", "alias.tags[1]": str(sums), "tile[2]": "20", "*mine": "30", "mine[-1]": "20", "*(mine + 1)": "40",
        "ratio": "7.5", "counted": str(sums), "threadIdx.x": "3", "(u32)p.tags[0]": "10",
    }  # fmt: skip
    for name, value in expected.items():
        assert got.get(name) == value, (name, got.get(name), value, said)
    assert got["sums"].startswith("{{0, "), got["sums"]
    assert said.splitlines()[-2].endswith(f":  10  {sums}  30") and said.splitlines()[-1].endswith(":  40  50"), said


def scopes(ptx):
    """Variables of blocks hide those around them, and an inlined or called function has its own."""
    text = session(
        COMMAND, [ptx, *LAUNCH],
        ["break 48 if threadIdx.x == 1 && i == 2", "run", "print i", "print square", "info locals", "backtrace",
         "tbreak 24 if threadIdx.x == 1", "reverse-continue", "print doubled", "print value", "print i", "print square",
         "tbreak 28 if threadIdx.x == 1", "reverse-continue", "print tripled", "print value", "print point->tags[0]", "info locals"],
    )  # fmt: skip
    pairs = re.findall(r"^(i|square|doubled|value|tripled|point->tags\[0\]) = (-?\d+)$", text, re.M)
    assert pairs[:2] == [("i", "2"), ("square", "16")], text
    assert pairs[2:6] == [("doubled", "8"), ("value", "4"), ("i", "2"), ("square", "4")], text
    assert pairs[6:] == [("tripled", "13"), ("value", "1"), ("point->tags[0]", "10")], text
    locals_there = text[text.rindex(" in thrice") :]
    assert re.search(r"^thrice +tripled", locals_there, re.M) and "sums" not in locals_there, text


def follows(ptx):
    """Watches, writers and origins of variables in registers and in local memory."""
    text = session(
        COMMAND, [ptx, *LAUNCH],
        ["break 43 if threadIdx.x == 2", "run", "delete 1", "watch i", "watch p.tags", "continue", "continue", "continue",
         "delete", "who-wrote p.tags[1]", "print i", "who-wrote i"],
    )  # fmt: skip
    assert re.search(r"watch 3: \{10, 20, 30\} -> \{10, 30, 30\}", text) and re.search(r"watch 2: 0 -> 1", text), text
    assert "written here" in text and "st.u32" in text, text
    origin = session(COMMAND, [ptx, *LAUNCH], ["break 53 if threadIdx.x == 2", "run", "where-from p.x", "who-wrote box.corner"])
    assert "constant" in origin or "parameter" in origin, origin
    assert "st.u64" in origin.splitlines()[-1], origin


def errors(ptx):
    for command, words in [
        ("print skale", "scale"), ("print p.z", "tags"), ("print scale.x", "structure"), ("print *scale", "pointer"), ("print sums[2]", "outside"),
        ("print tripled", "scope"), ("print p.tags[-1]", "outside"), ("print doubled", "scope"),
    ]:  # fmt: skip
        run = subprocess.run([COMMAND, "debug", ptx, *LAUNCH, "--batch", "-ex", "break 53", "-ex", "run", "-ex", command], capture_output=True, text=True)
        assert run.returncode == 1 and words in run.stdout.splitlines()[-1], (command, run.stdout, run.stderr)
    plain = session(COMMAND, [str(FOLDER / "steps.ptx"), *LAUNCH[:6], "--param", "x"], ["start", "info locals"])
    assert "nvcc -G" in plain, plain


def damaged(folder):
    """Whatever the tables say, the debugger says a sentence, and the rest works."""
    begin = PTX.index(".section")
    lines = PTX[begin:].splitlines(keepends=True)
    bytes_at = [i for i, line in enumerate(lines) if line.startswith(".b8")]
    path = pathlib.Path(folder, "damaged.ptx")
    for number in range(24):
        broken = list(lines)
        for k in range(1 + number % 3):
            at = bytes_at[(number * 7919 + k * 104729) % len(bytes_at)]
            broken[at] = f".b8 {(number * 37 + k * 101) % 256}\n"
        if number >= 20:  # tables that end early
            sections = "".join(broken)
            cut = sections.index("{", sections.index(".debug_info")) + 200 * (number - 19)
            broken = [sections[: sections.index("\n", cut)] + "\n}\n"]
        path.write_text(PTX[:begin] + "".join(broken))
        run = subprocess.run(
            [COMMAND, "debug", str(path), *LAUNCH, "-ex", "break 53", "-ex", "run", "-ex", "info locals", "-ex", "print p", "-ex", "print %tid.x", "-ex", "quit"],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert run.returncode == 0 and "%tid.x = 0" in run.stdout, (number, run.returncode, run.stdout, run.stderr)
    wrong = PTX[:begin] + "".join(lines).replace(".b8 2\n.b8 0\n.b32 .debug_abbrev", ".b8 9\n.b8 0\n.b32 .debug_abbrev", 1)
    path.write_text(wrong)
    text = session(COMMAND, [str(path), *LAUNCH], ["start", "info locals"])
    assert "version 9" in text, text


def protocol(ptx):
    adapter = Adapter(COMMAND, *LAUNCH)
    adapter.request("initialize", adapterID="warpmat")
    adapter.request("launch", program=ptx)
    adapter.request("setBreakpoints", source={"path": "/home/me/locals.cu"}, breakpoints=[{"line": 53}])
    adapter.request("configurationDone")
    found = adapter.inside(adapter.scopes(adapter.event("stopped")["threadId"])["Locals"])
    assert found["box"]["type"] == "Box" and found["far"]["value"] == "-5000000000", found
    corner = adapter.inside(adapter.inside(found["box"])["corner"])
    assert corner["y"]["value"] == "-1" and adapter.inside(corner["tags"])["box.corner->tags[2]"]["value"] == "30", corner
    assert adapter.inside(adapter.inside(found["sums"])["sums[1]"])["sums[1][1]"]["value"] == "2"
    data = adapter.request("readMemory", memoryReference=found["p"]["memoryReference"], count=12)["data"]
    assert struct.unpack("<ffi", base64.b64decode(data)) == (2.5, -1.0, 10), data
    adapter.end()


with tempfile.TemporaryDirectory() as name:
    file = str(pathlib.Path(name, "locals.ptx"))
    pathlib.Path(file).write_text(PTX)
    for test in [looks, scopes, follows, errors]:
        test(file)
    protocol(file)
    damaged(name)
print("variables of the source are those of locals.cu")
