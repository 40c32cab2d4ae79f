"""How one element of a result comes about, step by step."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np
import numpy.typing as npt

from ._environment import _core
from .formats import Array, ArrayLike, decode
from ._forms import Ids, _anywhere, _batch, _codes, _prepared, _Prepared
from .products import _product, _product_arrays
from .registers import _operand, _registers, _split
from .storage import compress_whole

__all__ = ["Explanation", "explain"]


@dataclass(frozen=True)
class Explanation:
    """One element of a result as the reference computes it, with the steps of that computation.

    target: "sm_90a", or "f32 on a CPU". opcode, operand, matrix, row, column, lane, register, bit: which element of what.
    result: its bits. format: theirs, None of an instruction that moves bits alone. machine: the machine instructions. label, source: how
    the bits are known; None of a loop in f32. steps: what is added up, fields as docs/use/explain.md says them; empty where `move` says
    from where to where an element goes. against: the same element as another GPU or a loop in f32 computes it; parting: the steps of the
    two, from 0, after which their sums differ, or None; difference: the same in words. text: all of it for people, which str() gives.
    """

    target: str
    opcode: str
    operand: str
    matrix: int
    row: int
    column: int
    lane: int
    register: int
    bit: int
    result: int
    format: Optional[str]
    machine: str
    label: Optional[str]
    source: Optional[str]
    steps: List[Dict[str, Any]]
    move: Optional[Dict[str, Any]]
    against: Optional["Explanation"]
    parting: Optional[Tuple[int, int]]
    difference: Optional[str]
    text: str
    html: str

    @property
    def value(self) -> Optional[float]:
        """`result` as a number; None where there is no format."""
        return None if self.format is None else float(decode(self.result, self.format))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Explanation of {self.operand}[{self.row}, {self.column}] of {self.opcode} as {self.target}: {self.result:#x}>"

    def _repr_html_(self) -> str:
        return self.html


def made(found: _core.ExplanationTuple) -> Explanation:
    """From what the module _core gives."""
    text_of_json, text, html, difference, other = found
    fields: Dict[str, Any] = json.loads(text_of_json)
    parting = fields.get("parting")
    same = ("opcode", "operand", "matrix", "row", "column", "lane", "register", "bit", "format", "machine")
    return Explanation(
        **{name: fields[name] for name in same},
        target=fields["as"],
        result=int(fields["result"], 16),
        label=fields.get("label"),
        source=fields.get("source"),
        steps=fields.get("steps", []),
        move=fields.get("move"),
        against=None if other is None else made(other),
        parting=None if parting is None else (parting["step"], parting["step_against"]),
        difference=difference,
        text=text,
        html=html,
    )


def explain(
    opcode: str,
    target: str,
    a: Optional[ArrayLike] = None,
    b: Optional[ArrayLike] = None,
    c: Optional[ArrayLike] = None,
    *,
    row: int,
    column: int,
    matrix: int = 0,
    against: Optional[str] = None,
    metadata: Optional[ArrayLike] = None,
    selector: int = 0,
    scale_a: Optional[ArrayLike] = None,
    scale_b: Optional[ArrayLike] = None,
    ids_a: Ids = (0, 0),
    ids_b: Ids = (0, 0),
    operands: Optional[Mapping[str, Any]] = None,
    memory: Optional[npt.ArrayLike] = None,
    undefined: str = "trap",
) -> Explanation:
    """How the element (row, column) of a result is computed: which products are added in one step, what is cut, how the sum is rounded.

    Matrices as mma takes them, of one case; or `operands` and `memory`, registers as execute takes them, of any matrix instruction. Of wgmma
    the explanation is that of a tile, 16 rows by 8 columns, and its row and column are the tile's.
    matrix: which of several matrices of the result. against: another target to compare with, or "f32" for a loop of multiply-adds as on a
    CPU. Raises as mma and execute do.
    """
    if opcode.startswith("wgmma."):
        if a is None or b is None or operands is not None:
            raise ValueError(f"{opcode} is explained on matrices a and b")
        return _explain_tile(_product(opcode, target), a, b, c, (row, column), against, undefined)
    prepared = _prepared(opcode, target)
    if operands is None:
        if a is None or b is None:
            raise ValueError(f"{prepared.form.opcode} is explained on matrices a and b, or on operands={{...}}, its registers")
        arrays = _product_arrays(prepared, a, b, c, metadata, scale_a, scale_b)
        words = _words_of_matrices(prepared, arrays, selector, ids_a, ids_b)
    elif a is not None or b is not None or c is not None:
        raise ValueError("matrices a, b and c or operands, not both")
    else:
        words = _words_of_registers(prepared, operands)
    raw = None if memory is None else np.ascontiguousarray(memory, np.uint8).reshape(-1)
    return made(prepared.instruction.explain(words, raw, (matrix, row, column), against or "", undefined))


def _explain_tile(
    found: _core.Product, a: ArrayLike, b: ArrayLike, c: Optional[ArrayLike], at: Tuple[int, int], against: Optional[str], undefined: str
) -> Explanation:
    """The element `at` of a product that consists of tiles: of that one in which it lies."""
    prepared = _anywhere(found.tile.opcode)
    m, n, _ = found.tile.shape
    top, left = at[0] // m * m, at[1] // n * n
    rows, columns = slice(top, top + m), slice(left, left + n)
    parts = {"a": (a, (rows, slice(None))), "b": (b, (slice(None), columns)), "c": (c, (rows, columns))}
    arrays = {name: _codes(source, prepared.places[name])[of_tile] for name, (source, of_tile) in parts.items() if source is not None}
    if "e" in prepared.places:
        arrays["a"], arrays["e"] = compress_whole(found.tile, arrays["a"])
    words = _words_of_matrices(prepared, arrays, 0, (0, 0), (0, 0))
    return made(found.explain(words, (at[0] - top, at[1] - left), against or "", undefined))


def explain_case(
    opcode: str, target: str, a: ArrayLike, b: ArrayLike, c: Optional[ArrayLike], inputs: Mapping[str, Any], at: Tuple[int, ...], against: str
) -> Explanation:
    """The element `at` of what mma(opcode, target, a, b, c, **inputs) gives, beside what `against` makes of it."""
    prepared = _prepared(opcode, target)
    arrays = _product_arrays(prepared, a, b, c, inputs.get("metadata"), inputs.get("scale_a"), inputs.get("scale_b"))
    batch = _batch(arrays, prepared.places)
    of_case = {name: np.broadcast_to(array, batch + prepared.places[name].shape)[at[: len(batch)]] for name, array in arrays.items()}
    ids_a, ids_b = inputs.get("ids_a", (0, 0)), inputs.get("ids_b", (0, 0))
    words = _words_of_matrices(prepared, of_case, inputs.get("selector", 0), ids_a, ids_b)
    element = (0, at[-2], at[-1]) if len(at) == len(batch) + 2 else (at[-3], at[-2], at[-1])
    return made(prepared.instruction.explain(words, None, element, against, inputs.get("undefined", "trap")))


def _words_of_matrices(prepared: _Prepared, arrays: Mapping[str, Array], selector: int, ids_a: Ids, ids_b: Ids) -> _core.Words:
    """The registers, as 32-bit words, that hold one case's matrices; zeros where there is none."""
    numbers = {"selector": [selector], "ids-a": ids_a, "ids-b": ids_b}
    out: _core.Words = {}
    for operand in prepared.form.operands:
        if operand.written:
            continue
        words = np.zeros((1, operand.words, 32), np.uint32)
        if operand.name in arrays:
            array, shape = arrays[operand.name], prepared.places[operand.name].shape
            if array.shape != shape:
                raise ValueError(f"{operand.name} has the shape {array.shape}; one case is explained: {shape}")
            prepared.instruction.scatter(operand.name, prepared.instruction.selected(operand.name, selector, ids_a, ids_b), array[None], words)
        elif operand.name in numbers:
            words[0] = np.array(numbers[operand.name], np.uint32)[:, None]
        out[operand.name] = words[0]
    return out


def _words_of_registers(prepared: _Prepared, operands: Mapping[str, Any]) -> _core.Words:
    out: _core.Words = {}
    names = [operand.name for operand in prepared.form.operands if not operand.written]
    for name, source in operands.items():
        if name not in names:
            raise ValueError(f"{prepared.form.opcode} reads no {name}; it reads {', '.join(names)}")
        operand = _operand(prepared.form, name)
        array = _registers(operand, source)
        try:
            array = np.broadcast_to(array, (operand.registers, 32))
        except ValueError:
            raise ValueError(f"{name} has the shape {array.shape}; one case is explained: {(operand.registers, 32)}") from None
        out[name] = np.ascontiguousarray(_split(array[None], operand)[0], np.uint32)
    return out
