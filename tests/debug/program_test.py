#!/usr/bin/env python3
"""The launches of a CUDA program, forwards and backwards: program_test.py COMMAND SOURCE. Skipped (77) without nvcc."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from client import session  # noqa: E402

NVCC = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
if NVCC is None:
    print("skipped: no nvcc")
    sys.exit(77)

with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(__file__).resolve().parent / "program.cu"
    program = str(pathlib.Path(folder, "program"))
    subprocess.run([NVCC, "-arch=sm_90", "-cudart", "shared", "-G", "-o", program, source], check=True)
    text = session(
        sys.argv[1], ["cuda", program],
        ["info launches", "break program.cu:11 if threadIdx.x == 40", "run", "print more", "print x[i]", "next", "print x[i]", "who-wrote x[40]",
         "tbreak program.cu:6", "reverse-continue", "reverse-continue", "info launches", "continue"],
    )  # fmt: skip
    assert re.search(r"^ +1 count\n +2 add$", text, re.M) and re.search(r"^\* +1 count\n +2 add$", text, re.M), text
    assert "more = 7" in text and re.findall(r"^x\[i\] = (\d+)$", text, re.M) == ["400", "407"], text
    assert re.search(r"^written here, launch 2, block \(0,0,0\) warp 1 lane 8.*\nprogram.cu:11 in add", text, re.M), text
    assert re.search(r"^breakpoint 2, launch 1, .*\nprogram.cu:6 in count", text, re.M), text
    assert re.search(r"^breakpoint 1, launch 2, .* lane 8", text[text.rindex("* ") :], re.M), text
    missing = subprocess.run([sys.argv[1], "debug", "cuda", program + "-not"], capture_output=True, text=True)
    assert missing.returncode != 0 and "program-not" in missing.stderr, missing
print("the launches of a program can be debugged")
