#!/usr/bin/env python3
"""Counts, by valgrind, the CPU's instructions that plain kernels take, so that a change which makes them slower is found on any machine.

instructions.py COMMAND --write FILE     counts and writes them
instructions.py COMMAND --compare FILE   ends with status 1 where a kernel takes more than 1.1 times as many as FILE says

COMMAND is a `warpmat` with all instruction sets: valgrind shows it a CPU with AVX2, on every x86-64. Compilers differ by some percent. Only
what executes a grid is counted, not the program's start: by the interpreter, and by code of the CPU's own without the time to make it."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MOST = 1.1  # times as many as before
BLOCKS = 128  # with 256 threads each more than the default check of races looks at
MIB = 1 << 20
FLOATS = f"random:f32:{MIB // 4}:1"
PTX = pathlib.Path(__file__).with_name("plain.ptx")

# kernel: block, buffers in the order of the parameters, further parameters
KERNELS = {
    "vecadd": ("256", [FLOATS, FLOATS, f"zeros:{MIB}"], ["s32:1000000"]),
    "reduce": ("256", [FLOATS, f"zeros:{MIB}"], []),
    "transpose": ("32,8", [f"random:f32:{MIB}:1", f"zeros:{4 * MIB}"], []),
    "histogram": ("256", [f"random:{MIB}:1", f"zeros:{MIB}"], []),
    "polynomial": ("256", [FLOATS, f"zeros:{MIB}"], []),
}


def count(command, kernel, blocks, machine_code):
    """The instructions of a launch."""
    block, buffers, parameters = KERNELS[kernel]
    grid = f"{blocks // 8},8" if kernel == "transpose" else str(blocks)
    arguments = ["launch", str(PTX), "--quiet", "--jobs", "1", "--kernel", kernel, "--grid", grid, "--block", block]
    for i, source in enumerate(buffers):
        arguments += ["--buffer", f"b{i}={source}"]
    for parameter in [f"b{i}" for i in range(len(buffers))] + parameters:
        arguments += ["--param", parameter]
    environment = {**os.environ, "WARPMAT_MACHINE_CODE": machine_code}
    with tempfile.NamedTemporaryFile() as counts:
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts.name}", "--toggle-collect=*RunningLaunch::run(*", command]
        run = subprocess.run(valgrind + arguments, capture_output=True, text=True, env=environment)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or not found or found[1] == "0":
        sys.exit(f"{kernel}: the launch ended with status {run.returncode}:\n{run.stderr}")
    return int(found[1])


def count_ways(command, kernel):
    """The instructions of a block, by the kernel's name and what executes it."""
    interpreted, compiled, longer = (count(command, kernel, *how) for how in ((BLOCKS, "never"), (BLOCKS, "always"), (2 * BLOCKS, "always")))
    return {kernel: interpreted // BLOCKS, f"{kernel} as code": (longer - compiled) // BLOCKS}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", metavar="FILE", type=pathlib.Path)
    what.add_argument("--compare", metavar="FILE", type=pathlib.Path)
    options = parser.parse_args()
    before = json.loads(options.compare.read_text()) if options.compare else {}
    names = [name for kernel in KERNELS for name in (kernel, f"{kernel} as code")]
    missing = [name for name in names if options.compare and name not in before]
    if missing:
        sys.exit(f"{options.compare} has no count of {', '.join(missing)}: --write makes it anew")
    counts = {}
    slower = []
    for kernel in KERNELS:
        for name, counted in count_ways(options.command, kernel).items():
            counts[name] = counted
            ratio = counted / before[name] if options.compare else None
            print(f"{name:20} {counted:8} instructions a block" + (f", {ratio:.3f} times as many as before" if ratio else ""))
            if ratio and ratio > MOST:
                slower.append(name)
    if options.write:
        options.write.write_text(json.dumps(counts, indent=2) + "\n")
    if slower:
        sys.exit(f"slower: {', '.join(slower)}; {MOST} times as many instructions are allowed")


if __name__ == "__main__":
    main()
