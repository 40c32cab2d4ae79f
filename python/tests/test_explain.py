"""Explanations, bank conflicts, and layouts of wgmma."""

import gzip
import math

import numpy as np
import pytest

import warpmat
from conftest import ROOT

F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
BF16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
F64 = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"
S8 = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"
SPARSE = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
SCALED = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0"


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def drawn(opcode, rng):
    """a, b and c of small numbers in the formats of `opcode`; A of a sparse one is dense, and can be compressed."""
    form = warpmat._core.find_form(opcode)
    m, n, k = form.shape
    formats = {o.name: o.format for o in form.operands}
    a, b, c = (rng.integers(-8, 9, shape).astype(np.float64) for shape in ((m, k), (k, n), (m, n)))
    if form.sparsity != "dense":
        a.reshape(m, -1, 4)[..., 2:] = 0
    fractions = formats["a"] in ("f16", "bf16", "f64")
    if fractions:
        a, b, c = a / 7, b / 3, c / 5
    return [warpmat.encode(x, formats[name]).codes if formats[name][0] not in "s" else x.astype(int) for x, name in ((a, "a"), (b, "b"), (c, "c"))]


@pytest.mark.parametrize("opcode, target", [(F16, "sm_90a"), (F16, "sm_80"), (BF16, "sm_100"), (F64, "sm_90"), (S8, "sm_75"), (SPARSE, "sm_90"), (SCALED, "sm_120a")])
def test_the_result_of_an_explanation_is_that_of_the_product(opcode, target, rng):
    if target == "sm_75":
        opcode = "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32"
    a, b, c = drawn(opcode, rng)
    c = c.view(np.float32) if c.dtype == np.uint32 else c.view(np.float64) if c.dtype == np.uint64 else c
    extra = {}
    if opcode == SCALED:
        extra = {"scale_a": np.full((16, 1), 128, np.uint8), "scale_b": np.full((1, 8), 126, np.uint8)}
    d = warpmat.mma(opcode, target, a, b, c, **extra)
    layout = warpmat.layout(opcode, "d")
    for row, column in ((0, 0), (3, 5), (7, 2)):
        found = warpmat.explain(opcode, target, a, b, c, row=row, column=column, **extra)
        assert found.result == int(d.view(f"u{d.itemsize}")[row, column]), (row, column)
        assert found.value == d[row, column] and found.target == target and found.opcode == opcode
        assert (found.lane, found.register, found.bit) == (layout.lane[row, column], layout.register[row, column], layout.bit[row, column])
        assert found.steps and found.move is None and found.against is None and found.label == warpmat.evidence.of(opcode, target).label
        assert int(found.steps[-1]["result"], 16) == found.result
        products = sum(len(term["products"]) for step in found.steps for term in step.get("terms", []))
        form = warpmat._core.find_form(opcode)
        assert products == form.shape[2] // (2 if form.sparsity != "dense" else 1)


def test_an_explanation_says_where_two_gpus_part(rng):
    a, b = rng.standard_normal((16, 16)).astype(np.float16), rng.standard_normal((16, 8)).astype(np.float16)
    hopper, ampere = (warpmat.mma(F16, target, a, b) for target in ("sm_90", "sm_80"))
    row, column = np.argwhere(hopper != ampere)[0]
    found = warpmat.explain(F16, "sm_90", a, b, row=int(row), column=int(column), against="sm_80")
    assert found.against.result == int(ampere.view(np.uint32)[row, column]) != found.result == int(hopper.view(np.uint32)[row, column])
    assert len(found.steps) == 1 and len(found.against.steps) == 2 and found.parting == (0, 1)
    assert found.difference.startswith("sm_90 and sm_80 part after step 1 of 1 and step 2 of 2") and found.difference in str(found)
    page = found._repr_html_()
    assert page.startswith("<div") and page.count("<section>") == 2 and "<body" not in page and found.against._repr_html_().count("<section>") == 1
    loop = warpmat.explain(F16, "sm_90", a, b, row=0, column=0, against="f32").against
    expected = 0.0
    for k in range(16):
        expected = np.float32(np.float64(a[0, k]) * np.float64(b[k, 0]) + np.float64(expected))
    assert loop.target == "f32 on a CPU" and loop.value == expected and loop.label is None


def test_an_explanation_takes_registers_and_moves():
    load = "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"
    memory = np.arange(256, dtype=np.uint16).view(np.uint8)
    found = warpmat.explain(load, "sm_90", operands={"p": np.arange(32, dtype=np.uint32)[None] * 16}, memory=memory, matrix=2, row=3, column=5)
    assert found.move["memory"]["address"] == 16 * (16 + 3) and found.result == 8 * (16 + 3) + 5 and found.steps == []
    ones = 0x3C003C00
    assert warpmat.explain(F16, "sm_90", operands={"a": ones, "b": ones, "c": 0}, row=0, column=0).value == 16
    program = warpmat.run("add.u32 c0, c0, c1;\n" + mma_text(), "sm_90", {"a0": ones, "b0": ones, "c0": 0x3F800000})
    assert program.explain("mma.0", row=0, column=0).value == 1 + 8
    assert program.explain("mma.0", row=0, column=0, against="sm_80").against.result == program.explain("mma.0", row=0, column=0).result


def mma_text():
    return F16 + " {c0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3};"


@pytest.mark.parametrize(
    "options, text",
    [
        ({"row": 16, "column": 0}, "16"),
        ({"row": 0, "column": 0, "against": "sm_1"}, "sm_1"),
        ({"row": 0, "column": 0, "against": "sm_75"}, "sm_75"),
        ({"row": 0, "column": 0, "operands": {"a": 0}}, "not both"),
        ({"row": 0, "column": 0, "metadata": np.zeros((16, 8), np.uint8)}, "takes no metadata"),
    ],
)
def test_what_cannot_be_explained_is_an_error(options, text):
    with pytest.raises(ValueError, match=text):
        warpmat.explain(F16, "sm_90", np.zeros((16, 16), np.float16), np.zeros((16, 8), np.float16), **options)
    with pytest.raises(ValueError, match="one case is explained"):
        warpmat.explain(F16, "sm_90", np.zeros((2, 16, 16), np.float16), np.zeros((16, 8), np.float16), row=0, column=0)
    with pytest.raises(ValueError, match="operand b has 2 registers of 32 bits; 0 given"):
        warpmat.explain(F16, "sm_90", operands={"a": 0}, row=0, column=0)


# ---- Bank conflicts ------------------------------------------------------------------------------------------------------------------


def wavefronts_of_store(addresses, width):
    """Independent of the library: the fullest bank of each phase of 128 bytes counts."""
    lanes = max(1, min(32, 128 // width))
    total = 0
    for first in range(0, 32, lanes):
        words = {(int(address) + 4 * i) // 4 for address in addresses[first : first + lanes] for i in range(math.ceil(width / 4))}
        total += max(np.bincount([word % 32 for word in words]))
    return total


def test_wavefronts_are_those_of_the_fullest_bank(rng):
    for width in (1, 2, 4, 8, 16):
        for _ in range(40):
            addresses = rng.integers(0, 1024 // width, 32) * width * int(rng.choice([1, 2, 4, 32]))
            found = warpmat.banks(addresses, width, "store")
            assert found.wavefronts == wavefronts_of_store(addresses, width), (width, addresses)
            assert found.least == max(1, width // 4) and found.label == "measured"
            assert bool(found.colliding) == (found.wavefronts > found.least)


def test_a_column_of_rows_of_128_bytes_collides_and_a_swizzle_mends_it():
    rows = np.arange(8) * 128
    plain = warpmat.banks(rows, 16, "matrix")
    assert (plain.wavefronts, plain.least, plain.lanes, plain.colliding) == (8, 1, tuple(range(8)), tuple(range(8)))
    assert [word for word in plain.phases[0].words if word.bank == 0][3] == (0, 3 * 128, (3,))
    assert warpmat.banks(warpmat.layouts.swizzle(rows), 16, "matrix").wavefronts == 1
    assert str(plain).startswith("matrix of 16 bytes in one warp: 8 wavefronts\nbank") and plain._repr_html_().startswith("<svg")
    assert warpmat.banks(rows, 16, "matrix", target="sm_80").label == "assumed"


@pytest.mark.parametrize(
    "arguments, text",
    [
        ((np.arange(32), 4), "multiple of 4"),
        ((np.arange(33) * 4, 4), "1 to 32 whole numbers"),
        ((np.zeros(32), 4), "whole numbers"),
        ((np.zeros(32, int), 3), "bytes a lane, not 3"),
        ((np.zeros(32, int), 4, "matrix"), "16 bytes a lane"),
        ((np.zeros(32, int), 4, "read"), "there is no access 'read'"),
    ],
)
def test_accesses_that_there_are_not(arguments, text):
    with pytest.raises(ValueError, match=text):
        warpmat.banks(*arguments)
    with pytest.raises(ValueError, match="lanes are"):
        warpmat.banks(np.zeros(8, int), 4, lanes=[8])


TRANSPOSE = ROOT / "docs/use/transpose.ptx"


def test_a_launch_counts_banks_by_line_where_it_is_told_to():
    module = warpmat.Module(TRANSPOSE.read_text())
    kernel = module.kernel()
    x, y = np.arange(1024, dtype=np.float32), np.zeros(1024, np.float32)
    assert kernel.launch(1, (32, 32), x, y).banks is None
    report = kernel.launch(1, (32, 32), x, y, banks=True).banks
    assert np.array_equal(y.reshape(32, 32).T, x.reshape(32, 32))
    worst = max(report.shared, key=lambda line: line.wavefronts)
    assert (report.wavefronts, report.least) == (1056, 64)  # docs/use/banks.md
    assert worst.opcode == "ld.shared.f32" and worst.wavefronts == 32 * worst.executions and worst.worst.wavefronts == 32
    assert {line.opcode for line in report.global_memory} == {"ld.global.f32", "st.global.f32"}
    assert all(line.sectors == line.least_sectors for line in report.global_memory)
    assert str(report).startswith("Shared memory: 1056 wavefronts, 64 without conflicts") and report._repr_html_().count("<svg") == 1


def test_a_program_counts_banks_too():
    text = """
.shared .align 16 .b8 tile[1024];
mov.u32 p, tile;
shl.b32 o, lane, 7;
add.u32 p, p, o;
ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r}, [p];
"""
    report = warpmat.run(text, "sm_90", {"lane": np.arange(32, dtype=np.uint32) % 8}).banks()
    assert [(line.line, line.wavefronts, line.least) for line in report.shared] == [(6, 8, 1)] and report.global_memory == []


# ---- wgmma ---------------------------------------------------------------------------------------------------------------------------

WGMMA = "wgmma.mma_async.sync.aligned.m64n{}k{}.{}"


def test_registers_of_wgmma_are_those_of_its_tiles_warp_by_warp():
    """PTX ISA 9.1, figures of wgmma: d and a are those of m16n8k16, 16 rows a warp."""
    opcode, tile = WGMMA.format(24, 16, "f32.f16.f16"), F16
    d, of_tile = warpmat.layout(opcode, "d"), warpmat.layout(tile, "d")
    assert d.lane.shape == (64, 24) and d.row.shape == (4, 12, 32, 1) and d.opcode == opcode
    rows, columns = np.indices((64, 24))
    assert np.array_equal(d.warp, rows // 16) and np.array_equal(d.lane, of_tile.lane[rows % 16, columns % 8])
    assert np.array_equal(d.register, of_tile.register[rows % 16, columns % 8] + columns // 8 * 4)
    a, of_tile = warpmat.layout(opcode, "a"), warpmat.layout(tile, "a")
    assert a.lane.shape == (64, 16) and np.array_equal(a.bit, np.tile(of_tile.bit, (4, 1)))
    for layout in (a, d):
        place = layout.warp, layout.register, layout.lane, layout.bit // layout.element_bits
        assert np.array_equal(layout.row[place], np.indices(layout.lane.shape)[0])
        assert np.array_equal(layout.column[place], np.indices(layout.lane.shape)[1])
        assert 'title="warp 3, lane 28, register' in layout._repr_html_()


def test_metadata_of_sparse_wgmma_and_wrong_operands():
    opcode = WGMMA.format(8, 32, "f32.f16.f16").replace("mma_async", "mma_async.sp")
    e = warpmat.layout(opcode, "e")
    assert e.lane.ndim == 3 and e.register_bits == 32
    for call, text in (
        (lambda: warpmat.layout(WGMMA.format(8, 16, "f32.f16.f16"), "b"), "in registers: there are d and a"),
        (lambda: warpmat.layout(WGMMA.format(9, 16, "f32.f16.f16"), "d"), "m64n8k16"),
        (lambda: warpmat.layouts.MatrixDescriptor.of(WGMMA.format(8, 32, "f32.e4m3.e4m3"), "b", major="mn"), "K-major operands alone"),
        (lambda: warpmat.layouts.MatrixDescriptor.of(opcode, "d"), "in shared memory: there are a and b"),
        (lambda: warpmat.evidence.of(opcode, "sm_80"), "sm_90a"),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    assert len(warpmat.instructions.wgmma_opcodes()) > 1000 and opcode in warpmat.instructions.wgmma_opcodes()
    known = warpmat.evidence.of(opcode, "sm_90a")
    assert (known.label, known.machine) == ("measured", "HGMMA") and known.results > 10**9


def test_a_compact_descriptor_describes_a_matrix_without_gaps():
    for swizzle in (0, 32, 64, 128):
        for operand, major in (("a", "k"), ("b", "k"), ("b", "mn")):
            opcode = WGMMA.format(64, 16, "f32.f16.f16")
            descriptor = warpmat.layouts.MatrixDescriptor.of(opcode, operand, start=2048, swizzle=swizzle, major=major)
            bits = descriptor.elements(opcode, operand, major=major)
            assert bits.shape == ((64, 16) if operand == "a" else (16, 64))
            assert descriptor.start == 2048 and bits.min() >= 8 * 2048 and len(np.unique(bits)) == bits.size
            if swizzle == 0 or major == "mn":
                assert np.array_equal(np.sort(bits, axis=None), 8 * 2048 + 16 * np.arange(bits.size))


def test_no_descriptor_that_an_h200_was_given_is_read_otherwise():
    """tests/vectors/wgmma_descriptors_sm_90.tsv.gz: from which byte the card read elements of A and B."""
    kinds = {"f16": (16, "f32.f16.f16"), "bf16": (16, "f32.bf16.bf16"), "tf32": (8, "f32.tf32.tf32"), "s8": (32, "s32.s8.s8"), "e4m3": (32, "f32.e4m3.e4m3")}
    compared = set()
    for line in gzip.open(ROOT / "tests/vectors/wgmma_descriptors_sm_90.tsv.gz", "rt"):
        if line.startswith("#"):
            continue
        operand, kind, transposed, descriptor, *elements = line.rstrip("\n").split("\t")
        k, types = kinds[kind]
        opcode = WGMMA.format(256, k, types) if operand == "a" else WGMMA.format(256, 2 * k, types).replace("async", "async.sp")  # B beside a sparse A too
        bits = warpmat.layouts.MatrixDescriptor.decode(int(descriptor, 16)).elements(opcode, operand, major="mn" if transposed == "1" else "k")
        for element in elements:
            line_number, k, address = map(int, element.split())
            assert bits[(line_number, k) if operand == "a" else (k, line_number)] == 8 * address, line
            compared.add((operand, kind, descriptor, element))
    assert len(compared) > 15_000


def test_a_card_is_compared_with_by_its_name():
    a, b = np.ones((16, 16), np.float16), np.ones((16, 8), np.float16)
    by_name = warpmat.explain(F16, "H100", a, b, row=0, column=0, against="RTX 3080")
    assert by_name.against.target == "sm_86" and by_name.target == "sm_90a"
