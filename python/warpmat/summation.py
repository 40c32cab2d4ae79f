"""The order in which a GEMM adds up products: what a library decides, and what decides bits as much as the matrix unit does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Callable, List, Optional, Tuple, Union

import numpy as np

from .formats import Array, ArrayLike, Bits, array_of, encode, find_format, numpy_dtype, to_numpy

__all__ = ["Summation"]

Range = Tuple[int, int]
#: Multiplies columns of A from `first` to `last` with those rows of B, on top of sums or nothing.
Multiply = Callable[[int, int, Optional[Array]], Array]


@dataclass(frozen=True)
class Summation:
    """How a GEMM makes one element of D from a row of A and a column of B.

    instruction: as product() takes it; "fma": one fused multiply-add of f32 for each element of K.
    split_k: parts of K that are summed apart. Parts are equally many whole tiles, but for the last. Their sums are added in ascending order.
    tile_k: elements of K in a tile; 0: a step of the instruction.
    residue_first: an incomplete tile is the first of its part (CUTLASS 2), instead of the last.
    promote_every: steps of the instruction after which sums move on to other f32 sums; None: never.
    workspace: the format that the sums of parts are rounded to before they are added.
    rounded: factors of f32 are rounded to the instruction's format, ties to even; a matrix unit by itself cuts them off.
    slices: of every tile, each summed by its own group of threads. Their sums are added in ascending order at the end of a part.
    """

    instruction: str
    split_k: int = 1
    tile_k: int = 0
    residue_first: bool = False
    promote_every: Optional[int] = None
    workspace: str = "f32"
    rounded: bool = False
    slices: int = 1

    def __str__(self) -> str:
        words = [self.instruction]
        if self.split_k > 1:
            words.append(f"K in {self.split_k} parts")
        if self.tile_k:
            words.append(f"tiles of {self.tile_k}")
        if self.slices > 1:
            words.append(f"each in {self.slices} slices")
        if self.residue_first:
            words.append("the incomplete tile first")
        if self.promote_every:
            words.append(f"promoted every {self.promote_every} steps")
        if self.workspace != "f32":
            words.append(f"parts rounded to {self.workspace}")
        if self.rounded:
            words.append("factors rounded")
        return ", ".join(words)


def parts_of(k: int, split_k: int, tile_k: int, residue_first: bool) -> List[List[Range]]:
    """The parts of K, each as the ranges that follow each other in its sums."""
    if not all(isinstance(each, (int, np.integer)) for each in (split_k, tile_k)) or split_k < 1 or tile_k < 1:
        raise ValueError(f"split_k is {split_k} and tile_k {tile_k}; both are numbers from 1 on")
    width = max(1, -(-(-(-k // tile_k)) // split_k)) * tile_k
    parts = [(first, min(k, first + width)) for first in range(0, k, width)] or [(0, 0)]
    return [_ranges(first, last, tile_k if residue_first else 0) for first, last in parts]


def _ranges(first: int, last: int, tile_k: int) -> List[Range]:
    residue = (last - first) % tile_k if tile_k else 0
    return [(first, first + residue), (first + residue, last)] if 0 < residue < last - first else [(first, last)]


def slices_of(ranges: List[Range], tile_k: int, slices: int) -> List[List[Range]]:
    """The slices of a part's tiles, each as the ranges that follow each other in its sums."""
    width = max(1, tile_k // slices)
    tiles = [(first, last) for start, last in ranges for first in range(start, last, tile_k)]
    pieces = [[(first + i * width, min(last, first + (i + 1) * width)) for first, last in tiles] for i in range(slices)]
    return [[(first, last) for first, last in each if first < last] or [(0, 0)] for each in pieces]


def sum_parts(parts: List[List[Range]], multiply: Multiply, c: Optional[Array], workspace: str = "f32") -> Array:
    """The sums of all parts, added in order; `c` is where the first begins."""
    total: Optional[Array] = None
    for ranges in parts:
        sums = c if total is None else None
        for first, last in ranges:
            sums = multiply(first, last, sums)
        assert sums is not None
        if len(parts) > 1 and workspace != "f32":
            sums = widened(rounded(sums, workspace))
        total = sums if total is None else add(total, sums)
    assert total is not None
    return total


def add(x: Array, y: Array) -> Array:
    """An ordinary addition, to nearest even. A NaN of f32 is the one that a GPU's FADD gives."""
    with np.errstate(all="ignore"):
        total: Array = x + y
    if total.dtype == np.float32:
        total.view(np.uint32)[np.isnan(total)] = 0x7FFFFFFF
    return total


def rounded(sums: Array, format: str) -> Union[Array, Bits]:
    """Sums as an epilogue stores them in `format`: to nearest, ties to even."""
    if sums.dtype == numpy_dtype(format):
        return sums
    if sums.dtype != np.float32 or find_format(format).integer:
        raise ValueError(f"sums of {sums.dtype} are not stored as {format}")
    if format == "f16":
        with np.errstate(over="ignore"):
            return sums.astype(np.float16)
    return array_of(encode(sums, format).codes, format)


def stored(sums: Array, bias: Optional[Array], format: str) -> Union[Array, Bits]:
    """What an epilogue makes of sums: `bias`, f32 numbers for the columns, is added, and the result is rounded once."""
    if bias is not None:
        sums = add(sums, np.broadcast_to(bias.astype(sums.dtype), sums.shape))
    return rounded(sums, format)


def widened(stored: Union[Array, Bits]) -> Array:
    """Stored numbers as f32."""
    numbers = stored.values() if isinstance(stored, Bits) else stored
    return np.asarray(numbers, np.float32)


def fused_parts(a: Array, b: Array, width: int) -> List[Array]:
    """The sums of parts of `width` elements of K: a fused multiply-add of f32 for each element in ascending order, as SIMT kernels and loops
    over fmaf have it."""
    m, k = a.shape
    parts = -(-k // width)
    rest = parts * width - k  # filled with zeros, which change no sum
    x = np.pad(a, ((0, 0), (0, rest))).astype(np.float64).reshape(m, parts, width)
    y = np.pad(b, ((0, rest), (0, 0))).astype(np.float64).reshape(parts, width, -1)
    sums: Array = np.zeros((parts, m, b.shape[1]), np.float32)
    with np.errstate(all="ignore"):
        for i in range(width):
            sums = _fused(x[:, :, i].T[:, :, None] * y[:, i, None, :], sums.astype(np.float64))
    return list(sums)


def fused_slices(a: Array, b: Array, width: int, tile_k: int, slices: int) -> List[Array]:
    """The same of parts of whole tiles whose slices are summed apart, and added in ascending order."""
    if slices == 1:
        return fused_parts(a, b, width)
    rest = -a.shape[1] % tile_k
    x = np.pad(a, ((0, 0), (0, rest))).reshape(len(a), -1, slices, tile_k // slices)
    y = np.pad(b, ((0, rest), (0, 0))).reshape(x.shape[1:] + (-1,))
    of_slice = -(-width // tile_k) * tile_k // slices
    sums = [fused_parts(x[:, :, i].reshape(len(a), -1), y[:, i].reshape(-1, b.shape[1]), of_slice) for i in range(slices)]
    return [reduce(add, of_part) for of_part in zip(*sums)]


def _fused(products: Array, sums: Array) -> Array:
    """f32 of exact products plus sums with one rounding: the f64 sum is rounded to odd first, so that the second rounding sees what was lost."""
    total: Array = products + sums
    other: Array = total - products
    lost = (products - (total - other)) + (sums - other)
    bits = total.view(np.int64)
    inexact = (lost != 0) & (bits & 1 == 0) & np.isfinite(total)
    odd = np.where(inexact, bits + np.where((lost > 0) == (total > 0), 1, -1), bits)
    return odd.view(np.float64).astype(np.float32)


def tf32_of(source: ArrayLike) -> Bits:
    """f32 rounded to tf32, ties to even, as libraries do before a matrix unit sees them."""
    return encode(np.asarray(to_numpy(source)), "tf32")


def is_f32(source: ArrayLike) -> bool:
    array = to_numpy(source)
    return not isinstance(array, Bits) and array.dtype == np.float32
