"""Matrices, dtypes and shapes; products where NumPy's own arithmetic must agree."""

import importlib.util
import math
import sys
import types
from fractions import Fraction

import numpy as np
import pytest

import warpmat
from warpmat import _core, options

F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
BF16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
S8 = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"
F64 = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"
E4M3 = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"
SPARSE = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.mark.parametrize("opcode", [o for o in warpmat.instructions.opcodes("sm_90a") if ".s32" in o and "satfinite" not in o and o.startswith("mma.sync") and "b1" not in o])
def test_integer_products_are_numpys(opcode, rng):
    form = _core.find_form(opcode)
    (m, n, k), formats = form.shape, {o.name: warpmat.formats.FORMATS[o.format] for o in form.operands}
    low = {name: -(1 << (f.bits - 1)) if f.signed else 0 for name, f in formats.items()}
    a, b = (rng.integers(low[x], low[x] + (1 << formats[x].bits), shape) for x, shape in (("a", (5, m, k)), ("b", (5, k, n))))
    c = rng.integers(-(1 << 31), 1 << 31, (5, m, n))
    assert np.array_equal(warpmat.mma(opcode, "sm_90a", a, b, c), (a @ b + c).astype(np.int32))


def test_some_qualifiers_of_an_opcode_will_do(rng):
    a, b = rng.standard_normal((16, 16)).astype(np.float16), rng.standard_normal((16, 8)).astype(np.float16)
    warpmat.testing.assert_bits_equal(warpmat.mma("mma.m16n8k16.f16", "sm_90", a, b), warpmat.mma(F16, "sm_90", a, b))
    assert warpmat.explain("mma.m16n8k16.f16", "sm_90", a, b, row=0, column=0).opcode == F16
    assert warpmat.layout("mma.m16n8k16.bf16", "a").opcode == BF16  # sums of f32
    wide = warpmat.mma("wgmma.m64n8k16.f16", "sm_90a", np.tile(a, (4, 1)), b)
    warpmat.testing.assert_bits_equal(wide[16:32], warpmat.matmul(a, b, card="H100"))
    with pytest.raises(ValueError, match="may be .* forms"):
        warpmat.mma("mma.f16", "sm_90", a, b)
    with pytest.raises(ValueError, match="without .f17"):
        warpmat.mma("mma.m16n8k16.f17", "sm_90", a, b)


def test_f64_is_a_chain_of_fused_operations_and_numpys_where_nothing_rounds(rng):
    a, b, c = (rng.integers(-1000, 1000, shape).astype(np.float64) for shape in ((7, 8, 4), (7, 4, 8), (7, 8, 8)))
    assert np.array_equal(warpmat.mma(F64, "sm_90", a, b, c), a @ b + c)


def test_matmul_of_integers_is_numpys_for_any_size(rng):
    for m, n, k in ((16, 8, 32), (1, 1, 1), (17, 9, 33), (100, 50, 70), (5, 3, 0)):
        a, b, c = rng.integers(-128, 128, (m, k)), rng.integers(-128, 128, (k, n)), rng.integers(-1000, 1000, (m, n))
        assert np.array_equal(warpmat.matmul(a, b, c, instruction=S8, card="sm_80"), a @ b + c), (m, n, k)


def test_matmul_chains_the_instruction_along_k(rng):
    a, b = rng.standard_normal((16, 64)).astype(np.float16), rng.standard_normal((64, 8)).astype(np.float16)
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        c = np.zeros((16, 8), np.float32)
        for step in order:
            c = warpmat.mma(F16, "sm_90", a[:, 16 * step : 16 * step + 16], b[16 * step : 16 * step + 16], c)
        warpmat.testing.assert_bits_equal(warpmat.matmul(a, b, instruction=F16, card="sm_90", order=order), c)


def test_promotion_adds_partial_sums_in_f32(rng):
    a, b = (warpmat.encode(rng.standard_normal(shape), "e4m3") for shape in ((16, 128), (128, 8)))
    c = rng.standard_normal((16, 8)).astype(np.float32)
    expected = c
    for first in (0, 64):
        partial = np.zeros((16, 8), np.float32)
        for k in (first, first + 32):
            partial = warpmat.mma(E4M3, "sm_90", a[:, k : k + 32], b[k : k + 32], partial)
        expected = expected + partial
    promoted = warpmat.matmul(a, b, c, instruction=E4M3, card="sm_90", promote_every=2)
    warpmat.testing.assert_bits_equal(promoted, expected)
    assert not np.array_equal(promoted, warpmat.matmul(a, b, c, instruction=E4M3, card="sm_90"))


@pytest.mark.parametrize(
    "card, a, out, opcode, label",
    [
        ("H100", "f16", None, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "measured"),
        ("sm_90a", "e4m3", "f16", "wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3", "measured"),
        ("H100", "f64", None, "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", None),
        ("sm_90", "f16", None, F16, None),  # without the features of the architecture
        ("B200", "bf16", None, "tcgen05.mma.cta_group::1.kind::f16", "published"),
        ("B200", "e2m1", None, "tcgen05.mma.cta_group::1.kind::f8f6f4", "published"),
        ("B200", "s8", None, "tcgen05.mma.cta_group::1.kind::i8", "assumed"),
        ("A100", "tf32", None, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", None),
        ("RTX 5090", "e5m2", None, "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32", None),
        ("T4", "s8", None, "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", None),
        ("V100", "f16", None, "wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32", None),
    ],
)
def test_a_card_chooses_the_instruction(card, a, out, opcode, label):
    found = warpmat.product(card, a, out=out)
    assert found.opcode == opcode
    assert (found.a, found.b) == (a, a) and found.out == (out or ("f64" if a == "f64" else "s32" if a == "s8" else "f32"))
    assert label in (None, found.label)


def _dot(a, b, c):
    """A step of Hopper's fp8: every term is cut 13 bits below the largest exponent, and their sum to 13 fraction bits. In whole numbers, by hand."""
    factors = [(math.frexp(x), math.frexp(y)) for x, y in zip(a, b) if x and y]
    terms = [(Fraction(x[0]) * 4 * Fraction(y[0]), x[1] + y[1] - 2) for x, y in factors]
    if c:
        terms.append((Fraction(2 * math.frexp(c)[0]), math.frexp(c)[1] - 1))
    unit = max(exponent for _, exponent in terms) - 13
    total = sum(math.trunc(mantissa * Fraction(2) ** (exponent - unit)) for mantissa, exponent in terms)
    cut = max(0, abs(total).bit_length() - 14)
    return math.copysign(abs(total) >> cut << cut, total) * 2.0**unit


def test_a_warpgroup_sums_as_hopper_does_and_mma_does_not(rng):
    a, b = (warpmat.encode(rng.standard_normal(shape), "e4m3") for shape in ((70, 64), (64, 11)))
    found = warpmat.matmul(a, b, card="H100")
    expected = [[_dot(row[32:], column[32:], _dot(row[:32], column[:32], 0)) for column in b.values().T] for row in a.values()]
    warpmat.testing.assert_bits_equal(found, np.array(expected, np.float32))
    assert not np.array_equal(found, warpmat.matmul(a, b, card="H100", instruction="mma"))
    warpmat.testing.assert_bits_equal(warpmat.matmul(a, b, card="sm_90", instruction="mma"), warpmat.matmul(a, b, instruction=E4M3, card="sm_90"))


def test_one_warpgroup_instruction_is_a_product_of_its_shape(rng):
    opcode = "wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16"
    a, b = rng.standard_normal((3, 64, 16)).astype(np.float16), rng.standard_normal((16, 24)).astype(np.float16)
    c = rng.standard_normal((64, 24)).astype(np.float32)
    d = warpmat.mma(opcode, "h100", a, b, c)
    assert d.shape == (3, 64, 24)
    warpmat.testing.assert_bits_equal(d, warpmat.matmul(a, b, c, card="H100"))
    explained = warpmat.explain(opcode, "h100", a[1], b, c, row=37, column=13, against="sm_80")
    assert explained.result == int(d[1, 37, 13].view(np.uint32)) and explained.against is not None and (explained.row, explained.column) == (5, 5)


@pytest.mark.parametrize("a, scale, block", [("e2m1", "ue8m0", 32), ("e2m1", "ue4m3", 16), ("e4m3", "ue8m0", 32), ("e3m2", "ue8m0", 32)])
def test_block_scales_of_any_size(rng, a, scale, block):
    x, y = (warpmat.encode(rng.standard_normal(shape), a) for shape in ((20, 192), (192, 11)))
    of_x, of_y = (warpmat.encode(2.0 ** rng.integers(-3, 4, shape), scale) for shape in ((20, 192 // block), (192 // block, 11)))
    scales = {"scale_a": of_x, "scale_b": of_y}
    found = warpmat.product("RTX 5090", a, scale=scale, block=block)
    k, factors, c = found.shape[2], found.shape[2] // block, np.zeros((16, 8), np.float32)
    for step in range(192 // k):
        cut, of_step = slice(k * step, k * (step + 1)), slice(factors * step, factors * (step + 1))
        c = warpmat.mma(found.opcode, "sm_120a", x[:16, cut], y[cut, :8], c, scale_a=of_x[:16, of_step], scale_b=of_y[of_step, :8])
    warpmat.testing.assert_bits_equal(warpmat.matmul(x, y, card="RTX 5090", **scales)[:16, :8], c)
    near = (x.values() * np.repeat(of_x.values(), block, 1)) @ (y.values() * np.repeat(of_y.values(), block, 0))
    for card in ("B200", "RTX 5090"):
        np.testing.assert_allclose(warpmat.matmul(x, y, card=card, **scales), near, rtol=1e-4, atol=1e-3)
    if scale == "ue4m3":  # as packages have them
        other = {name: warpmat.Bits(factor.codes, "e4m3") for name, factor in scales.items()}
        warpmat.testing.assert_bits_equal(warpmat.matmul(x, y, card="B200", **other), warpmat.matmul(x, y, card="B200", **scales))


@pytest.mark.parametrize(
    "card, names, cut, text",
    [
        ("B200", ["scale_a"], (20, 12), "scale_b is missing"),
        ("H100", ["scale_a", "scale_b"], (20, 12), "sm_90a has no dense matrix instruction .* and scale factors of ue4m3 for 16 elements"),
        ("B200", ["scale_a", "scale_b"], (20, 5), "they need one format and whole blocks"),
        ("B200", ["scale_a", "scale_b"], (7, 12), r"scale_a has the shape \(7, 12\); it must end with \(20, 12\)"),
    ],
)
def test_wrong_scale_factors_say_what_would_be_right(card, names, cut, text):
    x, y = warpmat.encode(np.ones((20, 192)), "e2m1"), warpmat.encode(np.ones((192, 11)), "e2m1")
    scales = {"scale_a": warpmat.encode(np.ones((20, 12)), "ue4m3")[: cut[0], : cut[1]], "scale_b": warpmat.encode(np.ones((12, 11)), "ue4m3")}
    with pytest.raises(ValueError, match=text):
        warpmat.matmul(x, y, card=card, **{name: scales[name] for name in names})


def test_integers_of_every_unit_are_numpys(rng):
    a, b = rng.integers(-128, 128, (33, 70), dtype=np.int8), rng.integers(-128, 128, (70, 9), dtype=np.int8)
    for card in ("H100", "B200", "A100", "T4"):
        assert np.array_equal(warpmat.matmul(a, b, card=card), a.astype(np.int64) @ b.astype(np.int64)), card


def test_strides_need_no_copy_and_change_nothing(rng):
    a, b = rng.standard_normal((40, 48)).astype(np.float16), rng.standard_normal((48, 24)).astype(np.float16)
    expected = warpmat.matmul(a, b, instruction=F16, card="sm_90")
    warpmat.testing.assert_bits_equal(warpmat.matmul(np.asfortranarray(a), b.T.copy().T, instruction=F16, card="sm_90"), expected)
    wide = np.zeros((80, 96), np.float16)
    wide[::2, ::2] = a
    warpmat.testing.assert_bits_equal(warpmat.matmul(wide[::2, ::2], b, instruction=F16, card="sm_90", jobs=1), expected)


def test_leading_dimensions_are_cases_and_are_broadcast(rng):
    a, b, c = (rng.standard_normal(s).astype(d) for s, d in (((3, 1, 16, 16), np.float16), ((4, 16, 8), np.float16), ((16, 8), np.float32)))
    d = warpmat.mma(F16, "sm_90", a, b, c)
    assert d.shape == (3, 4, 16, 8)
    warpmat.testing.assert_bits_equal(d[2, 3], warpmat.mma(F16, "sm_90", a[2, 0], b[3], c))
    products = warpmat.matmul(a, b, instruction=F16, card="sm_90")
    warpmat.testing.assert_bits_equal(products[1, 2], warpmat.mma(F16, "sm_90", a[1, 0], b[2]))


def test_many_cases_on_many_threads_are_the_same_as_on_one(rng):
    a = rng.standard_normal((1000, 16, 16)).astype(np.float16)
    b = rng.standard_normal((1000, 16, 8)).astype(np.float16)
    one = warpmat.mma(F16, "sm_90", a, b, jobs=1)
    warpmat.testing.assert_bits_equal(warpmat.mma(F16, "sm_90", a, b, jobs=3), one)
    warpmat.testing.assert_bits_equal(warpmat.mma(F16, "sm_90", a, b, path="reference"), one)


def test_four_products_of_m8n8k4_are_a_dimension(rng):
    opcode = "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32"
    a, b = rng.integers(-8, 8, (4, 8, 4)).astype(np.float16), rng.integers(-8, 8, (4, 4, 8)).astype(np.float16)
    assert np.array_equal(warpmat.mma(opcode, "sm_70", a, b), a.astype(np.float32) @ b.astype(np.float32))


def test_a_dense_a_is_compressed_and_expands_again(rng):
    a = rng.integers(1, 9, (2, 16, 32)).astype(np.float16)
    keep = np.argsort(rng.random((2, 16, 8, 4)), axis=3)[..., :2]
    mask = np.zeros((2, 16, 8, 4), bool)
    np.put_along_axis(mask, keep, True, 3)
    a = np.where(mask.reshape(a.shape), a, np.float16(0))
    stored, metadata = warpmat.storage.compress(SPARSE, a)
    assert stored.shape == (2, 16, 16) and metadata.shape == (2, 16, 8) and metadata.dtype == np.uint8
    assert np.array_equal(warpmat.storage.expand(SPARSE, stored, metadata), a)
    b = rng.integers(-8, 9, (32, 8)).astype(np.float16)
    expected = a.astype(np.float32) @ b.astype(np.float32)
    assert np.array_equal(warpmat.mma(SPARSE, "sm_90", a, b), expected)
    assert np.array_equal(warpmat.mma(SPARSE, "sm_90", stored, b, metadata=metadata, selector=0), expected)
    with pytest.raises(ValueError, match="row 0, group 0"):
        warpmat.storage.compress(SPARSE, np.ones((16, 32), np.float16))


def test_elements_without_a_dtype_are_bits_with_a_format(rng):
    numbers = rng.integers(-8, 9, (16, 16)).astype(np.float64)
    bits = warpmat.encode(numbers, "bf16")
    assert bits.codes.dtype == np.uint16 and np.array_equal(bits.values(), numbers) and np.array_equal(np.asarray(bits), numbers)
    b = warpmat.encode(rng.integers(-8, 9, (16, 8)), "bf16")
    expected = (numbers @ b.values()).astype(np.float32)
    assert np.array_equal(warpmat.mma(BF16, "sm_90", bits, b), expected)
    assert np.array_equal(warpmat.mma(BF16, "sm_90", bits.codes, b.codes), expected)  # unsigned integers of the width are bit patterns
    assert np.array_equal(warpmat.mma(BF16, "sm_90", numbers, b.values()), expected)  # numbers that the format holds
    back = warpmat.registers.gather(BF16, "a", warpmat.registers.scatter(BF16, "a", bits))
    warpmat.testing.assert_bits_equal(back, bits)
    if importlib.util.find_spec("ml_dtypes") is None:
        assert isinstance(back, warpmat.Bits) and back.format == "bf16" and np.array_equal(back.codes, bits.codes)
        with pytest.raises(ImportError, match="ml_dtypes is not installed"):
            bits.array


ML_DTYPES = [("bf16", "bfloat16"), ("e4m3", "float8_e4m3fn"), ("e5m2", "float8_e5m2"), ("e3m2", "float6_e3m2fn"), ("e2m3", "float6_e2m3fn"), ("e2m1", "float4_e2m1fn")]


@pytest.mark.parametrize("format, name", ML_DTYPES)
def test_ml_dtypes_arrays_are_operands_and_results(format, name, ml_dtypes, rng):
    dtype = np.dtype(getattr(ml_dtypes, name))
    opcode = BF16 if format == "bf16" else f"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.{format}.{format}.f32"
    target = "sm_90" if format == "bf16" else "sm_120a"
    k = 16 if format == "bf16" else 32
    bits = [warpmat.encode(rng.integers(-2, 3, shape), format) for shape in ((16, k), (k, 8))]
    arrays = [x.codes.view(dtype) for x in bits]
    warpmat.testing.assert_bits_equal(warpmat.mma(opcode, target, *arrays), warpmat.mma(opcode, target, *bits))
    warpmat.testing.assert_bits_equal(warpmat.mma(opcode, target, arrays[0], arrays[1][::1]), warpmat.mma(opcode, target, *bits))
    back = warpmat.registers.gather(opcode, "a", warpmat.registers.scatter(opcode, "a", arrays[0]))
    assert type(back) is np.ndarray and back.dtype == dtype and np.array_equal(back.view(bits[0].codes.dtype), bits[0].codes)
    assert bits[0].array.dtype == dtype
    warpmat.testing.assert_bits_equal(back, bits[0])  # the same elements in another container
    with pytest.raises(AssertionError, match=r"\[0, 0\] is"):
        warpmat.testing.assert_bits_equal(back, warpmat.Bits(bits[0].codes ^ 1, format))
    with pytest.raises(TypeError, match=f"a holds {format}; it must be f16"):
        warpmat.mma(F16, "sm_90", arrays[0], bits[1])


def test_results_of_every_kind_are_ml_dtypes_arrays(ml_dtypes, rng):
    dtype = np.dtype(ml_dtypes.bfloat16)
    sparse = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32"
    a = np.zeros((16, 32))
    a.reshape(16, 8, 4)[..., 1] = rng.integers(1, 9, (16, 8))
    dense = warpmat.encode(a, "bf16").array
    stored, metadata = warpmat.storage.compress(sparse, dense)
    again = warpmat.storage.expand(sparse, stored, metadata)
    assert stored.dtype == again.dtype == dtype and np.array_equal(again.view(np.uint16), dense.view(np.uint16))
    rows = warpmat.storage.pack(warpmat.encode(a[:, :16], "e3m2"), "b6x16_p32", "e3m2")
    assert warpmat.storage.unpack(rows, "b6x16_p32", "e3m2").dtype == np.dtype(ml_dtypes.float6_e3m2fn)
    program = warpmat.run(BF16 + " {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3};", "sm_90", {"mma.0.a": dense[:, :16]})
    assert program.operand("mma.0.a").dtype == dtype
    scaled = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0"
    factors = np.full((16, 1), 128, np.uint8)
    ones = [warpmat.encode(np.ones(shape), "e4m3") for shape in ((16, 32), (32, 8))]
    twice = warpmat.mma(scaled, "sm_120a", *ones, scale_a=factors.view(ml_dtypes.float8_e8m0fnu), scale_b=np.full((1, 8), 127, np.uint8))
    assert np.all(twice == 64)
    x = dense.copy()
    _COPY.launch("copy", 1, 1, x, dense.view(np.uint16).ravel()[1:2].copy())  # arrays of ml_dtypes are buffers
    assert x.view(np.uint16).ravel()[0] == dense.view(np.uint16)[0, 1]


_COPY = warpmat.Module(
    """
.version 9.0
.target sm_90
.address_size 64
.entry copy(.param .u64 to, .param .u64 from) {
  .reg .b16 %h<2>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [to];
  ld.param.u64 %d2, [from];
  ld.global.u16 %h1, [%d2];
  st.global.u16 [%d1], %h1;
  ret;
}
"""
)


def test_four_bit_integers_of_ml_dtypes_lose_what_stands_above_them(ml_dtypes, rng):
    opcode = "mma.sync.aligned.m16n8k32.row.col.s32.s4.u4.s32"
    a, b = rng.integers(-8, 8, (16, 32)).astype(np.int8), rng.integers(0, 16, (32, 8)).astype(np.uint8)
    d = warpmat.mma(opcode, "sm_90", a.view(ml_dtypes.int4), b.view(ml_dtypes.uint4))  # int4 lies sign-extended in its byte
    assert np.array_equal(d, a.astype(np.int32) @ b.astype(np.int32))


def test_torch_tensors_are_taken_as_they_are(rng):
    torch = pytest.importorskip("torch")
    a, b = rng.standard_normal((16, 16)).astype(np.float16), rng.standard_normal((16, 8)).astype(np.float16)
    warpmat.testing.assert_bits_equal(warpmat.mma(F16, "sm_90", torch.from_numpy(a), torch.from_numpy(b)), warpmat.mma(F16, "sm_90", a, b))
    tensor = torch.arange(256).reshape(16, 16).to(torch.bfloat16)
    b = warpmat.encode(np.eye(16, 8), "bf16")
    assert np.array_equal(warpmat.mma(BF16, "sm_90", tensor, b), np.arange(256, dtype=np.float32).reshape(16, 16)[:, :8])


class Tensor:
    """A stand-in for a torch tensor: it has only what warpmat uses."""

    __module__ = "torch"

    def __init__(self, array, dtype, is_cuda=False):
        self._array, self.dtype, self.is_cuda = array, dtype, is_cuda

    def detach(self):
        return self

    cpu = detach

    def view(self, dtype):
        return Tensor(self._array.view(dtype), f"torch.{np.dtype(dtype).name}")

    def numpy(self):
        if self._array.dtype.name not in self.dtype:
            raise TypeError(f"Got unsupported ScalarType {self.dtype}")
        return self._array

    def __array__(self, *_):
        return self.numpy()


def test_tensors_that_numpy_has_no_dtype_for_are_bit_patterns(rng, monkeypatch):
    """With a stand-in for torch, so that handling of its tensors is tested without torch."""
    torch = types.ModuleType("torch")
    torch.int16, torch.uint8 = np.int16, np.uint8
    monkeypatch.setitem(sys.modules, "torch", torch)
    for opcode, target, format, k, name in ((BF16, "sm_90", "bf16", 16, "bfloat16"), (E4M3, "sm_90", "e4m3", 32, "float8_e4m3fn")):
        bits = [warpmat.encode(rng.integers(-2, 3, shape), format) for shape in ((16, k), (k, 8))]
        tensors = [Tensor(x.codes.view(np.int16 if format == "bf16" else np.uint8), f"torch.{name}") for x in bits]
        warpmat.testing.assert_bits_equal(warpmat.mma(opcode, target, *tensors), warpmat.mma(opcode, target, *bits))
    a, b = rng.standard_normal((16, 16)).astype(np.float16), rng.standard_normal((16, 8)).astype(np.float16)
    warpmat.testing.assert_bits_equal(warpmat.mma(F16, "sm_90", Tensor(a, "torch.float16"), b), warpmat.mma(F16, "sm_90", a, b))
    x = np.zeros(1, np.uint16)
    _COPY.launch("copy", 1, 1, Tensor(x, "torch.uint16"), np.array([7], np.uint16))
    assert x[0] == 7
    with pytest.raises(TypeError, match="to is a tensor on a GPU"):
        _COPY.launch("copy", 1, 1, Tensor(x, "torch.uint16", is_cuda=True), x)


class OnlyDlpack:
    """A foreign array: it has __dlpack__ and nothing else."""

    def __init__(self, array, device=None):
        self.array, self.device = array, device

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device or self.array.__dlpack_device__()


def test_dlpack_is_enough(rng):
    a, b = rng.standard_normal((16, 16)).astype(np.float16), rng.standard_normal((16, 8)).astype(np.float16)
    warpmat.testing.assert_bits_equal(warpmat.mma(F16, "sm_90", OnlyDlpack(a), OnlyDlpack(b)), warpmat.mma(F16, "sm_90", a, b))
    with pytest.raises(TypeError, match="device 1 of DLPack's kind 2: bring it to the CPU's memory"):
        warpmat.mma(F16, "sm_90", OnlyDlpack(a, (2, 1)), b)
    with pytest.raises(TypeError, match="NumPy takes no such array by __dlpack__"):
        warpmat.mma(F16, "sm_90", OnlyDlpack(np.zeros(1, "V2")), b)
    x = np.zeros(1, np.uint16)
    _COPY.launch("copy", 1, 1, OnlyDlpack(x), np.array([7], np.uint16))
    assert x[0] == 7  # a foreign buffer is written to


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda a, b: warpmat.mma(F16, "sm_90", a[:3], b), ValueError, r"a has the shape \(3, 16\); it must end with \(16, 16\)"),
        (lambda a, b: warpmat.mma(F16, "sm_75", a, b), ValueError, "needs sm_80 or later; the target is sm_75"),
        (lambda a, b: warpmat.mma(F16, "sm_91", a, b), ValueError, "sm_91"),
        (lambda a, b: warpmat.mma(F16.replace("k16", "k15"), "sm_90", a, b), ValueError, "the nearest is"),
        (lambda a, b: warpmat.mma(F16, "sm_90", a.astype(np.float64) + 1e-9, b), ValueError, r"which f16 does not hold: warpmat.encode"),
        (lambda a, b: warpmat.mma(F16, "sm_90", a.astype(np.int16), b), TypeError, "a is int16, which is neither f16 nor its bit patterns"),
        (lambda a, b: warpmat.mma(F16, "sm_90", a, b, metadata=a), ValueError, "takes no metadata"),
        (lambda a, b: warpmat.mma(F16, "sm_90", a, b, path="quick"), ValueError, "there are 'fast' and 'reference'"),
        (lambda a, b: warpmat.mma(F16, "sm_90", a, b, jobs=0), ValueError, "jobs is 0"),
        (lambda a, b: warpmat.mma(F16, "sm_90", np.ones((2, 16, 16), np.float16), np.ones((3, 16, 8), np.float16)), ValueError, "do not fit together"),
        (lambda a, b: warpmat.mma(SPARSE, "sm_90", a, np.ones((32, 8), np.float16), metadata=np.zeros((16, 8), np.uint8), selector=2), ValueError, "selector is 2"),
        (lambda a, b: warpmat.mma("movmatrix.sync.aligned.m8n8.trans.b16", "sm_90", a, b), ValueError, "multiplies no matrices"),
        (lambda a, b: warpmat.mma(S8, "sm_90", np.full((16, 32), 128), np.ones((32, 8), np.int8)), ValueError, r"a\[0, 0\] is 128; s8 holds -128 to 127"),
        (lambda a, b: warpmat.matmul(a, a, instruction=F16, card="sm_90", order=[1]), ValueError, "order must hold"),
        (lambda a, b: warpmat.matmul(a, b[:5], instruction=F16, card="sm_90"), ValueError, "cannot be multiplied"),
        (lambda a, b: warpmat.matmul(a, b, instruction=S8, card="sm_90", promote_every=1), ValueError, "needs sums of f32"),
        (lambda a, b: warpmat.matmul(a, b), TypeError, "card"),
        (lambda a, b: warpmat.matmul(a, b, card="H100", instruction=F16, out="f32"), TypeError, "leave `out` out"),
        (lambda a, b: warpmat.matmul(a, b, card="H99"), ValueError, "unknown target 'H99'"),
        (lambda a, b: warpmat.matmul(a, b, card="A100", instruction="wgmma"), ValueError, "sm_80 has no dense wgmma"),
        (lambda a, b: warpmat.matmul(a, b, card="H100", instruction="hmma"), ValueError, "'hmma' in the instruction 'hmma' is no unit"),
        (lambda a, b: warpmat.matmul(a, b, card="H100", instruction="mma.m16n8k99"), ValueError, "no dense mma m16n8k99"),
        (lambda a, b: warpmat.matmul(a, b, card="H100", out="f99"), ValueError, "unknown format 'f99'"),
        (lambda a, b: warpmat.matmul(a.astype(np.float32), b, card="H100"), TypeError, 'instruction="tf32"'),
        (lambda a, b: warpmat.matmul(a.astype(np.int64), b, card="H100"), TypeError, "a is int64, which is no format"),
        (lambda a, b: warpmat.matmul(a.tolist(), b, card="H100"), TypeError, "a is float64 .* rounds"),
        (lambda a, b: warpmat.matmul(a, b.astype(np.float64), card="H100"), TypeError, "b is float64 .* rounds"),
        (lambda a, b: warpmat.matmul([[1.0, 2.0], [1.0]], b, card="H100"), ValueError, "different lengths"),
        (lambda a, b: warpmat.matmul(np.stack([a] * 2), np.stack([b] * 3), card="H100"), ValueError, "do not fit together: a .2,., b .3,."),
        (lambda a, b: warpmat.matmul(a, b, card=90), TypeError, "card or target is a text .* not 90"),
        (lambda a, b: warpmat.mma(F16, None, a, b), TypeError, "card or target is a text .* not None"),
        (lambda a, b: warpmat.find("fma.rn.f32", 90), TypeError, "card or target is a text .* not 90"),
        (lambda a, b: warpmat.matmul(a, b, card="H100", instruction=16), TypeError, "instruction is words .* not 16"),
        (lambda a, b: warpmat.matmul(a, b, card="H100", split_k=1.5), ValueError, "split_k is 1.5"),
        (lambda a, b: warpmat.matmul(a, b, card="H100", split_k="2"), ValueError, "split_k is 2"),
        (lambda a, b: warpmat.matmul(a, b, card="H100", promote_every=1.5), ValueError, "promote_every is a number of steps"),
        (lambda a, b: warpmat.mma("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "h100", a, b), ValueError, r"it must end with \(64, 16\)"),
        (lambda a, b: warpmat.matmul(a, b, instruction="tcgen05.mma.cta_group::1.kind::f16", card="b200"), ValueError, 'instruction="tcgen05"'),
        (lambda a, b: warpmat.registers.execute(F16, "sm_90", {"a": 0, "b": 0}), ValueError, r"needs c: uint32, \(cases, 4, 32\)"),
        (lambda a, b: warpmat.registers.execute(F16, "sm_90", {"a": 0, "b": 0, "c": 0, "e": 0}), ValueError, "reads no e; it reads a, b, c"),
        (lambda a, b: warpmat.registers.scatter(F16, "e", a), ValueError, "has no matrix 'e': there are d, a, b, c"),
        (lambda a, b: warpmat.encode(float("nan"), "e2m1"), ValueError, "e2m1 has no NaN"),
        (lambda a, b: warpmat.encode(1, "fp8"), ValueError, "unknown format 'fp8': there are f64"),
    ],
)
def test_wrong_arguments_say_what_would_be_right(call, error, text):
    with pytest.raises(error, match=text):
        call(np.zeros((16, 16), np.float16), np.zeros((16, 8), np.float16))


def test_registers_may_be_numbers_and_leave_out_cases():
    ones = np.uint32(0x3C003C00)
    d = warpmat.registers.execute(F16, "sm_90", {"a": int(ones), "b": int(ones), "c": 0})
    assert d.shape == (4, 32) and d.dtype == np.uint32 and np.all(d.view(np.float32) == 16)


def test_memory_instructions_read_and_write_rows():
    load, store = "ldmatrix.sync.aligned.m8n8.x1.shared.b16", "stmatrix.sync.aligned.m8n8.x1.shared.b16"
    rows = np.arange(64, dtype=np.uint16).reshape(8, 8)
    addresses = np.zeros((1, 32), np.uint32)
    addresses[0, :8] = 16 * np.arange(8)
    r = warpmat.registers.execute(load, "sm_90", {"p": addresses}, memory=rows.view(np.uint8).reshape(-1))
    assert np.array_equal(warpmat.registers.gather(load, "r", r), rows)
    memory = warpmat.registers.execute(store, "sm_90", {"p": addresses, "r": r}, memory=np.zeros(128, np.uint8))
    assert np.array_equal(memory.view(np.uint16).reshape(8, 8), rows)
    # One memory of many cases, with one dimension and with two.
    of_cases = np.arange(3 * 32, dtype=np.uint32).reshape(3, 1, 32)
    for ones in (np.ones(256, np.uint8), np.ones((1, 256), np.uint8)):
        memory = warpmat.registers.execute(store, "sm_90", {"p": addresses, "r": of_cases}, memory=ones)
        assert np.array_equal(memory[:, :128].copy().view(np.uint32).reshape(3, 1, 32), of_cases)
        assert np.all(memory[:, 128:] == 1)
    with pytest.raises(warpmat.errors.Trap) as trap:
        warpmat.registers.execute(load, "sm_90", {"p": np.broadcast_to(addresses + 8, (3, 1, 32))}, memory=np.zeros((3, 256), np.uint8))
    assert (trap.value.lane, trap.value.address, trap.value.case, trap.value.operand) == (0, 8, 0, "p")


def test_packed_rows_are_what_ldmatrix_reads(rng):
    matrix = warpmat.Bits(rng.integers(0, 64, (3, 32)), "e3m2")
    rows = warpmat.storage.pack(matrix, "b6x16_p32", "e3m2")
    assert rows.shape == (3, 32) and not rows.reshape(3, 2, 16)[:, :, 12:].any()
    warpmat.testing.assert_bits_equal(warpmat.storage.unpack(rows, "b6x16_p32", "e3m2"), matrix)


def test_layouts_are_the_places_that_scatter_uses():
    for opcode, operand in ((F16, "a"), (F16, "d"), (S8, "b"), (F64, "c"), (SPARSE, "e"), ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", "r")):
        layout = warpmat.layout(opcode, operand)
        assert layout.lane.shape == layout.register.shape == layout.bit.shape
        lanes, registers, bits = (x.reshape((-1,) + x.shape[-2:]) for x in (layout.lane, layout.register, layout.bit))
        for matrix, row, column in ((0, 0, 0), (0, lanes.shape[1] - 1, lanes.shape[2] - 1), (len(lanes) - 1, 1, 2)):
            place = registers[matrix, row, column], lanes[matrix, row, column], bits[matrix, row, column] // layout.element_bits
            assert (layout.matrix[place], layout.row[place], layout.column[place]) == (matrix, row, column)
        assert f"title=\"lane {lanes[0, 0, 0]}, register" in layout._repr_html_() and ">T0 r0<" in layout._repr_html_()
        assert str(layout).startswith(f"Operand {operand} of {layout.opcode}: ") and "Lane and register ->" in str(layout) and len(repr(layout)) < 150
    assert str(warpmat.layout("mma.m16n8k32.e4m3", "a")).startswith("Operand a of mma.sync.aligned.m16n8k32")
    with pytest.raises(ValueError, match="write more of one"):
        warpmat.layout("mma.m16n8k32.e4m3", "d")
    layout = warpmat.layout(F16, "a")
    registers = warpmat.registers.scatter(F16, "a", np.arange(256, dtype=np.uint16).reshape(16, 16))
    held = registers[layout.register, layout.lane] >> layout.bit.astype(np.uint32) & 0xFFFF
    assert np.array_equal(held, np.arange(256).reshape(16, 16))


def test_swizzles_and_descriptors():
    assert np.array_equal(warpmat.layouts.swizzle([0, 128, 144, 1024]), [0, 144, 128, 1024])
    rows = warpmat.layouts.memory_layout("swizzle<3,4,3>", 8, 64, 16)
    assert np.array_equal(rows, 8 * warpmat.layouts.swizzle(warpmat.layouts.memory_layout("rows", 8, 64, 16) // 8))
    descriptor = warpmat.layouts.MatrixDescriptor(start=1024, leading=16, stride=1024, swizzle=128)
    assert warpmat.layouts.MatrixDescriptor.decode(descriptor.encode()) == descriptor
    assert np.array_equal(descriptor.address(np.arange(16)[:, None], np.arange(0, 128, 16)),
                          1024 + warpmat.layouts.swizzle(128 * np.arange(16)[:, None] + np.arange(0, 128, 16)))


@pytest.mark.parametrize("fields, message", [
    ({"start": 1 << 18}, "start address 262144 does not fit a matrix descriptor, which takes multiples of 16 from 0 to 262128"),
    ({"leading": 8}, "leading byte offset 8 does not fit a matrix descriptor, which takes multiples of 16 from 0 to 262128"),
    ({"stride": -16}, "stride byte offset -16 does not fit a matrix descriptor, which takes multiples of 16 from 0 to 262128"),
    ({"base_offset": 8}, "a matrix descriptor's base offset is 0 to 7, not 8"),
    ({"swizzle": 48}, "48"),
])
def test_a_descriptor_refuses_what_its_64_bits_cannot_hold(fields, message):
    with pytest.raises(ValueError, match=message):
        warpmat.layouts.MatrixDescriptor(**fields)


def test_words_are_enumerations_too():
    a, b = np.ones((16, 16), np.float16), np.ones((16, 8), np.float16)
    for path in ("reference", options.Path.REFERENCE, options.Path("reference")):
        assert warpmat.mma(F16, "sm_90", a, b, path=path, undefined=options.Undefined.HARDWARE)[0, 0] == 16
    assert options.Path.FAST == "fast" and f"{options.Path.FAST}" == "fast"
    with pytest.raises(ValueError, match="there are 'fast' and 'reference'"):
        options.Path("quick")


@pytest.mark.parametrize("dtype", [">f2", ">f4", ">i4", ">u8", [("value", ">f4")]])
def test_another_byte_order_is_refused_wherever_an_array_comes_in(dtype):
    big = np.ones((16, 16), dtype)
    for call in (
        lambda: warpmat.mma(F16, "sm_90", big, np.ones((16, 8), np.float16)),
        lambda: warpmat.matmul(big, np.ones((16, 8), np.float16), card="H100"),
        lambda: warpmat.identify(big, big, big),
        lambda: warpmat.registers.execute(F16, "sm_90", {"a": big, "b": big, "c": big}),
        lambda: warpmat.registers.scatter(F16, "a", big),
        lambda: warpmat.registers.gather(F16, "a", big),
        lambda: warpmat.find("add.u32", "sm_90").execute({"a": big, "b": big}),
        lambda: warpmat.find("ldmatrix.sync.aligned.m8n8.x1.shared.b16", "sm_90").execute({"p": 0}, memory=big),
        lambda: warpmat.run("mov.b32 %r0, %r1;", "sm_90", {"%r1": big[0]}),
        lambda: warpmat.testing.assert_bits_equal(big, big),
    ):
        with pytest.raises((ValueError, TypeError), match="big-endian|given|is no format"):
            call()


def test_evidence_says_how_bits_are_known():
    found = warpmat.evidence.of(F16, "sm_90a")
    assert (found.label, found.hardware, found.machine) == ("measured", "sm_90", "HMMA.16816")
    assert found.at_least("replayed") and not warpmat.evidence.of(F16, "sm_121").at_least("replayed")
    assert "HMMA.16816" in found._repr_html_() and str(found) == found.line
    assert list(warpmat.evidence.Label) == _core.labels()
    assert set(warpmat.instructions.opcodes("sm_75")) < set(warpmat.instructions.opcodes()) and "sm_90a" in warpmat.instructions.targets()


@pytest.mark.parametrize("opcode, stride", [
    ("ldmatrix.sync.aligned.m8n8.x2.shared.b16", None), ("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", None),
    ("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16", 24), ("wmma.load.b.sync.aligned.col.m8n32k16.shared.s8", None),
    ("wmma.load.c.sync.aligned.col.m16n16k16.shared.f32", 20)])
def test_accesses_are_the_bytes_that_a_load_reads(rng, opcode, stride):
    p = 16 * rng.permutation(128)[:32].astype(np.uint32) if opcode.startswith("ldmatrix") else np.full(32, 64, np.uint32)
    operands = {"p": p[None, None]} if stride is None else {"p": p[None, None], "stride": stride}
    found = warpmat.registers.accesses(opcode, "sm_90", p, stride=stride)
    assert len(found) > 0 and not found["write"].any()
    listed = np.zeros(4096, bool)
    for access in found:
        listed[access["address"] : access["address"] + access["bytes"]] = True
    memory = rng.integers(0, 256, 4096).astype(np.uint8)
    plain = warpmat.registers.execute(opcode, "sm_90", operands, memory=memory)
    assert (warpmat.registers.execute(opcode, "sm_90", operands, memory=np.where(listed, memory, ~memory)) == plain).all()
    for byte in np.flatnonzero(listed):
        changed = memory.copy()
        changed[byte] ^= 0xFF
        assert (warpmat.registers.execute(opcode, "sm_90", operands, memory=changed) != plain).any()


def test_accesses_of_stores_other_instructions_and_wrong_addresses():
    store = "wmma.store.d.sync.aligned.row.m16n16k16.global.f32"
    base = np.uint64(0x7F00_0000_0000)
    found = warpmat.registers.accesses(store, "sm_90", base, stride=16)
    assert found["write"].all() and found["bytes"].sum() == 1024 and found["address"].min() == base
    assert ((found["address"] - base) // 64 == found["row"]).all() and found["address"].max() < base + np.uint64(1024)
    assert len(warpmat.registers.accesses(F16, "sm_90", 0)) == 0
    with pytest.raises(warpmat.errors.Trap, match="16-byte aligned"):
        warpmat.registers.accesses("ldmatrix.sync.aligned.m8n8.x1.shared.b16", "sm_90", np.full(32, 8))
    with pytest.raises(ValueError, match="it must be whole numbers"):
        warpmat.registers.accesses(store, "sm_90", np.zeros(16, np.uint32))
    with pytest.raises(ValueError, match="it must be whole numbers"):
        warpmat.registers.accesses(store, "sm_90", 0.5)


def test_opcodes_are_found_by_their_parts_and_by_names_of_sass():
    find = warpmat.instructions.find_opcode
    assert find("sm_90a", mnemonic="mma", shape="m16n8k16", d="f32", a="f16") == F16
    assert find("sm_75", mnemonic="ldmatrix", type="b16", shape="m8n8", number=4, trans=True, space="shared") == (
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"
    )
    assert find("sm_90a", mnemonic="wgmma.mma_async", shape="m64n96k16", a="bf16") == "wgmma.mma_async.sync.aligned.m64n96k16.f32.bf16.bf16"
    assert find("sm_100a", mnemonic="tcgen05.mma", kind="f16", cta_group=2, weights=False) == "tcgen05.mma.cta_group::2.kind::f16"
    assert find("sm_100a", mnemonic="tcgen05.ld", shape="32x32b", number=8, pack=True) == "tcgen05.ld.sync.aligned.32x32b.x8.pack::16b.b32"
    assert find("sm_103a", mnemonic="tcgen05.ld.red", shape="32x32b", number=2, type="f32", operation="max", absolute=True, nan=True) == (
        "tcgen05.ld.red.sync.aligned.32x32b.x2.max.abs.NaN.f32"
    )
    for arguments, message in [
        (dict(mnemonic="mma", shape="m16n8k16", a="f16"), "2 forms have these fields, .*say d"),
        (dict(mnemonic="mma", shape="m16n8k15", a="bf16"), "with another shape there is: m16n8k8, m16n8k16"),
        (dict(mnemonic="mam"), "mnemonic there is: .*mma"),
        (dict(mnemonic="wgmma.mma_async", shape="m64n8k16", a="f16", d="f32", satfinite=True), "with another satfinite there is: none"),
        (dict(mnemonic="tcgen05.cp", shape="64x128b", cta_group=1), r"say multicast \(warpx2::02_13, warpx2::01_23\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            find("sm_100a" if "tcgen05" in arguments["mnemonic"] else "sm_90a", **arguments)
    with pytest.raises(ValueError, match="the target is sm_90$"):
        find("sm_90", mnemonic="wgmma.mma_async", shape="m64n96k16", a="bf16")
    with pytest.raises(ValueError, match="unknown target"):
        find("sm_1", mnemonic="mma")
    assert warpmat.instructions.find_sass("HMMA.16816.F32", "sm_90a") == F16
    assert warpmat.instructions.find_sass("HGMMA.64x96x16.F32.BF16", "sm_90a") == "wgmma.mma_async.sync.aligned.m64n96k16.f32.bf16.bf16"
    with pytest.raises(ValueError, match="needs sm_90a; the target is sm_80"):
        warpmat.instructions.find_sass("HGMMA.64x96x16.F32.BF16", "sm_80")
    with pytest.raises(ValueError, match="no form is the one machine instruction"):
        warpmat.instructions.find_sass("HMMA.16816.F33", "sm_80")


def test_wmma_has_voltas_layout_on_sm_70_and_registers_move_by_it(rng):
    load = "wmma.load.a.sync.aligned.row.m16n16k16.f16"
    lanes = np.arange(16)[:, None] + np.zeros(16, np.int32)  # of each row: four of lane 0, then lane 16; rows 8 to 15 four lanes on
    lanes = lanes % 4 + lanes // 4 % 2 * 16 + lanes // 8 * 4
    volta, later = (warpmat.layout(load, "r", target) for target in ("sm_70", None))
    assert np.array_equal(volta.lane, lanes) and np.array_equal(volta.register, np.arange(16)[None, :] // 2 + np.zeros((16, 1)))
    assert volta.copies == 2 and not np.array_equal(volta.lane, later.lane)
    assert np.array_equal(later.lane, warpmat.layout(load, "r", "sm_90").lane)
    a = rng.standard_normal((16, 16)).astype(np.float16)
    registers = warpmat.registers.scatter(load, "r", a, target="sm_70")
    warpmat.testing.assert_bits_equal(warpmat.registers.gather(load, "r", registers, target="sm_70"), a)
    assert registers[0, 17] == a.view(np.uint16)[5, 0] | np.uint32(a.view(np.uint16)[5, 1]) << 16
    known = warpmat.evidence.of(load, "sm_70")
    assert (known.layout_label, known.layout_source) == ("published", "GPGPU-Sim, arXiv 1811.08309; wmma_extension")
    with pytest.raises(ValueError, match="needs sm_72"):
        warpmat.layout("wmma.load.a.sync.aligned.row.m16n16k16.s8", "r", "sm_70")


def _sparse(rng, m, k, group):
    """Where a sparse A has its elements: half of each group."""
    return (np.argsort(rng.random((m, k // group, group)), 2) < group // 2).reshape(m, k)


def _coded(numbers, format):
    return numbers.astype(np.int8) if format == "s8" else warpmat.encode(numbers, format)


SPARSE_PRODUCTS = [("A100", "mma.sp", format) for format in ("f16", "bf16", "tf32", "s8")] + [
    (card, f"{unit}.sp", format)
    for card, unit in (("H100", "wgmma"), ("B200", "tcgen05"), ("RTX 5090", "mma"))
    for format in ("f16", "bf16", "tf32", "e4m3", "e5m2", "s8")
]


@pytest.mark.parametrize("card, words, format", SPARSE_PRODUCTS)
def test_a_sparse_product_of_any_size_is_numpys_where_nothing_rounds(rng, card, words, format):
    step = warpmat.product(card, format, instruction=words).shape[2]
    m, n, k = 19, 13, 3 * step - 8
    numbers = rng.integers(-8, 8, (m, k)) * _sparse(rng, m, k, 2 if format == "tf32" else 4)
    b = rng.integers(-8, 8, (k, n))
    found = warpmat.matmul(_coded(numbers, format), _coded(b, format), card=card, instruction=words)
    assert found.shape == (m, n) and np.array_equal(found, numbers @ b)


@pytest.mark.parametrize("card, words, format", [case for case in SPARSE_PRODUCTS if case[1] in ("wgmma.sp", "tcgen05.sp")])
def test_a_sparse_unit_sums_the_stored_elements_as_a_dense_one(rng, card, words, format):
    """Each row by itself: its stored elements, and the rows of B that they meet, as a dense product."""
    m, n, k = 5, 9, 192
    places = _sparse(rng, m, k, 2 if format == "tf32" else 4)
    numbers = rng.integers(-128, 128, (m, k)) if format == "s8" else rng.standard_normal((m, k)) * np.exp2(rng.integers(-4, 4, (m, k)))
    b = rng.integers(-128, 128, (k, n)) if format == "s8" else rng.standard_normal((k, n))
    found = warpmat.matmul(_coded(numbers * places, format), _coded(b, format), card=card, instruction=words, jobs=1)
    rows = [warpmat.matmul(_coded(numbers[i : i + 1, at], format), _coded(b[at], format), card=card, instruction=words[:-3]) for i, at in enumerate(places)]
    warpmat.testing.assert_bits_equal(found, np.concatenate(rows))


def test_a_sparse_product_is_taken_apart_as_a_dense_one(rng):
    a, b = _coded(rng.standard_normal((20, 256)) * _sparse(rng, 20, 256, 4), "e4m3"), _coded(rng.standard_normal((256, 11)), "e4m3")
    call = {"card": "H100", "instruction": "sp"}
    halves = [warpmat.matmul(warpmat.Bits(a.codes[:, at], "e4m3"), warpmat.Bits(b.codes[at], "e4m3"), **call) for at in (slice(0, 128), slice(128, 256))]
    for order in ({"split_k": 2, "tile_k": 64}, {"promote_every": 2}):
        warpmat.testing.assert_bits_equal(warpmat.matmul(a, b, **call, **order), halves[0] + halves[1])
    assert not np.array_equal(warpmat.matmul(a, b, **call), halves[0] + halves[1])


@pytest.mark.parametrize("card", ["B200", "RTX 5090"])
@pytest.mark.parametrize("format, scale, block", [("e4m3", "ue8m0", 64), ("e2m1", "ue4m3", 32), ("e2m1", "ue8m0", 32)])
def test_a_sparse_product_has_scale_factors_of_twice_as_many_elements(rng, card, format, scale, block):
    x = _coded(rng.standard_normal((20, 256)) * np.repeat(_sparse(rng, 20, 128, 4), 2, 1), format)  # 4-bit elements come in pairs
    if format == "e4m3":
        x = _coded(rng.standard_normal((20, 256)) * _sparse(rng, 20, 256, 4), format)
    y = _coded(rng.standard_normal((256, 11)), format)
    of_x, of_y = (_coded(2.0 ** rng.integers(-3, 4, shape), scale) for shape in ((20, 256 // block), (256 // block, 11)))
    near = (x.values() * np.repeat(of_x.values(), block, 1)) @ (y.values() * np.repeat(of_y.values(), block, 0))
    np.testing.assert_allclose(warpmat.matmul(x, y, card=card, instruction="sp", scale_a=of_x, scale_b=of_y), near, rtol=1e-3, atol=1e-2)


def test_an_empty_sparse_product_is_zeros(rng):
    for m, n, k in ((0, 8, 32), (4, 0, 32), (4, 8, 0)):
        found = warpmat.matmul(np.zeros((m, k), np.float16), np.zeros((k, n), np.float16), card="H100", instruction="sp")
        assert found.shape == (m, n) and not found.any()


def test_one_sparse_warpgroup_instruction_is_what_registers_and_descriptors_give(rng):
    opcode = "wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e4m3"
    tile = "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32"
    a = warpmat.encode(rng.standard_normal((64, 64)) * _sparse(rng, 64, 64, 4), "e4m3")
    b = warpmat.encode(rng.standard_normal((64, 8)), "e4m3")
    stored, metadata = warpmat.storage.compress(tile, warpmat.Bits(a.codes.reshape(4, 16, 64), "e4m3"))
    registers = {"a": warpmat.registers.scatter(tile, "a", stored), "e": warpmat.registers.scatter(tile, "e", metadata)}
    descriptor = warpmat.layouts.MatrixDescriptor(start=0, leading=128, stride=512, swizzle=0)
    memory = np.ascontiguousarray(b.codes.T.reshape(8, 4, 16).transpose(1, 0, 2)).reshape(-1)
    given = {**registers, "b-desc": descriptor.encode(), "d": np.zeros((4, 4, 32), np.float32), "scale-d": True, "imm-scale-a": 1, "imm-scale-b": 1, "selector": 0}
    instruction = warpmat.find(opcode, "sm_90a")
    readable = {operand.name for operand in instruction.operands if operand.read}
    d = instruction.execute({name: value for name, value in given.items() if name in readable}, memory=memory)
    expected = warpmat.registers.gather(tile, "d", d.view(np.uint32)).reshape(64, 8)
    warpmat.testing.assert_bits_equal(warpmat.mma(opcode, "H100", a, b), expected)
    explained = warpmat.explain(opcode, "H100", a, b, row=37, column=5)
    assert explained.result == int(expected[37, 5].view(np.uint32))


def test_a_sparse_product_refuses_what_is_not_sparse():
    a, b = np.ones((16, 32), np.float16), np.ones((32, 8), np.float16)
    with pytest.raises(ValueError, match="row 0"):
        warpmat.matmul(a, b, card="A100", instruction="mma.sp")
    a[:, 2::4] = a[:, 3::4] = 0
    with pytest.raises(ValueError, match="sm_70 has no sparse mma"):
        warpmat.matmul(a, b, card="V100", instruction="mma.sp")
    with pytest.raises(ValueError, match="whole groups of 4"):
        warpmat.matmul(a, b, card="A100", instruction="mma.sp", split_k=2, tile_k=6)
    dense = np.zeros((18, 32), np.float16)
    dense[17, 4:7] = 1
    with pytest.raises(ValueError, match="row 17, group 1"):
        warpmat.matmul(dense, b, card="A100", instruction="sp")
