"""One handle for any instruction: how it describes its operands, and a call of it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np

from ._environment import _core
from ._forms import checked_card, together
from .formats import Array, ArrayLike, Bits, to_numpy

__all__ = ["Instruction", "Operand", "find", "find_opcode", "find_sass", "opcodes", "targets", "wgmma_opcodes"]


class Operand(NamedTuple):
    """An operand of an instruction, in PTX's order; what the text does not write comes last.

    kind: "fragment", "address", "selector", "ids", "stride", "value", "predicate", "carry", "number", "descriptor". type: of a value or a
    predicate, as PTX spells it. registers, register_bits: what PTX writes; words: the same in words of 32 bits. read, written: d of wgmma and
    the carry of madc.cc are both. optional: it may be left out."""

    name: str
    kind: str
    type: str
    registers: int
    register_bits: int
    words: int
    read: bool
    written: bool
    optional: bool

    @property
    def shape(self) -> Tuple[int, ...]:
        """The last dimensions of its array for one warp: (registers, 32), or (32,) where it is one register of no fragment. A register of 128
        bits is two numbers."""
        count = self.registers * max(1, self.register_bits // 64)
        return (32,) if count == 1 and self.kind != "fragment" else (count, 32)

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The dtype of its results: that of its type where NumPy has it, else unsigned numbers of a register's bits."""
        if self.register_bits == 1:
            return np.dtype(bool)
        known = {"f16": "f2", "f32": "f4", "f64": "f8", "s8": "i2", "s16": "i2", "s32": "i4", "s64": "i8"}
        return np.dtype(known.get(self.type, f"u{min(self.register_bits, 64) // 8}"))


class Instruction:
    """An instruction on a target, which find() finds: a matrix instruction, wgmma, a scalar one, or one of lists of statements."""

    def __init__(self, opcode: str, target: str) -> None:
        self._core = _core.Handle(opcode, checked_card(target))
        self.operands: List[Operand] = [Operand(*fields) for fields in self._core.operands]

    @property
    def kind(self) -> str:
        """ "matrix", "warpgroup" or "scalar"; "load", "store" or "lanes" of ld.shared, st.shared, and shfl and the like, which programs alone
        execute."""
        return self._core.kind

    @property
    def opcode(self) -> str:
        """Its canonical spelling."""
        return self._core.opcode

    @property
    def target(self) -> str:
        """The target's name."""
        return self._core.target

    @property
    def warps(self) -> int:
        """The warps that execute it together: 4 of wgmma, else 1."""
        return self._core.warps

    @property
    def evidence(self) -> str:
        """The label that says how its bits are known."""
        return self._core.label

    @property
    def source(self) -> str:
        """The source of the evidence."""
        return self._core.source

    def __repr__(self) -> str:
        return f"<{self.opcode} on {self.target}>"

    def execute(
        self,
        operands: Mapping[str, Any],
        *,
        memory: Optional[ArrayLike] = None,
        undefined: str = "trap",
        path: str = "fast",
        jobs: Optional[int] = None,
    ) -> Union[Array, Dict[str, Array]]:
        """Executes it on arrays of registers.

        operands: by name. An operand's array ends with its `shape`; of wgmma 4 warps come before that. Leading dimensions are cases and are
        broadcast. A whole number is the value in all lanes; descriptors and other numbers that PTX writes are given so. The dtype is any of a
        register's width, or uint32 for narrower ones, whose high bits count nothing; of predicates and carries bool. memory: uint8 (..., bytes)
        for instructions with an address or a descriptor; it is not changed.

        Returns what is written: an array; a dict of arrays by name where the instruction writes several operands; of stores the memory.
        Raises ValueError for what does not fit and for an instruction that programs alone execute, TypeError for other dtypes, Trap with the
        case where an instruction traps.
        """
        if self._core.needs_program is not None:
            raise ValueError(self._core.needs_program)
        unknown = set(operands) - {operand.name for operand in self.operands if operand.read}
        if unknown:
            readable = ", ".join(operand.name for operand in self.operands if operand.read)
            raise ValueError(f"{self.opcode} reads no {', '.join(sorted(unknown))}; it reads {readable}")
        words: Dict[str, Array] = {}
        for operand in self.operands:
            if operand.name in operands:
                words[operand.name] = self._words(operand, operands[operand.name])
            elif operand.read and not operand.optional:
                raise ValueError(f"{self.opcode} needs {operand.name}, whose shape ends with {self._inner(operand)}")
        batch, own_memory = self._cases(words, memory)
        cases = int(np.prod(batch, dtype=np.int64))
        given: List[Optional[Array]] = []
        for operand in self.operands:
            shape = batch + (self.warps, operand.words, 32)
            array: Optional[Array] = None
            if operand.written:
                array = np.array(np.broadcast_to(words.get(operand.name, np.uint32(0)), shape), order="C")
            elif operand.name in words:
                array = np.ascontiguousarray(np.broadcast_to(words[operand.name], shape))
            given.append(None if array is None else array.reshape((-1,) + shape[-2:]))
        bytes_of_cases = None if own_memory is None else own_memory.reshape(cases, own_memory.shape[-1])
        if jobs is not None and jobs < 1:
            raise ValueError(f"jobs is {jobs}; 1 or more would be right, or None for all cores")
        self._core.execute(cases, given, bytes_of_cases, undefined, path, (0 if cases > 512 else 1) if jobs is None else jobs)
        results = {
            operand.name: self._values(operand, array.reshape(batch + (self.warps,) + array.shape[1:]))
            for operand, array in zip(self.operands, given)
            if operand.written and array is not None
        }
        if not results:
            assert own_memory is not None
            return own_memory
        if len(results) > 1:
            return results
        return next(iter(results.values()))

    def _inner(self, operand: Operand) -> Tuple[int, ...]:
        return operand.shape if self.warps == 1 else (self.warps,) + operand.shape

    def _words(self, operand: Operand, source: Any) -> Array:
        """The operand's words, (..., warps, words, 32); the last dimension is 1 where ids are given as two numbers."""
        inner = self._inner(operand)
        if isinstance(source, (int, np.integer)):
            bits = 64 if operand.register_bits >= 64 else 32
            parts = [int(source) >> shift & (1 << bits) - 1 for shift in range(0, max(bits, operand.register_bits), bits)]
            numbers = np.array(parts, f"u{bits // 8}")
            array = np.broadcast_to(numbers if len(parts) == 1 else np.tile(numbers, operand.registers)[:, None], inner)
        else:
            given = to_numpy(source)
            array = given.codes if isinstance(given, Bits) else given
        if operand.kind == "ids" and array.shape == (2,):
            array = array.astype(np.uint32)[:, None]
        elif array.ndim < len(inner) or array.shape[array.ndim - len(inner) :] != inner:
            raise ValueError(f"{operand.name} has the shape {array.shape}; it must end with {inner}")
        if operand.shape == (32,):
            array = array[..., None, :]
        if self.warps == 1:
            array = array[..., None, :, :]
        patterns = _patterns(operand, array)
        if patterns.dtype == np.uint32:
            return patterns
        out = np.empty(patterns.shape[:-2] + (operand.words, patterns.shape[-1]), np.uint32)
        out[..., 0::2, :] = patterns.astype(np.uint32)
        out[..., 1::2, :] = patterns >> np.uint64(32)
        return out

    def _values(self, operand: Operand, words: Array) -> Array:
        """A result's words, (..., warps, words, 32), as values of its dtype and shape."""
        values = words
        if operand.register_bits >= 64:
            values = words[..., 0::2, :].astype(np.uint64) | words[..., 1::2, :].astype(np.uint64) << np.uint64(32)
        if operand.register_bits == 1:
            values = values != 0
        else:
            values = values.astype(f"u{operand.dtype.itemsize}").view(operand.dtype)
        if operand.shape == (32,):
            values = values[..., 0, :]
        return values if self.warps > 1 else np.squeeze(values, axis=-1 - len(operand.shape))

    def _cases(self, words: Mapping[str, Array], memory: Optional[ArrayLike]) -> Tuple[Tuple[int, ...], Optional[Array]]:
        """The leading dimensions that all arrays together have, and a copy of the memory of each case."""
        needs = any(operand.kind in ("address", "descriptor") for operand in self.operands)
        if needs != (memory is not None):
            raise ValueError(f"{self.opcode} {'needs' if needs else 'takes no'} memory: uint8, (..., bytes)")
        leading = {name: array.shape[:-3] for name, array in words.items()}
        bytes_given = None if memory is None else np.asarray(to_numpy(memory), dtype=np.uint8)
        if bytes_given is not None:
            if bytes_given.ndim == 0:
                raise ValueError("memory has no dimension; it must be uint8, (..., bytes)")
            leading["memory"] = bytes_given.shape[:-1]
        batch = together(leading)
        own = None if bytes_given is None else np.array(np.broadcast_to(bytes_given, batch + bytes_given.shape[-1:]), order="C")
        return batch, own


def _patterns(operand: Operand, array: Array) -> Array:
    """Bit patterns as uint32, or as uint64 for registers of 64 and 128 bits."""
    if operand.register_bits == 1:
        if array.dtype.kind not in "bui":
            raise TypeError(f"{operand.name} is {array.dtype}; it is a predicate: bool")
        truths: Array = (array != 0).astype(np.uint32)
        return truths
    bits, wanted = 8 * array.dtype.itemsize, min(operand.register_bits, 64)
    if array.dtype.kind not in "uif" or (bits != wanted and not (wanted < 32 and bits == 32)):
        raise TypeError(f"{operand.name} is {array.dtype}; its registers have {wanted} bits")
    patterns = np.ascontiguousarray(array).view(f"u{bits // 8}")
    return patterns if bits == 64 else patterns.astype(np.uint32)


@lru_cache(maxsize=None)
def find(opcode: str, target: str) -> Instruction:
    """The instruction that `opcode` spells on `target`: mma, ldmatrix, stmatrix, movmatrix, wmma; wgmma.mma_async; scalar instructions that
    compute, by themselves; and ld.shared, shfl and others of lists, which are described here and executed by programs. Qualifiers may have
    any order that ptxas accepts. ValueError where there is none, with what would be right.

    >>> warpmat.find("fma.rn.f32", "sm_90").execute({"a": np.full(32, 3, "f4"), "b": np.arange(32, dtype="f4"), "c": np.ones(32, "f4")})[:4]
    array([ 1.,  4.,  7., 10.], dtype=float32)
    """
    return Instruction(opcode, target)


def find_opcode(
    target: str,
    *,
    mnemonic: Optional[str] = None,
    shape: Optional[str] = None,
    d: Optional[str] = None,
    a: Optional[str] = None,
    b: Optional[str] = None,
    c: Optional[str] = None,
    type: Optional[str] = None,
    layout_a: Optional[str] = None,
    layout_b: Optional[str] = None,
    kind: Optional[str] = None,
    sparsity: Optional[str] = None,
    scale_vec: Optional[str] = None,
    scale_type: Optional[str] = None,
    rounding: Optional[str] = None,
    space: Optional[str] = None,
    operation: Optional[str] = None,
    number: Optional[int] = None,
    trans: bool = False,
    satfinite: bool = False,
    cta_group: Optional[int] = None,
    multicast: Optional[str] = None,
    format: Optional[str] = None,
    pack: bool = False,
    weights: bool = False,
    shift_a: bool = False,
    absolute: bool = False,
    nan: bool = False,
) -> str:
    """The one opcode of `target` with these parts, each as PTX spells it, without the dot. Types, scale_type, shapes, layouts, operation, number,
    cta_group and multicast may be left out where the others decide, and mnemonic but that of wgmma and tcgen05; other qualifiers that are left out are not
    there. mnemonic: "mma", "ldmatrix", "wmma.load.a";
    "wgmma.mma_async"; "tcgen05.mma", "tcgen05.cp", "tcgen05.shift", "tcgen05.ld", "tcgen05.ld.red", "tcgen05.st". ValueError where there is no such
    opcode, or several: the message says which part would have to be another.

    >>> warpmat.instructions.find_opcode("sm_80", mnemonic="mma", shape="m16n8k16", a="bf16")
    'mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32'
    """
    texts = {
        "mnemonic": mnemonic,
        "shape": shape,
        "d": d,
        "a": a,
        "b": b,
        "c": c,
        "type": type,
        "layout_a": layout_a,
        "layout_b": layout_b,
        "kind": kind,
        "sparsity": sparsity,
        "scale_vec": scale_vec,
        "scale_type": scale_type,
        "rounding": rounding,
        "space": space,
        "operation": operation,
        "number": None if number is None else f"x{number}",
        "cta_group": None if cta_group is None else str(cta_group),
        "multicast": multicast,
        "format": format,
    }
    flags = {
        "trans": (trans, "trans"),
        "satfinite": (satfinite, "satfinite"),
        "pack": (pack, "16b"),
        "weights": (weights, "ws"),
        "shift_a": (shift_a, "ashift"),
        "absolute": (absolute, "abs"),
        "nan": (nan, "NaN"),
    }
    fields = {name: text for name, text in texts.items() if text is not None}
    fields.update({name: text for name, (is_set, text) in flags.items() if is_set})
    return _core.find_opcode(target, fields)


def find_sass(name: str, target: str) -> str:
    """The opcode of the machine instruction that SASS calls `name`; if it stands for several, the first. ValueError where there is none.

    >>> warpmat.instructions.find_sass("HMMA.16816.F32", "sm_80")
    'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32'
    """
    return _core.find_sass(name, target)


def opcodes(target: Optional[str] = None) -> List[str]:
    """The opcodes of all matrix instructions that one warp executes, or of those that `target` has."""
    return _core.opcodes(target)


def wgmma_opcodes() -> List[str]:
    """The opcodes of wgmma, which four warps execute and only sm_90a has."""
    return _core.wgmma_opcodes()


def targets() -> List[str]:
    """The names of all targets, oldest first."""
    return _core.targets()
