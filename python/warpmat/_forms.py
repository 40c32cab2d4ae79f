"""Forms of instructions as the public modules need them: their operands' places, and arrays as their bit patterns."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from ._environment import _core
from .formats import Array, ArrayLike, Bits, codes_of, numpy_dtype, to_numpy

Ids = Tuple[int, int]


class _Place(NamedTuple):
    """An operand of a form: its format, the shape of its matrices, and NumPy's dtype of the format."""

    name: str
    format: str
    shape: Tuple[int, ...]
    dtype: "np.dtype[Any]"


class _Prepared(NamedTuple):
    """An instruction and what a call needs to know of it."""

    instruction: _core.Instruction
    form: _core.Form
    places: Dict[str, _Place]
    sums: "np.dtype[Any]"
    extra: FrozenSet[str]  # those of e, scale-a, scale-b that the form has


def _plain_format(bits: int) -> str:
    """A name for elements without a format, which are bits alone."""
    return f"x{bits}"


def _place(operand: _core.Operand) -> _Place:
    shape: Tuple[int, ...] = (operand.rows, operand.columns)
    if operand.name in ("e", "scale-a", "scale-b"):
        pass  # the selector or the ids choose one of the matrices
    elif operand.matrices > 1:
        shape = (operand.matrices,) + shape
    format = operand.format or _plain_format(operand.payload_bits)
    return _Place(operand.name, format, shape, numpy_dtype(format))


@lru_cache(maxsize=None)
def _prepared(opcode: str, target: str) -> _Prepared:
    instruction = _core.Instruction(_core.opcode_meant(opcode), target)
    form = instruction.form
    places = {o.name: _place(o) for o in form.operands if o.kind == "fragment"}
    sums = numpy_dtype(places["d"].format) if form.multiplies else np.dtype(np.uint32)
    return _Prepared(instruction, form, places, sums, frozenset(places) & {"e", "scale-a", "scale-b"})


@lru_cache(maxsize=None)
def _anywhere(opcode: str, target: Optional[str] = None) -> _Prepared:
    """The same on `target`; without one on the newest that has the form: layouts are the same on all but sm_70, which has its own of wmma."""
    if target is not None:
        return _prepared(_core.find_form(_core.opcode_meant(opcode)).opcode, target)
    form = _core.find_form(_core.opcode_meant(opcode))
    for target in reversed(_core.targets()):
        try:
            return _prepared(form.opcode, target)
        except ValueError:
            continue
    raise ValueError(f"no target has {opcode}")


def _codes(source: ArrayLike, place: _Place) -> Array:
    if type(source) is np.ndarray and source.dtype == place.dtype:
        return source
    if place.format.startswith("x"):
        array = to_numpy(source)
        if isinstance(array, Bits):
            return array.codes
        wanted = np.dtype(f"u{max(1, int(place.format[1:]) // 8)}")
        if array.dtype.itemsize != wanted.itemsize:
            raise TypeError(f"{place.name} is {array.dtype}; its elements are {place.format[1:]} bits: {wanted}")
        return array.view(wanted)
    return codes_of(source, place.format, place.name)


def checked_card(card: object) -> str:
    """A card or target is a text; pybind's error would list the constructors of a class that nobody knows."""
    if not isinstance(card, str):
        raise TypeError(f'a card or target is a text such as "H100", not {card!r}')
    return card


def together(shapes: Mapping[str, Tuple[int, ...]]) -> Tuple[int, ...]:
    """The leading dimensions that all arrays together have."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        texts = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"the leading dimensions do not fit together: {texts}") from None


def _check_jobs(jobs: Optional[int], cases: int) -> int:
    """Threads for `cases` cases: without `jobs` all cores where that pays."""
    if jobs is None:
        return 0 if cases > 512 else 1
    if jobs < 1:
        raise ValueError(f"jobs is {jobs}; 1 or more would be right, or None for all cores")
    return jobs


def _batch(arrays: Mapping[str, Array], places: Mapping[str, _Place]) -> Tuple[int, ...]:
    """The leading dimensions that all arrays together have."""
    for name, array in arrays.items():
        if array.shape != places[name].shape:
            break
    else:
        return ()
    for name, array in arrays.items():
        shape = places[name].shape
        if array.ndim < len(shape) or array.shape[array.ndim - len(shape) :] != shape:
            raise ValueError(f"{name} has the shape {array.shape}; it must end with {shape}")
    return together({name: array.shape[: array.ndim - len(places[name].shape)] for name, array in arrays.items()})


def _flat(array: Array, batch: Tuple[int, ...], inner: Tuple[int, ...]) -> Array:
    """The array with its leading dimensions as one, or without one where it has a single case for all."""
    if array.ndim == len(inner):
        return array
    if array.size == int(np.prod(inner)):
        return array.reshape(inner)
    return np.broadcast_to(array, batch + inner).reshape((-1,) + inner)


def find_place(prepared: _Prepared, operand: str) -> _Place:
    if operand not in prepared.places:
        raise ValueError(f"{prepared.form.opcode} has no matrix '{operand}': there are {', '.join(prepared.places)}")
    return prepared.places[operand]
