"""Attention as FlashAttention 2 computes it, by tiles of keys, and as torch's own operations do, in f32: product, softmax, product."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Tuple, Union

import numpy as np

from .formats import Array, Bits, array_of, codes_of
from .instructions import Instruction, find
from .products import matmul
from ._ordered_sums import sums_of
from .summation import Summation, rounded, widened

_LANES = 32
_LOG2_E = 1.4426950408889634074
_LARGEST_TILE = 128


def tile_of(depth: int) -> int:
    """Keys in a tile for heads of `depth` elements."""
    return _LARGEST_TILE if depth <= 64 else 64


def flash_attention(q: Union[Array, Bits], k: Union[Array, Bits], v: Union[Array, Bits], format: str, causal: bool) -> Union[Array, Bits]:
    """softmax(q k^T / sqrt(d)) v of one head, (s, d) of f16 or bf16. Tiles come last to first; each thread adds up the weights of its columns, and
    the four threads of a row add their sums at the end, over which the result is divided by a correctly rounded reciprocal."""
    keys, depth = codes_of(k, format).shape
    tile = tile_of(depth)
    scale = np.float32(np.float64(np.float32(1 / np.sqrt(depth))) * _LOG2_E)
    largest = np.full(keys, -np.inf, np.float32)
    sums: Array = np.zeros((keys, 4), np.float32)
    out: Array = np.zeros((keys, depth), np.float32)
    with np.errstate(invalid="ignore"):
        for first in reversed(range(0, keys, tile)):
            last = min(keys, first + tile)
            scores = _scores(q, k, first, last, format, causal)
            now = np.maximum(largest, scores.max(1))
            finite = np.where(np.isinf(now), np.float32(0), now)  # of a row without a key so far
            if first + tile < keys:
                factor = _ex2((largest - finite) * scale)[:, None]
                out, sums = out * factor, sums * factor
            weights = _weights(scores, finite, scale)
            sums = _add_columns(sums, weights)
            out = _product(rounded(weights[:, : last - first], format), _rows(v, first, last, format), out, format)
            largest = now
    pairs = sums + sums[:, [2, 3, 0, 1]]
    return rounded(out * (np.float32(1) / (pairs + pairs[:, [1, 0, 3, 2]])[:, :1]), format)


def math_attention(
    q: Union[Array, Bits], k: Union[Array, Bits], v: Union[Array, Bits], format: str, causal: bool, orders: Tuple[Summation, Summation]
) -> Union[Array, Bits]:
    """The same in f32: q and k are each scaled by a square root, `orders` are those of the two products, and the result is rounded once."""
    x, y, z = (widened(each) for each in (q, k, v))
    root = np.float32(np.sqrt(1 / np.sqrt(x.shape[1])))
    scores = sums_of(x * root, np.ascontiguousarray((y * root).T), orders[0], "sm_90a")
    return rounded(sums_of(_softmax(_masked(scores, 0) if causal else scores), z, orders[1], "sm_90a"), format)


def _softmax(scores: Array) -> Array:
    """Of each row, which a warp has: each lane adds every 32nd weight, and the lanes' sums are added by shuffles over 16, 8, 4, 2 and 1."""
    weights = _exp(scores - scores.max(1, keepdims=True))
    sums: Array = np.zeros((len(scores), _LANES), np.float32)
    for of_lanes in np.split(np.pad(weights, ((0, 0), (0, -weights.shape[1] % _LANES))), -(-weights.shape[1] // _LANES), axis=1):
        sums = sums + of_lanes
    for distance in (16, 8, 4, 2, 1):
        sums = sums + sums[:, np.arange(_LANES) ^ distance]
    shares: Array = weights / sums[:, :1]
    return shares


def _exp(x: Array) -> Array:
    """expf as nvcc compiles it: 2 to the whole part of x log2 e by bits, and to the fraction by ex2."""
    share = _fma("fma.rn.sat.f32", x, np.float32(_LOG2_E / 252), np.float32(0.5))
    whole = _fma("fma.rm.f32", share, np.float32(252), np.float32(12582913))  # in the lowest bits, plus 127
    fraction = _fma("fma.rn.f32", x, np.float32(_LOG2_E), np.float32(12583039) - whole)
    fraction = _fma("fma.rn.f32", x, np.float32(_LOG2_E - np.float64(np.float32(_LOG2_E))), fraction)
    return _ex2(fraction) * (whole.view(np.uint32) << np.uint32(23)).view(np.float32)


def _fma(opcode: str, a: Array, b: Any, c: Any) -> Array:
    return _lanes(opcode, a=a, b=np.broadcast_to(b, a.shape), c=np.broadcast_to(c, a.shape))


def _scores(q: Any, k: Any, first: int, last: int, format: str, causal: bool) -> Array:
    """q k^T for the keys of a tile, with -inf for what is masked, and for columns up to a whole number of eights."""
    columns = array_of(np.ascontiguousarray(codes_of(k, format)[first:last].T), format)
    scores = _product(q, columns, None, format)
    if causal:
        scores = _masked(scores, first)
    return np.pad(scores, ((0, 0), (0, -(last - first) % 8)), constant_values=-np.inf)


def _masked(scores: Array, first: int) -> Array:
    """Scores of keys from `first` on, with -inf for those behind each row's own key."""
    keys = first + np.arange(scores.shape[1])
    masked: Array = np.where(keys[None, :] > np.arange(len(scores))[:, None], np.float32(-np.inf), scores)
    return masked


def _weights(scores: Array, largest: Array, scale: np.float32) -> Array:
    return np.where(np.isinf(scores), np.float32(0), _ex2(scores * scale - (largest * scale)[:, None]))


def _add_columns(sums: Array, weights: Array) -> Array:
    """Each of four threads has two columns of each eight, and adds them in ascending order."""
    for eight in np.split(weights, weights.shape[1] // 8, axis=1):
        of_thread = eight.reshape(len(eight), 4, 2)
        sums = sums + of_thread[:, :, 0] + of_thread[:, :, 1]
    return sums


def _product(a: Any, b: Any, c: Any, format: str) -> Array:
    return matmul(a, b, c, card="sm_90", instruction=f"mma.m16n8k16.{format}")


def _rows(v: Any, first: int, last: int, format: str) -> Union[Array, Bits]:
    return array_of(codes_of(v, format)[first:last], format)


def _ex2(x: Array) -> Array:
    return _lanes("ex2.approx.ftz.f32", a=x)


@lru_cache(maxsize=None)
def _instruction(opcode: str) -> Instruction:
    return find(opcode, "sm_90")


def _lanes(opcode: str, **operands: Array) -> Array:
    """An instruction on arrays of one shape."""
    shape, size = operands["a"].shape, operands["a"].size
    filled = {name: np.pad(np.asarray(each, np.float32).ravel(), (0, -size % _LANES)).reshape(-1, _LANES) for name, each in operands.items()}
    found = _instruction(opcode).execute(filled)
    assert isinstance(found, np.ndarray)
    return found.ravel()[:size].reshape(shape)
