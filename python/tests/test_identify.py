"""Orders of sums: what a library gave on a card, and whose bits a result has."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import warpmat
from warpmat.__main__ import main
from warpmat._attention import flash_attention
from warpmat._ordered_sums import sums_of
from warpmat.summation import Summation, fused_parts, parts_of, rounded

TORCH = warpmat.library("torch 2.11, H200")


def drawn(seed, shape, dtype):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) * np.exp2(rng.integers(-3, 3, shape))).astype(dtype)


def coded(seed, shape, format):
    return warpmat.encode(drawn(seed, shape, np.float32), format)


def known(operation):
    return [shape for shape, measured in TORCH.operations[operation].items() if measured.summation is not None]


def verified(operation, shapes):
    return [shape for shape in shapes if not TORCH.verify(operation, shape)] == []


# ---- What a library gave -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", TORCH.operations, ids="-".join)
def test_each_order_of_a_library_gives_the_bits_of_the_card(operation):
    smallest = {}
    for shape in sorted(known(operation), key=lambda shape: shape[2]):
        smallest.setdefault(TORCH.summation(operation, shape), shape)
    assert smallest and verified(operation, [shape for shape in smallest.values() if shape[2] <= 1024])


@pytest.mark.slow
@pytest.mark.parametrize("operation", TORCH.operations, ids="-".join)
def test_each_product_of_a_library_has_the_bits_of_the_card(operation):
    assert verified(operation, known(operation))


ATTENTIONS = [(call, shape) for call, shapes in TORCH.attentions.items() for shape, measured in shapes.items() if measured.checksum is not None]


def attention_case(call, shape):
    heads, length, _ = shape
    marks = [pytest.mark.slow] if min(heads, 8) * length > 130 else []
    return pytest.param(call, shape, marks=marks, id=f"{call.backend}-{call.format}-{'causal' if call.causal else 'all'}-{'x'.join(map(str, shape))}")


@pytest.mark.parametrize("call, shape", [attention_case(*each) for each in ATTENTIONS])
def test_attention_has_the_bits_of_the_card(call, shape):
    assert TORCH.verify_attention(call, shape)


def test_attention_of_other_shapes_and_backends_is_refused():
    q = np.ones((1, 16, 64), np.float16)
    assert TORCH.attention(q, q, q).shape == (1, 16, 64) and TORCH.attention(q, q, q, causal=True)[0, 0, 0] == 1
    with pytest.raises(LookupError, match="nothing follows"):
        TORCH.attention(q[:, :8], q[:, :8], q[:, :8])
    with pytest.raises(LookupError, match="not known"):
        TORCH.attention(q, q, q, backend="cudnn_attention")
    with pytest.raises(ValueError, match="must be the same"):
        TORCH.attention(q, q[:, :8], q)


def test_another_order_has_another_checksum():
    operation = warpmat.libraries.Operation("mm", "f16", "f16", "f32", "nt")
    split = next(shape for shape in known(operation) if TORCH.summation(operation, shape).split_k == 3)
    measured = TORCH.operations[operation][split]
    TORCH.operations[operation][split] = measured._replace(summation=replace(measured.summation, split_k=2))
    try:
        assert not TORCH.verify(operation, split)
    finally:
        TORCH.operations[operation][split] = measured


def test_a_library_multiplies_what_was_measured_and_nothing_else():
    a, b = drawn(1, (64, 4096), np.float16), drawn(2, (64, 4096), np.float16).T
    found = TORCH.matmul(a, b)
    assert found.dtype == np.float16
    parts = [warpmat.matmul(a[:, i : i + 1408], b[i : i + 1408], card="H200") for i in (0, 1408, 2816)]
    warpmat.testing.assert_bits_equal(found, (parts[0] + parts[1] + parts[2]).astype(np.float16))
    with pytest.raises(LookupError, match="nothing follows"):
        TORCH.matmul(a[:63], b)
    with pytest.raises(ValueError, match="cannot be multiplied"):
        TORCH.matmul(a[None], b)
    with pytest.raises(LookupError, match="not measured for mm f16 f16 f64"):
        TORCH.matmul(a, b, out="f64")
    with pytest.raises(LookupError, match="torch 2.11, H200"):
        warpmat.library("cuBLAS 9")


def test_an_order_that_is_unknown_is_called_so():
    operation, shape = next(
        (operation, shape) for operation, shapes in TORCH.operations.items() for shape, measured in shapes.items() if measured.summation is None
    )
    with pytest.raises(LookupError, match="not known"):
        TORCH.summation(operation, shape)


# ---- Orders --------------------------------------------------------------------------------------------------------------------------


def test_parts_are_whole_tiles_and_an_incomplete_one_may_be_first():
    assert parts_of(4096, 3, 64, False) == [[(0, 1408)], [(1408, 2816)], [(2816, 4096)]]
    assert parts_of(100, 1, 64, True) == [[(0, 36), (36, 100)]]
    assert parts_of(100, 1, 64, False) == [[(0, 100)]]
    assert parts_of(8, 4, 8, True) == [[(0, 8)]]
    with pytest.raises(ValueError, match="from 1 on"):
        parts_of(8, 0, 8, False)


def test_slices_of_tiles_are_summed_apart_and_added_at_the_end():
    a, b = drawn(21, (7, 100), np.float32), drawn(22, (100, 9), np.float32)
    for instruction, target in (("fma", "sm_90a"), ("mma.m16n8k8.tf32", "sm_80")):
        found = sums_of(a, b, Summation(instruction, tile_k=32, slices=4), target)
        along = [[k for k in range(100) if k % 32 // 8 == i] for i in range(4)]
        slices = [sums_of(np.ascontiguousarray(a[:, at]), np.ascontiguousarray(b[at]), Summation(instruction), target) for at in along]
        warpmat.testing.assert_bits_equal(found, ((slices[0] + slices[1]) + slices[2]) + slices[3])
    order = Summation("fma", tile_k=32, slices=4)
    (match,) = [each for each in warpmat.identify(sums_of(a, b, order, "sm_90a"), a, b, cards=["sm_80"]).matches]
    assert match.summation == order and "4 slices" in str(match)


def test_attention_of_many_tiles_leaves_out_keys_behind_the_row():
    q, k, v = (drawn(seed, (300, 64), np.float16) for seed in (31, 32, 33))
    whole = flash_attention(q, k, v, "f16", True)
    warpmat.testing.assert_bits_equal(whole[:40], flash_attention(q[:128], k[:128], v[:128], "f16", True)[:40])


def test_matmul_takes_the_order_apart():
    a, b = drawn(3, (20, 300), np.float16), drawn(4, (300, 24), np.float16)
    c = drawn(5, (20, 24), np.float32)
    chain = {"card": "H100"}
    second = warpmat.matmul(a[:, 192:236], b[192:236], **chain)
    second = warpmat.matmul(a[:, 236:], b[236:], second, **chain)
    found = warpmat.matmul(a, b, c, split_k=2, tile_k=64, residue_first=True, **chain)
    expected = warpmat.matmul(a[:, :192], b[:192], c, **chain) + second
    warpmat.testing.assert_bits_equal(found, expected)
    assert not np.array_equal(found, warpmat.matmul(a, b, c, split_k=2, tile_k=64, **chain))
    for wrong in ({"split_k": 0}, {"split_k": 2, "order": range(19)}, {"split_k": 2, "out": "f16"}, {"split_k": 2, "tile_k": -1}):
        with pytest.raises(ValueError):
            warpmat.matmul(a, b, **chain, **wrong)


def test_a_fused_chain_rounds_once_in_every_step():
    rng = np.random.default_rng(6)
    a = rng.integers(0, 2**32, (8, 12), np.uint32).view(np.float32)
    a = np.where(np.isfinite(a) & (np.abs(a) < 1e15) & (np.abs(a) > 1e-15), a, np.float32(1 + 2**-23)).astype(np.float32)
    b = np.ascontiguousarray(a.T[:, ::-1])
    (found,) = fused_parts(a, b, 12)
    for i in range(8):
        for j in range(8):
            total = np.float32(0)
            for k in range(12):
                total = nearest(Fraction(float(a[i, k])) * Fraction(float(b[k, j])) + Fraction(float(total)))
            assert found[i, j] == total


def nearest(exact):
    """The f32 nearest to a fraction, ties to even."""
    guess = np.float32(float(exact))
    around = [guess, np.nextafter(guess, np.float32(-np.inf)), np.nextafter(guess, np.float32(np.inf))]
    return min(around, key=lambda x: (abs(Fraction(float(x)) - exact), int(np.float32(x).view(np.uint32)) & 1))


# ---- Whose bits ----------------------------------------------------------------------------------------------------------------------

ORDERS = [
    ("sm_90a", "wgmma.f16", {}),
    ("sm_90a", "wgmma.f16", {"split_k": 3, "tile_k": 64}),
    ("sm_80", "mma.m16n8k16.f16", {"split_k": 2, "tile_k": 32}),
    ("sm_90", "mma.m16n8k16.bf16", {"tile_k": 64, "residue_first": True}),
    ("sm_90a", "wgmma.e4m3", {"promote_every": 4}),
    ("sm_90a", "wgmma.e4m3", {}),
    ("sm_89", "mma.m16n8k32.e4m3", {}),
    ("sm_100a", "tcgen05.e4m3", {"split_k": 4, "tile_k": 128}),
    ("sm_80", "mma.m16n8k8.tf32", {"rounded": True}),
    ("sm_90a", "fma", {"split_k": 5, "tile_k": 16}),
]


@pytest.mark.parametrize("store", ["f32", pytest.param("f16", marks=pytest.mark.slow)])
@pytest.mark.parametrize("target, instruction, order", ORDERS)
def test_a_result_is_identified(target, instruction, order, store):
    format = instruction.split(".")[-1]
    dtype = {"f16": np.float16, "tf32": np.float32, "fma": np.float32}.get(format)
    shapes = (24, 1000), (1000, 40)
    a, b = (drawn(seed, shape, dtype) if dtype else coded(seed, shape, format) for seed, shape in enumerate(shapes))
    made = Summation(instruction, **order)
    result = rounded(sums_of(a, b, made, target), store)
    found = warpmat.identify(result, a, b, cards=[target, "sm_80", "sm_89", "sm_90a", "sm_100a"])
    mine = [each for each in found.matches if instruction == "fma" or target in each.owners]
    assert mine, str(found)
    for each in found.matches:  # whatever is named gives these bits
        orders = {owner: each.summation_of(owner) for owner in each.owners} or {"": each.summation}
        for owner, order_of in orders.items():
            warpmat.testing.assert_bits_equal(rounded(sums_of(a, b, order_of, owner), store), result)
    if store == "f32":
        assert parts_of(1000, mine[0].summation.split_k, mine[0].summation.tile_k or 16, False) == parts_of(1000, made.split_k, made.tile_k or 16, False)
        assert mine[0].summation.promote_every == made.promote_every


def test_a_wrong_result_is_unknown_and_what_is_near_is_refuted_by_an_element():
    a, b = drawn(7, (32, 64), np.float16), drawn(8, (64, 32), np.float16)
    result = warpmat.matmul(a, b, card="H100")
    result[5, 7] = np.nextafter(result[5, 7], np.float32(np.inf))
    found = warpmat.identify(result, a, b, cards=["H100"])
    assert found.matches == [] and found.compared == 1024
    nearest_one = next(each for each in found.refuted if each.summation.instruction.startswith("wgmma"))
    assert nearest_one.refutation.at == (5, 7) and nearest_one.refutation.differ == 1
    assert "unknown" in str(found) and "[5, 7]" in str(found)


@pytest.mark.parametrize("card", ["A100", "RTX 4090", "H100", "RTX 5090"])
def test_one_element_decides_between_cards(card):
    """It is none of those that orders are tried with, in which all cards agree."""
    a, b = np.zeros((16, 16), np.float16), np.zeros((16, 16), np.float16)
    a[3, :3], b[:3, 7] = (2, 2, 2**-12), (1, -1, 2**-12)
    result = warpmat.matmul(a, b, card=card, instruction="mma.m16n8k16")
    found = warpmat.identify(result, a, b, cards=["RTX 5090", "RTX 4090", "H100", "A100"])
    target = warpmat.product(card, "f16", instruction="mma").target
    named = {owner for match in found.matches for owner in match.owners}
    assert target in named
    for other in ("A100", "RTX 4090", "H100", "RTX 5090"):
        same = np.array_equal(warpmat.matmul(a, b, card=other), result)
        assert same == (warpmat.product(other, "f16", instruction="mma").target in named), other


def test_a_bias_is_added_before_the_result_is_stored():
    a, b, bias = drawn(9, (32, 64), np.float16), drawn(10, (64, 32), np.float16), drawn(11, 32, np.float16)
    result = (warpmat.matmul(a, b, card="H100") + bias.astype(np.float32)).astype(np.float16)
    assert warpmat.identify(result, a, b, bias=bias, cards=["H100"]).matches
    assert not warpmat.identify(result, a, b, cards=["H100"]).matches


@pytest.mark.parametrize("result, a, b", [((3, 4), (3, 8), (9, 4)), ((3, 4), (4, 8), (8, 4)), ((0, 4), (0, 8), (8, 4)), ((3, 4, 1), (3, 8), (8, 4))])
def test_what_is_no_product_is_refused(result, a, b):
    with pytest.raises(ValueError):
        warpmat.identify(np.zeros(result, np.float32), np.zeros(a, np.float16), np.zeros(b, np.float16))


def test_the_command_reads_files(tmp_path, capsys):
    a, b = coded(12, (16, 64), "e4m3"), coded(13, (64, 16), "e4m3")
    files = [str(tmp_path / f"{name}.npy") for name in "dab"]
    for path, array in zip(files, (warpmat.matmul(a, b, card="H100"), a.codes, b.codes)):
        np.save(path, array)
    assert main(["identify", *files, "--formats", "f32,e4m3,e4m3", "--cards", "H100,RTX 4090"]) == 0
    assert "wgmma" in capsys.readouterr().out
    np.save(files[0], np.ones((16, 16), np.float32))
    assert main(["identify", *files, "--formats", "f32,e4m3,e4m3", "--cards", "H100"]) == 1
    for wrong in (["identify", *files], ["identify", *files, "--formats", "f32"], ["identify", "none.npy", *files[1:]], ["identify", *files, "--formats", "f32,f17,e4m3"]):
        assert main(wrong) == 2
        assert capsys.readouterr().err.startswith("warpmat: ")
