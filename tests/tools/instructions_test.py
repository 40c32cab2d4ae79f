#!/usr/bin/env python3
"""bench/instructions.py with a valgrind that counts $COUNT for 128 blocks: instructions_test.py SCRIPT"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

script = sys.argv[1]
with tempfile.TemporaryDirectory() as folder:
    place = pathlib.Path(folder)
    valgrind = place / "valgrind"
    valgrind.write_text("""#!/bin/sh
while [ $# -gt 0 ]; do
  if [ "$1" = --grid ]; then grid=$2; fi
  shift
done
echo "==1== Collected : $((COUNT * $(echo "$grid" | tr , '*') / 128))" >&2
exit ${STATUS:-0}
""")
    valgrind.chmod(0o755)

    def run(count, *arguments, status=0):
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "COUNT": str(count), "STATUS": str(status)}
        return subprocess.run([sys.executable, script, "warpmat", *arguments], env=environment, capture_output=True, text=True)

    before = str(place / "before.json")
    assert run(128000, "--write", before).returncode == 0
    counts = json.loads(pathlib.Path(before).read_text())
    assert set(counts.values()) == {1000} and {"vecadd", "vecadd as code"} <= set(counts)
    assert run(128000, "--compare", before).returncode == 0
    assert run(140000, "--compare", before).returncode == 0
    slower = run(141000, "--compare", before)
    assert slower.returncode == 1 and "vecadd" in slower.stderr
    assert run(128000, "--compare", before, status=2).returncode == 1  # a launch that fails is no fast one
    assert run(0, "--compare", before).returncode == 1  # nor is one whose grid is not found
    pathlib.Path(before).write_text("{}")
    assert "vecadd" in run(128000, "--compare", before).stderr
