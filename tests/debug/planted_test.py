#!/usr/bin/env python3
"""Planted bugs, each found by a few words of the debugger: planted_test.py COMMAND SOURCE

Of lane 5 of warp 0 the manual of mma says which elements each register has: of m16n8k16 a0 has row 1 and k 2, a1 row 9, a2 k 10; b0 column 1
and k 2, b1 k 10. Each row has what the debugger says in the place of that, and the line at fault.
"""

import re
import sys
import tempfile

sys.dont_write_bytecode = True
from client import session, write_cases  # noqa: E402

FIRST = ["break mma if warp == 0 && lane == 5", "run"]
# case; words; the register or element asked for; what is right there; what it is instead; the line at fault
BUGS = [
    ("f16_ldmatrix_1", [*FIRST, "where-from b"], 0, "B[1,2]", "B[1,10]", "f16_ldmatrix.cu:15"),
    ("f16_ldmatrix_2", [*FIRST, "where-from a"], 0, "A[1,2]", "A[1,10]", "f16_ldmatrix.cu:31"),
    ("f16_ldmatrix_3", [*FIRST, "where-from a"], 1, "A[9,2]", "A[1,10]", "f16_ldmatrix.cu:33"),
    ("f16_ldmatrix_4", ["run", "where-from C[4,0]"], 0, "element (4, 0)", "element (8, 0)", "f16_ldmatrix.cu:49"),
    ("bf16_trans_1", [*FIRST, "where-from b"], 0, "B[2,1]", "B[1,1]", "bf16_trans.cu:13"),
    ("bf16_trans_2", [*FIRST, "where-from b"], 0, "B[2,1]", "B[1,2]", "bf16_trans.cu:29"),
    ("bf16_trans_4", [*FIRST, "where-from b"], 0, "B[2,1]", "B[10,1]", "bf16_trans.cu:33"),
    ("tf32_mma_1", [*FIRST, "where-from b"], 0, "B[1,1]", "B[9,1]", "tf32_mma.cu:31"),
    ("tf32_mma_3", [*FIRST, "where-from a"], 1, "A[1,9]", "A[5,1]", "tf32_mma.cu:38"),
    ("s8_mma_1", ["break mma if blockIdx.x == 1 && warp == 0 && lane == 5", "run", "where-from b"], 0, "B[33,4]", "B[1,4]", "s8_mma.cu:18"),
    ("e4m3_mma_2", [*FIRST, "continue 4", "where-from a"], 0, "A[1,36]", "A[1,20]", "e4m3_mma.cu:27"),
    ("e4m3_mma_3", [*FIRST, "where-from b"], 1, "B[1,20]", "B[1,12]", "e4m3_mma.cu:35"),
    ("e4m3_mma_4", ["run", "where-from C[0,1]"], 0, "element (0, 1)", "element (1, 0)", "e4m3_mma.cu:46"),
]  # fmt: skip


def answers(text, operand):
    """What is said of each register, or of the one thing asked for."""
    parts = re.split(r"^%r\d+: |^%f\d+: ", text, flags=re.M)[1:]
    return parts if operand else [text]


with tempfile.TemporaryDirectory() as folder:
    cases = folder + "/cases"
    write_cases(sys.argv[2], cases, sorted({case.rpartition("_")[0] for case, *_ in BUGS}))
    failed = 0
    for case, commands, register, right, wrong, line in BUGS:
        text = session(sys.argv[1], [f"{cases}/{case}/launch.json", "--check", "none"], commands)
        said = answers(text, commands[-1] in ("where-from a", "where-from b"))
        found = said[register] if register < len(said) else text
        good = wrong in found and right not in found and (line in text)
        failed += not good
        print(f"{case}: {'found' if good else 'NOT FOUND'}: {wrong} in the place of {right}, {line}")
        if not good:
            print(text)
sys.exit(failed != 0)
