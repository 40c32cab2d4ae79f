"""The sums of a GEMM in the order that a Summation says."""

from __future__ import annotations

from functools import lru_cache, reduce
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from .formats import Array
from .products import matmul, product
from .summation import Range, Summation, add, fused_slices, parts_of, slices_of, sum_parts, tf32_of

#: Sums of parts that were made before of the same factors.
Made = Dict[Tuple[Tuple[Range, ...], Optional[int], bool], Array]


def sums_of(a: Any, b: Any, summation: Summation, target: str, made: Optional[Made] = None) -> Array:
    """The sums before an epilogue, in f32, f64 or s32. a: (m, k), b: (k, n). `made` keeps the sums of parts, which many orders share."""
    parts = parts_in(np.shape(b)[0], summation, target)
    if summation.instruction == "fma":
        first, last = parts[0][0]
        return _total(fused_slices(a, b, last - first, max(1, summation.tile_k), summation.slices), summation)
    x, y = (tf32_of(a), tf32_of(b)) if summation.rounded else (a, b)

    def multiply(first: int, last: int, c: Optional[Array]) -> Array:
        return matmul(
            x[:, first:last],
            y[first:last],
            c,
            card=target,
            instruction=summation.instruction,
            promote_every=summation.promote_every,
            jobs=1 if made is not None else None,
        )

    def chain(ranges: List[Range]) -> Array:
        if made is None:
            return sum_parts([ranges], multiply, None)
        known = tuple(ranges), summation.promote_every, summation.rounded
        if known not in made:
            made[known] = sum_parts([ranges], multiply, None)
        return made[known]

    def part(ranges: List[Range]) -> Array:
        if summation.slices == 1:
            return chain(ranges)
        return reduce(add, (chain(each) for each in slices_of(ranges, summation.tile_k, summation.slices)))

    return _total([part(ranges) for ranges in parts], summation)


def parts_in(k: int, summation: Summation, target: str) -> List[List[Range]]:
    """The parts of K: an order without tiles has the instruction's steps."""
    return parts_of(k, summation.split_k, summation.tile_k or _step(summation.instruction, target), summation.residue_first)


def _total(parts: List[Array], summation: Summation) -> Array:
    return sum_parts([[(i, i)] for i in range(len(parts))], lambda i, _, c: parts[i], None, summation.workspace)


@lru_cache(maxsize=None)
def _step(instruction: str, target: str) -> int:
    return 1 if instruction == "fma" else product(target, instruction=instruction).shape[2]
