"""Registers: what lanes hold of matrices, and instructions on arrays of them."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Union

import numpy as np
import numpy.typing as npt

from ._environment import _core
from ._forms import Ids, _anywhere, _batch, _check_jobs, _codes, _prepared, find_place
from .formats import FORMATS, Array, ArrayLike, Bits, array_of, find_format, to_numpy

__all__ = ["accesses", "execute", "gather", "scales", "scatter"]


def execute(
    opcode: str,
    target: str,
    operands: Mapping[str, Any],
    *,
    memory: Optional[npt.ArrayLike] = None,
    undefined: str = "trap",
    path: str = "fast",
    jobs: Optional[int] = None,
) -> Array:
    """Executes the matrix instruction `opcode` as `target` does on arrays of registers, as `warpmat exec` has them. find() is for any instruction.

    operands: by name ("a", "b", "c", "e", "p", ...), registers (cases, registers, 32) of uint32, or uint64 for 64-bit registers. float32 and
    other dtypes of that width are bits. You may omit leading dimensions; they are broadcast. A number is the value of all registers: so you
    write selector, stride and ids ((byte-id, thread-id)). memory: uint8 (cases, bytes) for instructions with an address; it is not changed.

    Returns d (or r), registers (cases, registers, 32); of stores the memory, uint8 (cases, bytes). Without cases in any operand there are
    none in the result. Raises Trap with the case where an instruction traps.
    """
    prepared = _prepared(opcode, target)
    written = [o for o in prepared.form.operands if o.written]
    wanted = [o for o in prepared.form.operands if not o.written]
    unknown = set(operands) - {o.name for o in wanted}
    if unknown:
        raise ValueError(f"{prepared.form.opcode} reads no {', '.join(sorted(unknown))}; it reads {', '.join(o.name for o in wanted)}")
    arrays: Dict[str, Array] = {}
    for operand in wanted:
        if operand.name in operands:
            arrays[operand.name] = _registers(operand, operands[operand.name])
        elif operand.kind == "fragment" or operand.kind == "address":
            raise ValueError(f"{prepared.form.opcode} needs {operand.name}: uint{_register_bits(operand)}, (cases, {operand.registers}, 32)")
        elif operand.kind != "stride":  # a stride may be left out
            arrays[operand.name] = np.zeros((operand.registers, 1), np.uint32)
    has_cases = any(array.ndim == 3 for array in arrays.values())
    cases = max((len(array) for array in arrays.values() if array.ndim == 3), default=1)
    bytes_of_cases = _memory(prepared.form, memory, cases)
    if bytes_of_cases is not None and memory is not None and len(np.shape(memory)) == 2:
        has_cases, cases = True, max(cases, len(bytes_of_cases))
        if len(bytes_of_cases) != cases:
            bytes_of_cases = np.array(np.broadcast_to(bytes_of_cases, (cases, bytes_of_cases.shape[1])), order="C")
    for operand in wanted:
        if operand.name in arrays:
            shape = (cases, operand.registers, 32)
            try:
                arrays[operand.name] = np.broadcast_to(arrays[operand.name], shape)
            except ValueError:
                raise ValueError(f"{operand.name} has the shape {arrays[operand.name].shape}; it must fit {shape}") from None
    result: Array
    if written:
        dtype = np.uint64 if _register_bits(written[0]) == 64 else np.uint32
        result = np.zeros((cases, written[0].registers, 32), dtype)
        arrays[written[0].name] = result
    prepared.instruction.execute(cases, arrays, bytes_of_cases, undefined, path, _check_jobs(jobs, cases))
    if not written:
        assert bytes_of_cases is not None
        result = bytes_of_cases
    first: Array = result if has_cases else result[0]
    return first


def _register_bits(operand: _core.Operand) -> int:
    return operand.register_bits if operand.kind == "fragment" else 32


_ACCESS = np.dtype(
    [("address", "u8"), ("bytes", "u4"), ("write", "?")]
    + [(name, "i4") for name in ("lane", "register", "bit", "row", "column", "matrix")]
)


def accesses(opcode: str, target: str, p: npt.ArrayLike, *, stride: Optional[int] = None) -> Array:
    """What one warp's ldmatrix, stmatrix, wmma.load or wmma.store accesses in memory, without executing it: for models of caches and time.

    p: the addresses of 32 lanes, or one number for all of them; uint64 for addresses of 64 bits. stride: of wmma, in elements.

    Returns an array of accesses in the order in which the instruction makes them, with the fields address, bytes, write, lane (ldmatrix and
    stmatrix: the lane with the address; wmma: with the register), register and bit (of wmma; else register is -1), and row, column, matrix of
    the first element. Of other instructions it is empty. Raises Trap for a misaligned address, or of wmma one that is not the same in all lanes.

    >>> warpmat.registers.accesses("ldmatrix.sync.aligned.m8n8.x1.shared.b16", "sm_90", 16 * np.arange(32))["address"]
    array([  0,  16,  32,  48,  64,  80,  96, 112], dtype=uint64)
    """
    given = np.asarray(p)
    if given.dtype.kind not in "ui" or given.shape not in ((), (32,)):
        raise ValueError(f"p is {given.dtype}, {given.shape}; it must be whole numbers, (32,) or one number")
    addresses = np.broadcast_to(given.astype(np.uint64), 32)
    found = _prepared(opcode, target).instruction.accesses(addresses.tolist(), given.dtype.itemsize == 8, stride)
    return np.array(found, _ACCESS)


def _registers(operand: _core.Operand, source: Any) -> Array:
    """An operand's registers as words, with two or three dimensions; the last may be 1 where all lanes have the same."""
    bits = _register_bits(operand)
    if isinstance(source, int):
        return np.full((1, 1), source, f"u{bits // 8}")
    if operand.kind in ("ids", "selector", "stride") and np.ndim(source) == 1:
        return np.asarray(source, np.uint32)[:, None]
    array = to_numpy(source)
    if isinstance(array, Bits):
        raise TypeError(f"{operand.name} is a register array: uint{bits}, (cases, {operand.registers}, 32)")
    if array.dtype.itemsize * 8 != bits or array.dtype.kind not in "uif":
        raise TypeError(f"{operand.name} is {array.dtype}; registers of {operand.name} are uint{bits}")
    if array.ndim not in (2, 3):
        raise ValueError(f"{operand.name} has the shape {array.shape}; it must be (cases, {operand.registers}, 32)")
    array = array.view(f"u{bits // 8}")
    misplaced = any(stride % 4 for stride in array.strides) or (bits == 64 and array.strides[-1] != 8)
    return np.ascontiguousarray(array) if misplaced else array


def _memory(form: _core.Form, memory: Optional[ArrayLike], cases: int) -> Optional[Array]:
    needs = any(o.kind == "address" for o in form.operands)
    if needs != (memory is not None):
        raise ValueError(f"{form.opcode} {'needs' if needs else 'takes no'} memory: uint8, (cases, bytes)")
    if memory is None:
        return None
    array = np.asarray(to_numpy(memory), dtype=np.uint8)
    if array.ndim not in (1, 2):
        raise ValueError(f"memory has the shape {array.shape}; it must be (cases, bytes)")
    return np.array(np.broadcast_to(array, (cases if array.ndim == 1 else len(array), array.shape[-1])), order="C")


def scatter(opcode: str, operand: str, matrix: ArrayLike, *, selector: int = 0, ids: Ids = (0, 0), target: Optional[str] = None) -> Array:
    """The registers that hold a matrix as operand `operand` of `opcode`.

    matrix: (..., rows, columns); with (..., matrices, rows, columns) where an operand has several (ldmatrix .x4, m8n8k4). Metadata (e)
    and scale factors lie where selector or ids = (byte-id, thread-id) say; all other bits are zero. target: as for layout.
    Returns (..., registers, 32) of uint32, of 64-bit registers uint64.
    """
    prepared = _anywhere(opcode, target)
    place = find_place(prepared, operand)
    codes = _codes(matrix, place)
    batch = _batch({operand: codes}, {operand: place})
    found = _operand(prepared.form, operand)
    words: Array = np.empty((int(np.prod(batch)), found.words, 32), np.uint32)
    chosen = prepared.instruction.selected(operand, selector, ids, ids)
    prepared.instruction.scatter(operand, chosen, codes.reshape((-1,) + place.shape), words)
    return _joined(words, found).reshape(batch + (found.registers, 32))


def gather(
    opcode: str,
    operand: str,
    registers: ArrayLike,
    *,
    selector: int = 0,
    ids: Ids = (0, 0),
    format: Optional[str] = None,
    target: Optional[str] = None,
) -> Union[Array, Bits]:
    """The matrix that registers hold as operand `operand` of `opcode`: the inverse of scatter.

    registers: (..., registers, 32). format: how to read the elements of an instruction that only moves bits; default
    unsigned integers. target: as for layout. Returns (..., rows, columns) of the format's dtype, or Bits where NumPy has none.
    """
    prepared = _anywhere(opcode, target)
    place = find_place(prepared, operand)
    found = _operand(prepared.form, operand)
    array = _registers(found, to_numpy(registers))
    if array.shape[-2:] != (found.registers, 32):
        raise ValueError(f"{operand} has the shape {array.shape}; it must end with {(found.registers, 32)}")
    batch = array.shape[:-2]
    words = _split(np.ascontiguousarray(array.reshape((-1, found.registers, 32))), found)
    bits = found.payload_bits
    codes: Array = np.empty((len(words),) + place.shape, f"u{8 if bits > 32 else 4 if bits > 16 else 2 if bits > 8 else 1}")
    prepared.instruction.gather(operand, prepared.instruction.selected(operand, selector, ids, ids), words, codes)
    codes = codes.reshape(batch + place.shape)
    chosen = format or place.format
    if chosen.startswith("x"):
        return codes
    if find_format(chosen).bits != bits:
        raise ValueError(f"elements of {operand} have {bits} bits; {chosen} has {FORMATS[chosen].bits}")
    return array_of(codes, chosen)


def _joined(words: Array, operand: _core.Operand) -> Array:
    """32-bit words as the registers that they are halves of."""
    if _register_bits(operand) == 32:
        return words
    return words[:, 0::2].astype(np.uint64) | (words[:, 1::2].astype(np.uint64) << np.uint64(32))


def _split(registers: Array, operand: _core.Operand) -> Array:
    if _register_bits(operand) == 32:
        return registers
    words: Array = np.empty((len(registers), operand.words, 32), np.uint32)
    words[:, 0::2] = registers.astype(np.uint32)
    words[:, 1::2] = registers >> np.uint64(32)
    return words


def _operand(form: _core.Form, name: str) -> _core.Operand:
    return next(o for o in form.operands if o.name == name)


def scales(opcode: str, operand: str, factors: ArrayLike, *, ids: Ids = (0, 0)) -> Array:
    """The register of scale factors of a block-scaled `opcode`: `factors` of operand "scale-a" (..., m, factors of a row) or "scale-b"
    (..., factors of a column, n), where ids = (byte-id, thread-id) select them. Returns (..., 1, 32) of uint32."""
    if operand not in ("scale-a", "scale-b"):
        raise ValueError(f"there are scale-a and scale-b; '{operand}' is neither")
    return scatter(opcode, operand, factors, ids=ids)
