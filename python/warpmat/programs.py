"""PTX programs: lists of statements that one warp executes."""

from __future__ import annotations

import html
from typing import Any, List, Mapping, Optional, Union

import numpy as np
import numpy.typing as npt

from ._environment import _core
from .bank_conflicts import BankReport, report
from .explanations import Explanation, made
from .formats import Array, ArrayLike, Bits, array_of, codes_of, find_format, to_numpy
from ._forms import _anywhere

__all__ = ["ProgramResult", "run"]


class ProgramResult:
    """One warp after it has run a program.

    target: the GPU whose bits it has. evidence: the line that says how the bits are known. registers: the names of its
    registers. variables: those of its shared variables.
    """

    def __init__(self, run: _core.ProgramRun) -> None:
        self._run = run
        self.target = run.target
        self.evidence = run.evidence_line
        self.registers: List[str] = [name for name, _, _ in run.registers]
        self.variables: List[str] = [name for name, _, _, _ in run.variables]

    def register(self, name: str) -> Array:
        """The 32 lanes of a register: uint32 or uint64, as float32 or float64 where the register is declared so."""
        words = self._run.register_words(name)
        declared = {found: type_ for found, type_, _ in self._run.registers}[name]
        if len(words) == 1:
            lanes: Array = words[0]
        else:
            lanes = words[0].astype(np.uint64) | (words[1].astype(np.uint64) << np.uint64(32))
        return lanes.view(np.float32 if declared == "f32" else np.float64 if declared == "f64" else lanes.dtype)

    def operand(self, place: str, *, format: Optional[str] = None) -> Union[Array, Bits]:
        """The matrix of an operand such as "mma.0.d": operand d of the first mma. format: how to read what an instruction only moves."""
        opcode, name, matrix = self._run.operand(place)
        return _read(self._run.operand_words(place), opcode, self.target, name, matrix, format)

    def variable(self, name: str) -> npt.NDArray[np.uint8]:
        """The bytes of a shared variable."""
        first, count = _variable(self._run, name)
        return self._run.shared()[first : first + count]

    @property
    def shared(self) -> npt.NDArray[np.uint8]:
        """All bytes of shared memory."""
        return self._run.shared()

    def explain(self, statement: str, *, row: int, column: int, matrix: int = 0, against: Optional[str] = None) -> Explanation:
        """How an element of the result of matrix instruction `statement`, such as "mma.0", came about: see warpmat.explain."""
        return made(self._run.explain(statement, (matrix, row, column), against or ""))

    def banks(self) -> BankReport:
        """The bank conflicts of the program's accesses to shared memory, line by line."""
        return report(self._run.banks())

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(opcode)}</td></tr>" for name, opcode in self._run.matrix_statements
        )
        return f"<p>{html.escape(self.evidence)}</p><table>{rows}</table>"


def run(
    ptx: str,
    target: str = "",
    inputs: Optional[Mapping[str, ArrayLike]] = None,
    *,
    shared_bytes: int = 0,
    undefined: str = "trap",
    path: str = "fast",
) -> ProgramResult:
    """Runs a list of PTX statements on one warp, as `warpmat run` does.

    target: the GPU whose bits you want ("sm_90a"); default the text's .target. inputs: what to fill before, by name: a register (one number for each of
    the 32 lanes, or one for all), an operand such as "mma.0.a" (its matrix), or a shared variable (its bytes, or an array whose bytes they
    are). Everything else is zero. shared_bytes: shared memory beyond the program's variables begins behind them, up to so many bytes.

    Raises PtxError for text that is not PTX, Trap for what an instruction traps on.
    """
    execution = _core.ProgramRun(ptx, target, shared_bytes)
    registers = {name: bits for name, _, bits in execution.registers}
    variables = {name for name, _, _, _ in execution.variables}
    for name, value in (inputs or {}).items():
        if name in registers:
            execution.set_register_words(name, _register_words(name, value, registers[name]))
        elif name in variables:
            _fill_variable(execution, name, value)
        else:
            _fill_operand(execution, name, value)
    execution.run(undefined, path)
    return ProgramResult(execution)


def _register_words(name: str, value: ArrayLike, bits: int) -> npt.NDArray[np.uint32]:
    """The words of a register, (1 or 2, 32): numbers, or arrays of 4 or 8 bytes as bits."""
    array = to_numpy(value)
    if isinstance(array, Bits):
        raise TypeError(f"register {name} takes 32 numbers, not {array.format}")
    wide = bits == 64
    dtype = np.dtype(np.uint64 if wide else np.uint32)
    if isinstance(value, (int, list, tuple)) and array.dtype.kind in "iu":
        array = array.astype(np.int64 if array.dtype.kind == "i" else np.uint64).astype(dtype)
    if array.dtype.itemsize != dtype.itemsize or array.dtype.kind not in "iuf" or array.ndim > 1 or array.size not in (1, 32):
        raise TypeError(f"register {name} takes 32 numbers of {dtype.itemsize} bytes; {array.dtype} {array.shape} given")
    lanes = np.array(np.broadcast_to(array.view(dtype), (32,)))
    return np.stack([lanes.astype(np.uint32), (lanes >> np.uint64(32)).astype(np.uint32)]) if wide else lanes[None, :]


def _variable(execution: _core.ProgramRun, name: str) -> "tuple[int, int]":
    """First byte and bytes of a shared variable."""
    for found, _, first, count in execution.variables:
        if found == name:
            return first, count
    raise ValueError(f"the program has no shared variable '{name}'")


def _fill_variable(execution: _core.ProgramRun, name: str, value: ArrayLike) -> None:
    first, count = _variable(execution, name)
    array = to_numpy(value)
    raw = np.ascontiguousarray(array.codes if isinstance(array, Bits) else array).reshape(-1).view(np.uint8)
    if raw.size > count:
        raise ValueError(f"variable {name} has {count} bytes; {raw.size} given")
    execution.set_shared(first, raw)


def _fill_operand(execution: _core.ProgramRun, place: str, value: ArrayLike) -> None:
    """Replaces the operand's matrix, and of metadata and scale factors only what the statement's numbers choose."""
    opcode, name, matrix = execution.operand(place)
    prepared = _anywhere(opcode, execution.target)
    found = prepared.places.get(name)
    if found is None:
        raise ValueError(f"{place} is no matrix")
    if found.format.startswith("x"):
        codes: Any = to_numpy(value)
        codes = codes.codes if isinstance(codes, Bits) else codes
        if codes.dtype.itemsize * 8 != max(8, int(found.format[1:])):
            raise TypeError(f"{place} is {codes.dtype}; its elements have {found.format[1:]} bits")
        codes = codes.view(f"u{codes.dtype.itemsize}")
    else:
        codes = codes_of(value, found.format, place)
    if codes.shape != found.shape:
        raise ValueError(f"{place} has the shape {codes.shape}; it must be {found.shape}")
    operand = next(o for o in prepared.form.operands if o.name == name)
    words = np.empty((1, operand.words, 32), np.uint32)
    mask = np.empty_like(words)
    prepared.instruction.scatter(name, matrix, codes, words)
    prepared.instruction.scatter(name, matrix, np.full(found.shape, -1, f"i{codes.dtype.itemsize}"), mask)
    old = execution.operand_words(place)
    execution.set_operand_words(place, (old & ~mask[0]) | words[0])


def _read(words: Array, opcode: str, target: str, name: str, matrix: int, format: Optional[str]) -> Union[Array, Bits]:
    prepared = _anywhere(opcode, target)
    place = prepared.places.get(name)
    if place is None:
        raise ValueError(f"{name} of {opcode} is no matrix")
    operand = next(o for o in prepared.form.operands if o.name == name)
    bits = operand.payload_bits
    codes: Array = np.empty(place.shape, f"u{8 if bits > 32 else 4 if bits > 16 else 2 if bits > 8 else 1}")
    prepared.instruction.gather(name, matrix, np.ascontiguousarray(words[None]), codes)
    chosen = format or place.format
    if chosen.startswith("x"):
        return codes
    if find_format(chosen).bits != bits:
        raise ValueError(f"elements of {name} have {bits} bits; {chosen} has {find_format(chosen).bits}")
    return array_of(codes, chosen)
