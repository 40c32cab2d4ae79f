#!/usr/bin/env python3
"""Matrices of the products at hand, against the files that the launch reads: products_test.py COMMAND SOURCE"""

import gzip
import json
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
from client import session, write_cases  # noqa: E402

sys.path.append(sys.argv[2] + "/tests/planted")
from matrices import read_npy, write_npy  # noqa: E402


def shown(text):
    """The matrices that the debugger has printed, each with its title."""
    matrices = []
    for line in text.splitlines():
        if line.startswith("operand "):
            matrices.append([])
        elif matrices and (row := re.match(r"\s*\d+:(( +-?[\d.e+-]+)+)$", line)):
            matrices[-1].append([float(each) for each in row[1].split()])
    return matrices


def transposed(rows):
    return [list(column) for column in zip(*rows)]


with tempfile.TemporaryDirectory() as folder:
    cases = pathlib.Path(folder, "cases")
    write_cases(sys.argv[2], str(cases), ["f16_ldmatrix", "wgmma_128"])

    case = cases / "f16_ldmatrix_0"
    a, b = read_npy(case / "A.npy"), read_npy(case / "B.npy")
    text = session(
        sys.argv[1], [str(case / "launch.json")],
        ["break mma if warp == 0", "run", "matrix a", "matrix b", "explain 1,2", "stepi", "print A[3,4]", "print/w lane"],
    )  # fmt: skip
    got_a, got_b = shown(text)[:2]
    assert got_a == [row[:16] for row in a[:16]], text
    assert got_b == transposed([row[:16] for row in b[:8]]), text
    product = sum(x * y for x, y in zip(a[1][:16], b[2][:16]))
    assert re.search(rf"(?<![\d.]){product:g}(?![\d.])", text[text.index("explain") if "explain" in text else 0 :]), (product, text)
    assert len(re.findall(r"^lane", text, re.M)) == 32
    registers = re.search(r"=> .*?\{(?:%\w+, ){3}%\w+\}, \{((?:%\w+, ){3}%\w+)\}", text)[1]
    named = session(sys.argv[1], [str(case / "launch.json")], ["break mma if warp == 0", "run", f"print {{{registers}}} as mma.m16n8k16.f16.f16.f32 operand a"])
    assert shown(named)[0] == got_a, named
    conflicts = session(sys.argv[1], [str(case / "launch.json")], ["break ldmatrix", "run", "banks"])
    assert "takes 4 wavefronts; 4 without conflicts" in conflicts, conflicts

    case = cases / "wgmma_128_0"
    a, b = read_npy(case / "A.npy"), read_npy(case / "B.npy")
    text = session(
        sys.argv[1], [str(case / "launch.json")],
        ["break wgmma.mma if warp == 2", "run", "matrix a", "matrix b", "info mbarriers", "info copies", "who-wrote {u32:shared}0x4440"],
    )  # fmt: skip
    got_a, got_b = shown(text)[:2]
    assert got_a == [row[:16] for row in a[32:48]], text
    assert got_b == transposed([row[:16] for row in b[:64]]), text
    assert "16384 bytes to come" in text and "8192 bytes to shared memory" in text and "=> PTX" in text and "cp.async.bulk.tensor.2d" in text, text
    # tcgen05.mma takes 16 columns of K. D is what the products of stages whose commit was waited for have left: of K 64 columns each.
    kernels, depth = pathlib.Path(sys.argv[2], "examples/kernels"), 328
    pathlib.Path(folder, "gemm_tcgen05.ptx").write_bytes(gzip.decompress((kernels / "gemm_tcgen05.ptx.gz").read_bytes()))
    launch = json.loads((kernels / "gemm_tcgen05.launch.json").read_text())
    a, b = ([[(i * step + k * 5) % 17 - 8 for k in range(depth)] for i in range(256)] for step in (3, 7))
    for name, rows in [("a", a), ("b", b)]:
        write_npy(pathlib.Path(folder, name + ".npy"), rows, "f16")
    launch["buffers"][:2] = [{"name": name, "file": name + ".npy"} for name in "ab"]
    pathlib.Path(folder, "launch.json").write_text(json.dumps(launch))
    text = session(
        sys.argv[1], [folder + "/launch.json", "--blocks", "1"],
        ["break tcgen05.mma", "run", "continue", "matrix a", "matrix b", "continue 12", "matrix d"],
    )  # fmt: skip
    got_a, got_b, got_d = shown(text)
    assert got_a == [row[16:32] for row in a[:128]], text
    assert got_b == transposed([row[16:32] for row in b[128:]]), text
    sums = [[[sum(x * y for x, y in zip(row[: 64 * stages], column)) for column in b[128:]] for row in a[:128]] for stages in (1, 2, 3)]
    assert got_d in sums, text
    text = session(
        sys.argv[1], [folder + "/launch.json", "--blocks", "1"],
        ["break tcgen05.mma", "run", "watch {f32:tensor}0x50003", "delete 1", "continue"],
    )  # fmt: skip
    assert any(f"0 -> {each[5][3]:g}" in text for each in sums), text
print("matrices of mma, wgmma and tcgen05.mma are those of the files")
