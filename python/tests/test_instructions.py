"""find: one handle for matrix instructions, wgmma and scalar instructions."""

import numpy as np
import pytest

import warpmat
from warpmat import find
from warpmat._forms import _prepared
from warpmat.errors import Trap

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
WGMMA = "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8"
ONE_MATRIX = warpmat.layouts.MatrixDescriptor(leading=128, stride=256).encode()  # rows of 16 bytes side by side


def test_a_scalar_instruction_on_many_cases_with_a_number_for_all_lanes():
    fma = find("fma.ftz.rn.f32", "sm_90")
    assert (fma.kind, fma.opcode, fma.target, fma.warps, fma.evidence) == ("scalar", "fma.rn.ftz.f32", "sm_90", 1, "measured")
    assert [(o.name, o.type, o.read, o.written) for o in fma.operands] == [
        ("d", "f32", False, True),
        ("a", "f32", True, False),
        ("b", "f32", True, False),
        ("c", "f32", True, False),
    ]
    a = np.arange(5 * 7 * 32, dtype=np.float32).reshape(5, 7, 32)
    c = np.linspace(-1, 1, 32, dtype=np.float32)
    d = fma.execute({"a": a, "b": np.full(32, 2, np.float32), "c": c})
    assert d.dtype == np.float32
    # 2 a is exact, so the sum rounds once in float32, too.
    assert np.array_equal(d, 2 * a + c)
    threes = find("add.u32", "sm_80").execute({"a": np.arange(32, dtype=np.uint32), "b": 3})
    assert np.array_equal(threes, np.arange(3, 35, dtype=np.uint32))


def test_predicates_carries_and_64_bits():
    a, b = np.arange(32, dtype=np.int32) - 16, np.zeros(32, np.int32)
    both = find("setp.lt.and.s32", "sm_80").execute({"a": a, "b": b, "c": np.arange(32) % 2 == 0})
    p, q = both.values()
    assert p.dtype == bool
    assert np.array_equal(p, (a < 0) & (np.arange(32) % 2 == 0))
    assert np.array_equal(q, ~(a < 0) & (np.arange(32) % 2 == 0))
    wide = find("mul.wide.u32", "sm_80").execute({"a": np.full(32, 0xFFFFFFFF, np.uint32), "b": np.arange(32, dtype=np.uint32)})
    assert wide.dtype == np.uint64
    assert np.array_equal(wide, np.uint64(0xFFFFFFFF) * np.arange(32, dtype=np.uint64))
    low = find("add.cc.u32", "sm_80").execute({"a": np.full(32, 0xFFFFFFF0, np.uint32), "b": np.arange(32, dtype=np.uint32)})
    carry = [name for name in low if name != "d"]
    assert len(carry) == 1
    assert np.array_equal(low[carry[0]], np.arange(32) > 15)
    high = find("addc.u32", "sm_80").execute({"a": 1, "b": 2, carry[0]: low[carry[0]]})
    assert np.array_equal(high, 3 + (np.arange(32) > 15))
    sum64 = find("add.s64", "sm_80").execute({"a": np.arange(32) - (1 << 40), "b": -1})
    assert sum64.dtype == np.int64
    assert np.array_equal(sum64, np.arange(32) - (1 << 40) - 1)
    halves = find("cvt.rn.f16.f32", "sm_80").execute({"a": np.linspace(0, 1, 32, dtype=np.float32)})
    assert np.array_equal(halves, np.linspace(0, 1, 32, dtype=np.float32).astype(np.float16))


def test_a_matrix_instruction_is_what_execute_makes():
    random = np.random.default_rng(28)
    shapes = {"a": (9, 4, 32), "b": (9, 2, 32), "c": (4, 32)}
    operands = {name: random.integers(0, 1 << 32, shape, np.uint32) & np.uint32(0x3FFF3FFF) for name, shape in shapes.items()}
    for path in ("fast", "reference"):
        d = find(MMA, "sm_90").execute(operands, path=path)
        assert d.shape == (9, 4, 32)
        assert np.array_equal(d, warpmat.registers.execute(MMA, "sm_90", operands))
    memory = random.integers(0, 256, (9, 512), np.uint8)
    p = (16 * np.arange(32, dtype=np.uint32)).reshape(1, 32)
    load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
    rows = find(load, "sm_90").execute({"p": p[0]}, memory=memory)
    assert np.array_equal(rows, warpmat.registers.execute(load, "sm_90", {"p": p}, memory=memory))
    store = "stmatrix.sync.aligned.m8n8.x4.shared.b16"
    zeros = np.zeros((9, 512), np.uint8)
    assert np.array_equal(find(store, "sm_90").execute({"p": p[0], "r": rows}, memory=zeros), memory)
    assert not zeros.any()


def test_a_number_fills_a_register_of_128_bits():
    a = find("mov.b128", "sm_90").execute({"a": (5 << 64) + 7})
    assert np.array_equal(a, np.repeat(np.array([[7], [5]], np.uint64), 32, axis=1))
    a = find("mov.b128", "sm_90").execute({"a": -2})
    assert np.array_equal(a, np.repeat(np.array([[2**64 - 2], [2**64 - 1]], np.uint64), 32, axis=1))


def test_one_memory_is_that_of_many_cases():
    memory = np.random.default_rng(3).integers(0, 256, 512).astype(np.uint8)
    p = np.array([[128 * case + 16 * (lane % 8) for lane in range(32)] for case in range(3)], np.uint32)
    rows = find("ldmatrix.sync.aligned.m8n8.x1.shared.b16", "sm_90").execute({"p": p}, memory=memory)
    assert np.array_equal(rows[:, 0, :], memory[:384].view(np.uint32).reshape(3, 32))
    # Two dimensions of cases, of which memory and registers have one each.
    store = find("stmatrix.sync.aligned.m8n8.x1.shared.b16", "sm_90")
    r = np.arange(4 * 32, dtype=np.uint32).reshape(4, 1, 32)
    before = np.stack([np.full(256, fill, np.uint8) for fill in (1, 2)])[:, None]
    after = store.execute({"p": p[0], "r": r}, memory=before)
    assert after.shape == (2, 4, 256)
    for i, j in np.ndindex(2, 4):
        assert np.array_equal(after[i, j, :128].view(np.uint32), r[j, 0])
        assert np.all(after[i, j, 128:] == i + 1)
    # Columns of an array in Fortran's order.
    columns = np.asfortranarray(np.stack([memory, memory[::-1]]))
    rows = find("ldmatrix.sync.aligned.m8n8.x1.shared.b16", "sm_90").execute({"p": p[0]}, memory=columns)
    assert np.array_equal(rows[1, 0], memory[::-1][:128].copy().view(np.uint32))


def test_the_module_takes_memory_in_c_order_alone():
    ldmatrix = "ldmatrix.sync.aligned.m8n8.x1.shared.b16"
    p, r = np.zeros((3, 1, 32), np.uint32), np.zeros((3, 1, 32), np.uint32)
    handle = warpmat._core.Handle(ldmatrix, "sm_90")
    given = [{"p": p, "r": r}[operand[0]] for operand in handle.operands]
    bound = _prepared(ldmatrix, "sm_90").instruction
    for memory in (np.zeros((3, 512), np.uint8, order="F"), np.zeros((2, 512), np.uint8), np.zeros((3, 512), np.int8)):
        with pytest.raises(ValueError, match="memory must be uint8, \\(cases, bytes\\), C-contiguous"):
            handle.execute(3, given, memory, "trap", "fast", 1)
        with pytest.raises(ValueError, match="memory must be uint8, \\(cases, bytes\\), C-contiguous"):
            bound.execute(3, {"p": p, "r": r}, memory, "trap", "fast", 1)


def test_wgmma_adds_to_d_of_each_case():
    wgmma = find(WGMMA, "sm_90a")
    assert (wgmma.kind, wgmma.warps) == ("warpgroup", 4)
    d = np.arange(3 * 4 * 4 * 32, dtype=np.uint32).reshape(3, 4, 4, 32)
    memory = np.full((3, 4096), 1, np.uint8)
    memory[1] = 2
    descriptors = {"a-desc": ONE_MATRIX, "b-desc": ONE_MATRIX}
    for scale_d in (0, 1):
        sums = wgmma.execute({"d": d, **descriptors, "scale-d": scale_d}, memory=memory)
        products = 32 * np.array([1, 4, 1], np.uint32).reshape(3, 1, 1, 1)
        assert np.array_equal(sums, scale_d * d + products)
    a = np.full((4, 4, 32), 0x03030303, np.uint32)  # in registers, the same in all cases
    sums = wgmma.execute({"d": d, "a": a, "b-desc": ONE_MATRIX, "scale-d": 0}, memory=memory)
    assert np.array_equal(sums, np.broadcast_to(32 * np.array([3, 6, 3], np.uint32).reshape(3, 1, 1, 1), d.shape))
    memory = np.ones((3, 64), np.uint8)
    with pytest.raises(Trap, match="case 0"):
        wgmma.execute({"d": d, **descriptors, "scale-d": 1}, memory=memory)


def test_an_instruction_of_lists_is_described_and_refuses_calls():
    load = find("ld.shared.v2.s16", "sm_90")
    assert (load.kind, load.warps, load.opcode) == ("load", 1, "ld.shared.v2.s16")
    assert [(o.name, o.kind, o.type, o.registers, o.written) for o in load.operands] == [("d", "value", "s16", 2, True), ("a", "address", "", 1, False)]
    assert find("st.shared.b32", "sm_90").kind == "store"
    shfl = find("shfl.sync.idx.b32", "sm_90")
    assert (shfl.kind, [o.name for o in shfl.operands if o.written]) == ("lanes", ["d", "p"])
    for instruction, needs in ((load, "memory"), (shfl, "other lanes")):
        with pytest.raises(ValueError, match=f"'{instruction.opcode}' needs a program around it, for {needs}: it is a statement of a list"):
            instruction.execute({})


def test_what_is_wrong_is_told():
    fma = find("fma.rn.f32", "sm_90")
    ones = np.ones(32, np.float32)
    for wrong, error, message in (
        ({"a": ones, "b": ones}, ValueError, "fma.rn.f32 needs c, whose shape ends with \\(32,\\)"),
        ({"a": ones, "b": ones, "c": ones, "e": ones}, ValueError, "fma.rn.f32 reads no e; it reads a, b, c"),
        ({"a": ones, "b": ones, "c": ones[:31]}, ValueError, "c has the shape \\(31,\\); it must end with \\(32,\\)"),
        ({"a": ones, "b": ones, "c": ones.astype(np.float64)}, TypeError, "c is float64; its registers have 32 bits"),
        ({"a": np.ones((2, 32), "f4"), "b": np.ones((3, 32), "f4"), "c": ones}, ValueError, "the leading dimensions do not fit together"),
    ):
        with pytest.raises(error, match=message):
            fma.execute(wrong)
    with pytest.raises(ValueError, match="fma.rn.f32 takes no memory"):
        fma.execute({"a": ones, "b": ones, "c": ones}, memory=np.zeros(4, np.uint8))
    with pytest.raises(ValueError, match="needs a program around it"):
        find("ld.global.b32", "sm_90")
    with pytest.raises(ValueError, match="needs sm_100 or later; the target is sm_90"):
        find("add.rn.f32x2", "sm_90")
    with pytest.raises(ValueError, match="either a or a-desc is given"):
        find(WGMMA, "sm_90a").execute({"d": 0, "b-desc": ONE_MATRIX, "scale-d": 1}, memory=np.zeros(4096, np.uint8))
