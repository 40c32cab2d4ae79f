"""For tests of kernels: results that must be equal bit for bit, and what is said where they are not."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

import numpy as np

from .evidence import of as evidence_of
from .explanations import explain_case
from .formats import FORMATS, Array, ArrayLike, Bits, decode, named_bits, to_numpy
from .instructions import targets
from .layouts import layout
from .products import mma

__all__ = ["assert_bits_equal", "assert_matches", "difference", "ulps"]

_named = {"float16": "f16", "float32": "f32", "float64": "f64"}


def assert_bits_equal(
    actual: ArrayLike, expected: ArrayLike, *, opcode: Optional[str] = None, operand: str = "d", most: int = 8
) -> None:
    """Raises AssertionError unless two arrays hold the same bits: NaNs with their payload, zeros with their sign.

    The message names the first `most` elements that differ: both values and bit patterns, the distance in units of the last place, and,
    where `opcode` says of which instruction's `operand` the last dimensions are the matrix, lane and register.
    """
    __tracebackhide__ = True
    text = difference(actual, expected, opcode=opcode, operand=operand, most=most)
    if text:
        raise AssertionError(text)


def difference(actual: ArrayLike, expected: ArrayLike, *, opcode: Optional[str] = None, operand: str = "d", most: int = 8) -> str:
    """The message of assert_bits_equal; empty where the bits are equal."""
    arrays = to_numpy(actual), to_numpy(expected)
    first, second = (named_bits(array) for array in arrays)
    if first is not None and second is not None and first.format == second.format:
        return _difference(first.codes, second.codes, first.format, opcode, operand, most)
    x, y = (array.codes if isinstance(array, Bits) else array for array in arrays)
    if x.dtype != y.dtype:
        return f"dtypes differ: {x.dtype}, expected {y.dtype}"
    return _difference(_unsigned(x), _unsigned(y), _named.get(x.dtype.name, x.dtype.name), opcode, operand, most)


def _unsigned(array: Array) -> Array:
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(array.shape)


def _difference(x: Array, y: Array, format: str, opcode: Optional[str], operand: str, most: int) -> str:
    if x.shape != y.shape:
        return f"shapes differ: {x.shape}, expected {y.shape}"
    wrong = np.argwhere(x != y)
    if not len(wrong):
        return ""
    lines = [f"{len(wrong)} of {x.size} elements differ"]
    for index in wrong[:most]:
        at = tuple(int(i) for i in index)
        lines.append(_element_text(at, int(x[at]), int(y[at]), format, x.dtype.itemsize) + _place_text(at, opcode, operand))
    if len(wrong) > most:
        lines.append("...")
    return "\n".join(lines)


def _element_text(at: Any, held: int, expected: int, format: str, size: int) -> str:
    digits = 2 * size
    values = ["", ""]
    if format in FORMATS:
        values = [f"{float(decode(code, format)):.9g} " for code in (held, expected)]
    text = f"{list(at)} is {values[0]}({held:#0{digits + 2}x}), expected {values[1]}({expected:#0{digits + 2}x})"
    distance = ulps(held, expected, format)
    return text if distance is None else f"{text}, {distance} ulp away"


def _place_text(at: Any, opcode: Optional[str], operand: str) -> str:
    if opcode is None:
        return ""
    where = layout(opcode, operand)
    index = at[len(at) - where.lane.ndim :]
    return f"; lane {where.lane[index]}, register {where.register[index]}, bit {where.bit[index]}"


def ulps(x: int, y: int, format: str) -> Optional[int]:
    """How many numbers of a floating-point format two bit patterns are apart; None where one is a NaN or the format has no exponent."""
    f = FORMATS.get(format)
    if f is None or f.integer or bool(np.isnan(decode([x, y], format)).any()):
        return None
    sign = 1 << (f.bits - 1) if f.signed else 0

    def place(code: int) -> int:
        return sign - code if code & sign else code

    return abs(place(x) - place(y))


def assert_matches(
    gpu_result: ArrayLike,
    *,
    opcode: str,
    target: str,
    a: ArrayLike,
    b: ArrayLike,
    c: Optional[ArrayLike] = None,
    require: Optional[str] = None,
    most: int = 8,
    **inputs: Any,
) -> None:
    """Raises AssertionError unless `gpu_result` has the bits that mma(opcode, target, a, b, c, **inputs) has.

    The message also says which other target gives these bits, if any, or that operand C was left out. For the first element that differs it
    says after which step that target, or a loop of f32 multiply-adds, differs from `target`. require: the weakest label that the expected
    bits may have ("measured", "replayed", ...); a weaker label is an AssertionError too.
    """
    __tracebackhide__ = True
    known = evidence_of(opcode, target)
    if require is not None and not known.at_least(require):
        raise AssertionError(f"the expected bits are not {require}: {known.line}")
    expected = mma(opcode, target, a, b, c, **inputs)
    text = difference(gpu_result, expected, opcode=opcode, most=most)
    if text:
        suspects = _suspects(gpu_result, opcode, target, a, b, c, inputs)
        raise AssertionError("\n".join([text, *suspects, known.line]))


def _suspects(gpu_result: ArrayLike, opcode: str, target: str, a: Any, b: Any, c: Any, inputs: Dict[str, Any]) -> List[str]:
    """Sentences about what gives these bits: other targets, with the step at which they part from `target`; or C left out."""
    others = []
    for other in targets():
        try:
            if other != target and not difference(gpu_result, mma(opcode, other, a, b, c, **inputs)):
                others.append(other)
        except ValueError:
            continue  # the target has no such form
    texts = [f"these are the bits of {', '.join(others)}"] if others else []
    if c is not None and not difference(gpu_result, mma(opcode, target, a, b, None, **inputs)):
        texts.append("these are the bits without C")
    return texts + _first_step(gpu_result, opcode, target, a, b, c, inputs, others[0] if others else "f32")


def _first_step(
    gpu_result: ArrayLike, opcode: str, target: str, a: Any, b: Any, c: Any, inputs: Dict[str, Any], against: str
) -> List[str]:
    """Where the first element that is wrong parts from what `against` computes, if that is what the GPU has given."""
    held, expected = (to_numpy(x) for x in (gpu_result, mma(opcode, target, a, b, c, **inputs)))
    if isinstance(held, Bits) or isinstance(expected, Bits) or held.shape != expected.shape or held.dtype != expected.dtype:
        return []
    codes = _unsigned(held)
    at = tuple(int(i) for i in np.argwhere(codes != _unsigned(expected))[0])
    try:
        found = explain_case(opcode, target, a, b, c, inputs, at, against)
    except ValueError:
        return []  # a loop in f32 is defined for some forms only
    if found.against is None or found.against.result != int(codes[at]):
        return []
    return [f"{list(at)}: {found.difference}"]
