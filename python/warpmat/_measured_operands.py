"""The operands that libraries were measured with: drawn by a counter, so that a table needs to hold results alone. Needs only NumPy."""

from __future__ import annotations

from typing import Any, NamedTuple, Tuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
FIRST, SECOND, BIAS = 1, 2, 3  # which operand
QUERIES_KEYS_VALUES = 4, 5, 6


class _Float(NamedTuple):
    exponent_bits: int
    mantissa_bits: int
    dtype: str

    @property
    def bias(self) -> int:
        return (1 << (self.exponent_bits - 1)) - 1


_FLOATS = {
    "f16": _Float(5, 10, "u2"),
    "bf16": _Float(8, 7, "u2"),
    "f32": _Float(8, 23, "u4"),
    "tf32": _Float(8, 23, "u4"),  # float32, which the library rounds
    "f64": _Float(11, 52, "u8"),
    "e4m3": _Float(4, 3, "u1"),
    "e5m2": _Float(5, 2, "u1"),
}


def draw(format: str, operand: int, places: Array) -> Array:
    """Bit patterns of elements at `places` of an operand's memory: any mantissa and sign, exponents from 2^-3 to 2^2; of s8 any number."""
    words = _mix(places.astype(np.uint64) + np.uint64(operand * 0x9E3779B97F4A7C15 & (1 << 64) - 1))
    if format == "s8":
        return words.astype(np.uint8)
    f = _FLOATS[format]
    exponents = (words >> np.uint64(56)) % np.uint64(6) + np.uint64(f.bias - 3)
    signs = words >> np.uint64(55) & np.uint64(1)
    mantissas = words & np.uint64((1 << f.mantissa_bits) - 1)
    codes: Array = signs << np.uint64(f.exponent_bits + f.mantissa_bits) | exponents << np.uint64(f.mantissa_bits) | mantissas
    return codes.astype(f.dtype)


def _mix(x: Array) -> Array:
    """The finalizer of SplitMix64."""
    x = x * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return x ^ x >> np.uint64(31)


def sample(size: int) -> Array:
    """The rows or columns of a result whose elements are kept: all of 64, else the first 16 and 48 others."""
    if size <= 64:
        return np.arange(size)
    return np.concatenate([np.arange(16), np.unique(np.linspace(16, size - 1, 48).astype(int))])


def sample_heads(count: int) -> Array:
    """The heads of attention whose rows are kept: all of eight, else the first and the last."""
    return np.arange(count) if count <= 8 else np.array([0, count - 1])


def factors(a: str, b: str, layout: str, shape: Tuple[int, int, int]) -> Tuple[Array, Array]:
    """Bit patterns of the sampled rows of A and columns of B of a product (m, n, k)."""
    m, n, k = shape
    along_k = np.arange(k)
    columns = sample(n)[None, :] * k + along_k[:, None] if layout == "nt" else along_k[:, None] * n + sample(n)[None, :]
    return draw(a, FIRST, sample(m)[:, None] * k + along_k), draw(b, SECOND, columns)
