"""The number formats of the matrix instructions, and how arrays hold them.

NumPy has dtypes for f64, f32 (and tf32, whose low 13 bits the hardware ignores), f16 and the integers. Elements of the others are
ml_dtypes' where an array has such a dtype, or bit patterns: unsigned integers as wide as the smallest that holds one element, by
themselves where an operand says the format, else as a Bits with the format's name. Results are arrays of ml_dtypes where that package is
installed, else Bits.
"""

from __future__ import annotations

import importlib
from functools import lru_cache
from typing import Any, Dict, NamedTuple, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._environment import _core

__all__ = ["FORMATS", "Bits", "Format", "decode", "encode", "find_format", "format_of"]

Array = npt.NDArray[Any]


class Format(NamedTuple):
    """One format: its name as PTX spells it, and its fields' widths. exponent_bits is 0 for integers."""

    name: str
    bits: int
    signed: bool
    exponent_bits: int
    fraction_bits: int
    has_nan: bool

    @property
    def integer(self) -> bool:
        return self.exponent_bits == 0

    @property
    def codes(self) -> "np.dtype[Any]":
        """The dtype of bit patterns."""
        return np.dtype(np.uint8 if self.bits <= 8 else np.uint16 if self.bits <= 16 else np.uint32 if self.bits <= 32 else np.uint64)


FORMATS: Dict[str, Format] = {row[0]: Format(*row) for row in _core.formats()}

# NumPy's own dtypes whose bytes are the bit patterns.
_numpy: Dict[str, "np.dtype[Any]"] = {
    "f64": np.dtype(np.float64),
    "f32": np.dtype(np.float32),
    "tf32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "s32": np.dtype(np.int32),
    "s8": np.dtype(np.int8),
    "u8": np.dtype(np.uint8),
}
_NO_DTYPE = np.dtype("V1")  # means "none" in comparisons, because None means float64 there
# The dtypes of the package ml_dtypes and of torch, by name.
_by_name: Dict[str, str] = {
    "bfloat16": "bf16",
    "float8_e4m3fn": "e4m3",
    "float8_e5m2": "e5m2",
    "float6_e3m2fn": "e3m2",
    "float6_e2m3fn": "e2m3",
    "float4_e2m1fn": "e2m1",
    "float8_e8m0fnu": "ue8m0",
    "int4": "s4",
    "uint4": "u4",
}


class Bits:
    """Bit patterns of elements of a named format for which NumPy has no dtype.

    codes: unsigned integers, one for each element. format: PTX's name, "e4m3". values(): the numbers as float64.
    """

    def __init__(self, codes: npt.ArrayLike, format: str) -> None:
        f = find_format(format)
        array = np.asarray(codes)
        if array.dtype.kind not in "ui":
            raise TypeError(f"bit patterns of {format} are {f.codes}; {array.dtype} given (warpmat.encode rounds numbers)")
        if array.dtype != f.codes:
            if array.size and (int(array.min()) < 0 or int(array.max()) >> f.bits):
                raise ValueError(f"a bit pattern of {format} has {f.bits} bits: 0 to {(1 << f.bits) - 1:#x}")
            array = array.astype(f.codes)
        self.codes: Array = array
        self.format = format

    @property
    def shape(self) -> Tuple[int, ...]:
        return tuple(self.codes.shape)

    def values(self) -> npt.NDArray[np.float64]:
        """The elements as float64, which represents every format exactly except the payload of a NaN."""
        return decode(self.codes, self.format)

    @property
    def array(self) -> Array:
        """The same elements as an array of the package ml_dtypes; ImportError where that is not installed, or has no such dtype."""
        dtype = _ml_dtype(self.format)
        if dtype is None:
            raise ImportError(f"the package ml_dtypes is not installed, or has no {self.format}")
        return self.codes.view(dtype)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Array:
        return self.values().astype(dtype or np.float64)

    def __getitem__(self, index: Any) -> "Bits":
        return Bits(self.codes[index], self.format)

    def __repr__(self) -> str:
        return f"Bits({self.values()!r}, {self.format!r})"


ArrayLike = Union[npt.ArrayLike, Bits, Any]


def find_format(name: str) -> Format:
    """The format of that name; ValueError names those that exist."""
    try:
        return FORMATS[name]
    except KeyError:
        raise ValueError(f"unknown format '{name}': there are {', '.join(FORMATS)}") from None


def format_of(source: ArrayLike, what: str = "the array") -> str:
    """The format that the elements of an array say by their dtype: "f16" of float16, "e4m3" of ml_dtypes' float8_e4m3fn or a Bits. float32 is
    no format of factors: TypeError, as for dtypes that say none."""
    array = to_numpy(source)
    if isinstance(array, Bits):
        return array.format
    dtype = array.dtype
    named = _by_name.get(dtype.name) or next((name for name, own in _numpy.items() if own == dtype and dtype != np.float32), None)
    if named is None:
        tip = 'instruction="tf32" multiplies its upper 19 bits' if dtype == np.float32 else f'warpmat.encode({what}, "e4m3") rounds numbers'
        raise TypeError(f"{what} is {dtype}, which is no format of a matrix instruction's factors: {tip}")
    return named


def encode(values: ArrayLike, format: str) -> Bits:
    """Numbers rounded to `format`, ties to even. Numbers beyond the range become infinity, or the largest number where the format has no infinity."""
    f = find_format(format)
    array = np.asarray(values, dtype=np.float64)
    if not f.has_nan and bool(np.isnan(array).any()):
        raise ValueError(f"{format} has no NaN")
    return Bits(_core.encode(format, array.ravel()).astype(f.codes).reshape(array.shape), format)


def decode(codes: npt.ArrayLike, format: str) -> npt.NDArray[np.float64]:
    """The numbers of bit patterns of `format`, as float64."""
    find_format(format)
    array = np.asarray(codes)
    return _core.decode(format, array.ravel().astype(np.uint64)).reshape(array.shape)


def codes_of(source: ArrayLike, format: str, what: str = "the array") -> Array:
    """The elements of `source` for a place of format `format`: an array whose bytes are their bit patterns, without a copy where
    the dtype allows it. Never rounds: a number that the format does not hold is a ValueError that names it."""
    f = FORMATS[format]
    native = _numpy.get(format, _NO_DTYPE)
    if type(source) is np.ndarray and source.dtype == native:
        return source
    array = to_numpy(source)
    named = named_bits(array)
    if named is not None:
        if named.format != format:
            raise TypeError(f"{what} holds {named.format}; it must be {format}")
        return named.codes
    assert not isinstance(array, Bits)
    if array.dtype == native:
        return array
    if f.integer:
        return _integer_codes(array, f, what)
    if array.dtype == f.codes:
        return _checked_codes(array, f, what)
    if array.dtype.kind == "f":
        return _exact_codes(array, f, what)
    if array.dtype.kind == "b" or (array.dtype.kind in "iu" and not isinstance(source, np.ndarray)):  # numbers as literals
        return _exact_codes(array.astype(np.float64), f, what)
    raise TypeError(f"{what} is {array.dtype}, which is neither {format} nor its bit patterns ({f.codes}) nor floating-point numbers")


def array_of(codes: Array, format: str) -> Union[Array, Bits]:
    """Bit patterns as an array of NumPy's dtype of the format, else of ml_dtypes' where that is installed, else as a Bits."""
    if format in _numpy:
        return codes.view(_numpy[format])
    if format == "s4":
        return ((codes.astype(np.int8) ^ 8) - 8).astype(np.int8)
    if format in ("u4", "b1"):
        return codes
    dtype = _ml_dtype(format)
    return Bits(codes, format) if dtype is None else codes.view(dtype)


@lru_cache(maxsize=None)
def _ml_dtype(format: str) -> "Optional[np.dtype[Any]]":
    """The dtype that the package ml_dtypes has for a format; None where it has none or is not installed."""
    try:
        package = importlib.import_module("ml_dtypes")
    except ImportError:
        return None
    for name, found in _by_name.items():
        if found == format and hasattr(package, name):
            return np.dtype(getattr(package, name))
    return None


def named_bits(array: Union[Array, Bits]) -> Optional[Bits]:
    """The elements of an array of ml_dtypes' as a Bits, without a copy but of 4-bit integers, which such arrays hold sign-extended; None of
    other arrays."""
    if isinstance(array, Bits):
        return array
    format = _by_name.get(array.dtype.name)
    if format is None:
        return None
    f = FORMATS[format]
    codes = array.view(f.codes)
    return Bits(codes & np.uint8((1 << f.bits) - 1) if f.integer else codes, format)


def numpy_dtype(format: str) -> "np.dtype[Any]":
    """NumPy's own dtype of a format; one that no array of numbers has where it has none."""
    return _numpy.get(format, _NO_DTYPE)


def to_numpy(source: Any) -> Union[Array, Bits]:
    """An array that shares the memory of `source` where that is on the CPU: NumPy's, torch's tensors, whatever has __dlpack__ or
    __array__; lists are copied. ValueError for another byte order than the machine's."""
    if isinstance(source, Bits):
        return source
    if isinstance(source, np.ndarray):
        return _native(source)
    if type(source).__module__.partition(".")[0] == "torch":
        return _from_torch(source)
    if hasattr(source, "__dlpack__") and not hasattr(source, "__array__"):
        return _from_dlpack(source)
    try:
        return _native(np.asarray(source))
    except ValueError as error:
        if "inhomogeneous" in str(error):
            raise ValueError("a list's rows have different lengths, which makes no matrix") from None
        raise


def _native(array: Array) -> Array:
    if not array.dtype.isnative:
        raise ValueError(f"an array is big-endian ({array.dtype}): array.astype(array.dtype.newbyteorder('=')) is not")
    return array


def _from_dlpack(source: Any) -> Array:
    kind, number = source.__dlpack_device__()
    if int(kind) != 1:  # kDLCPU
        raise TypeError(f"an array lies on device {number} of DLPack's kind {int(kind)}: bring it to the CPU's memory")
    try:
        array = np.from_dlpack(source)
    except (BufferError, RuntimeError, TypeError) as error:
        raise TypeError(f"NumPy takes no such array by __dlpack__ ({error}): pass bit patterns, warpmat.Bits(codes, format)") from None
    before_2_1 = tuple(map(int, np.__version__.split(".")[:2])) < (2, 1)
    return np.asarray(_Writable(array)) if before_2_1 else array


class _Writable:
    """The memory of an array that came by __dlpack__: older NumPys do not know that it may be written to, and what may not is not exported."""

    def __init__(self, array: Array) -> None:
        self._array = array  # keeps it alive
        self.__array_interface__ = {**array.__array_interface__, "data": (array.__array_interface__["data"][0], False)}


def _from_torch(tensor: Any) -> Union[Array, Bits]:
    import torch

    tensor = tensor.detach().cpu()
    named = _by_name.get(str(tensor.dtype).partition(".")[2])
    if named is None:
        array: Array = tensor.numpy()
        return array
    f = FORMATS[named]
    array = tensor.view(torch.int16 if f.bits == 16 else torch.uint8).numpy().view(f.codes)
    return Bits(array, named)


def _integer_codes(array: Array, f: Format, what: str) -> Array:
    if array.dtype.kind == "b":
        array = array.view(np.uint8)
    if array.dtype == f.codes and (f.signed or f.bits == 8):
        return _checked_codes(array, f, what)  # bit patterns
    if array.dtype.kind == "f" and bool((array == np.floor(array)).all()):
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{what} is {array.dtype}; {f.name} holds whole numbers")
    least, largest = (-(1 << (f.bits - 1)), (1 << (f.bits - 1)) - 1) if f.signed else (0, (1 << f.bits) - 1)
    if array.size and (int(array.min()) < least or int(array.max()) > largest):
        wrong = np.argwhere((array < least) | (array > largest))[0]
        raise ValueError(f"{what}{list(map(int, wrong))} is {array[tuple(wrong)]}; {f.name} holds {least} to {largest}")
    return array.astype(f.codes)


def _checked_codes(array: Array, f: Format, what: str) -> Array:
    if f.bits < 8 * array.dtype.itemsize and array.size and int(array.max()) >> f.bits:
        raise ValueError(f"{what} holds {int(array.max()):#x}; a bit pattern of {f.name} has {f.bits} bits")
    return array


def _exact_codes(array: Array, f: Format, what: str) -> Array:
    numbers = array.astype(np.float64)
    nan = np.isnan(numbers)
    if bool(nan.any()) and not f.has_nan:
        raise ValueError(f"{what} holds NaN, which {f.name} has not")
    codes = _core.encode(f.name, numbers.ravel()).reshape(numbers.shape)
    back = _core.decode(f.name, codes.ravel()).reshape(numbers.shape)
    wrong = np.argwhere((back != numbers) & ~nan)
    if len(wrong):
        at = tuple(int(i) for i in wrong[0])
        raise ValueError(f"{what}{list(at)} is {numbers[at]!r}, which {f.name} does not hold: warpmat.encode(array, '{f.name}') rounds")
    return codes.astype(f.codes)
