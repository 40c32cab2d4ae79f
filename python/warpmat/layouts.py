"""Who holds what: the lanes, registers and bits of a matrix's elements, and where elements lie in shared memory."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import List, Optional, Union

import numpy as np
import numpy.typing as npt

from ._environment import _core
from .options import Major

__all__ = ["Layout", "MatrixDescriptor", "layout", "memory_layout", "swizzle"]

Indices = npt.NDArray[np.int32]


@dataclass(frozen=True, repr=False)
class Layout:
    """How a matrix lies in the registers of 32 lanes, or of four warps for wgmma.

    lane, register, bit: by element, (rows, columns), with (matrices, rows, columns) where the operand has several; `bit` is the lowest of
    the element in its register of register_bits bits. warp: likewise, 0 to 3 of wgmma, else 0. matrix, row, column: the element by place,
    (registers, 32, elements of a register), of wgmma (4, registers, 32, elements of a register). copies: how often each element is there;
    lane, register and bit are the first copy's. str(): the text of `warpmat layout`.
    """

    opcode: str
    operand: str
    lane: Indices
    register: Indices
    bit: Indices
    matrix: Indices
    row: Indices
    column: Indices
    register_bits: int
    element_bits: int
    copies: int
    warp: Indices
    _text: str

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Layout of {self.operand} of {self.opcode}: {' x '.join(map(str, self.lane.shape))}>"

    def _repr_html_(self) -> str:
        """A table of the matrix: in each cell lane and register, lanes in colours."""
        title = f"<b>{html.escape(self.operand)}</b> of {html.escape(self.opcode)}: T is the lane (thread), r its register"
        fields = [self.lane, self.register]
        fields += [self.bit] if self.element_bits < self.register_bits else []
        warps = self.warp if self.warp.any() else None
        planes = [x.reshape((-1,) + x.shape[-2:]) for x in fields]
        of_warps = None if warps is None else warps.reshape((-1,) + warps.shape[-2:])
        tables = [_table([plane[i] for plane in planes], None if of_warps is None else of_warps[i]) for i in range(len(planes[0]))]
        return f"<div>{title}{''.join(tables)}</div>"


def _table(fields: List[Indices], warps: Optional[Indices]) -> str:
    """fields: lanes, registers, and bits where registers hold several elements."""
    head = "".join(f"<th>{column}</th>" for column in range(fields[0].shape[1]))
    rows: List[str] = []
    for row in range(fields[0].shape[0]):
        cells = []
        for column in range(fields[0].shape[1]):
            lane, register = int(fields[0][row, column]), int(fields[1][row, column])
            colour = f"hsl({lane % 4 * 20 + lane // 4 * 45},60%,80%)"
            title = f"lane {lane}, register {register}" + (f", bit {fields[2][row, column]}" if len(fields) > 2 else "")
            title = title if warps is None else f"warp {warps[row, column]}, {title}"
            cells.append(f'<td style="background:{colour};color:#000" title="{title}">T{lane} r{register}</td>')
        rows.append(f"<tr><th>{row}</th>{''.join(cells)}</tr>")
    return f"<table><tr><th></th>{head}</tr>{''.join(rows)}</table>"


def layout(opcode: str, operand: str, target: Optional[str] = None) -> Layout:
    """The layout of operand `operand` ("a", "b", "c", "d", "e", "scale-a", "r") of a matrix instruction. Some of its qualifiers will do if the
    operand lies alike in all forms that they leave. wgmma has "d", "a" and "e" in
    registers; MatrixDescriptor says where its matrices lie in shared memory. target: of wmma "sm_70" has other layouts than later GPUs,
    which are the default; evidence.of() says how those of a GPU are known."""
    meant = _core.answering_opcode(opcode, operand)
    if meant.startswith("wgmma"):
        return _wgmma_layout(meant, operand)
    form = _core.find_form(meant, target)
    lane, register, bit = _core.places(form, operand)
    matrix, row, column = _core.elements(form, operand)
    found = next(o for o in form.operands if o.name == operand)
    first = (0, 0) if found.matrices == 1 else (0,)
    return Layout(
        form.opcode,
        operand,
        lane[first],
        register[first],
        bit[first],
        matrix,
        row,
        column,
        found.register_bits,
        found.element_bits,
        found.copies,
        np.zeros_like(lane[first]),
        _core.layout_text(form, operand),
    )


def _wgmma_layout(opcode: str, operand: str) -> Layout:
    warp, lane, register, bit, registers, register_bits, element_bits = _core.wgmma_places(opcode, operand)
    elements = np.zeros((3, 4, registers, 32, register_bits // element_bits), np.int32)
    elements[(slice(None), warp, register, lane, bit // element_bits)] = np.indices(warp.shape, np.int32)
    if len(lane) == 1:  # a single matrix has no dimension
        warp, lane, register, bit = warp[0], lane[0], register[0], bit[0]
    matrix, row, column = elements
    text = _core.wgmma_layout_text(opcode, operand)
    return Layout(
        _core.wgmma_opcode(opcode), operand, lane, register, bit, matrix, row, column, register_bits, element_bits, 1, warp, text
    )


def memory_layout(layout: str, rows: int, columns: int, element_bits: int) -> npt.NDArray[np.int64]:
    """Where the elements of a matrix lie in shared memory: the number of each element's lowest bit, counted from the matrix's first byte, (rows,
    columns). layout: "rows", "padded<80>" (80 bytes from row to row), "swizzle<3,4,3>" or "swizzle<3,4,3,256>" (CuTe's Swizzle on byte
    addresses, and a row's bytes)."""
    return _core.memory_bits(layout, rows, columns, element_bits)


def swizzle(addresses: npt.ArrayLike, bits: int = 3, base: int = 4, shift: int = 3) -> npt.NDArray[np.int64]:
    """CuTe's Swizzle<bits, base, shift> of byte addresses: exclusive or of bits base+shift and up into the bits from `base` on."""
    if not (0 <= bits <= shift and 0 <= base and base + shift + bits <= 32):
        raise ValueError(f"Swizzle<{bits},{base},{shift}>: 0 <= bits <= shift, 0 <= base and base+shift+bits <= 32 would be right")
    array = np.asarray(addresses, np.int64)
    return array ^ ((array >> (base + shift) & ((1 << bits) - 1)) << base)


@dataclass(frozen=True)
class MatrixDescriptor:
    """A matrix descriptor of wgmma: byte addresses and offsets, multiples of 16 below 2^18. base_offset: 0 to 7. swizzle: 0, 32, 64 or 128
    bytes. ValueError where a field cannot hold its value.

    >>> opcode = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"
    >>> warpmat.layouts.MatrixDescriptor.of(opcode, "b", swizzle=128).stride
    1024
    """

    start: int = 0
    leading: int = 0
    stride: int = 0
    base_offset: int = 0
    swizzle: int = 0

    def __post_init__(self) -> None:
        for what, value in (("start address", self.start), ("leading byte offset", self.leading), ("stride byte offset", self.stride)):
            if not 0 <= value < 1 << 32:  # the others are the core's to refuse
                raise ValueError(f"{what} {value} does not fit a matrix descriptor, which takes multiples of 16 from 0 to 262128")
        self.encode()

    @staticmethod
    def decode(bits: int) -> MatrixDescriptor:
        """From the 64 bits of a register."""
        return MatrixDescriptor(*_core.decode_descriptor(bits))

    @staticmethod
    def of(opcode: str, operand: str, *, start: int = 0, swizzle: int = 128, major: str = "k") -> MatrixDescriptor:
        """The descriptor of operand "a" or "b" of wgmma `opcode` that lies without gaps from address `start` on, as kernels have it. major:
        "k", or "mn" for the transposed operands that 16-bit types may have."""
        return MatrixDescriptor.decode(_core.wgmma_descriptor(opcode, operand, _k_major(major), swizzle, start))

    def elements(self, opcode: str, operand: str, *, major: str = "k") -> npt.NDArray[np.int64]:
        """Where wgmma `opcode` finds the elements of operand "a" or "b": the number of each one's lowest bit, counted from address 0 of
        shared memory, (rows, columns): m by k of A, of a sparse one as it is stored, and k by n of B."""
        return _core.wgmma_memory_bits(opcode, operand, _k_major(major), self.encode())

    def encode(self) -> int:
        """The 64 bits."""
        return _core.encode_descriptor(self.start, self.leading, self.stride, self.base_offset, self.swizzle)

    def address(self, line: Union[int, npt.ArrayLike], byte: Union[int, npt.ArrayLike], major: str = "k") -> npt.NDArray[np.int64]:
        """The addresses of bytes of lines, which the matrix unit reads; lines are rows of A and columns of B for major "k", else ("mn")
        the k of transposed operands."""
        k_major, bits = _k_major(major), self.encode()
        lines, bytes_ = np.broadcast_arrays(np.asarray(line, np.int64), np.asarray(byte, np.int64))
        flat = [_core.descriptor_address(bits, k_major, int(i), int(j)) for i, j in zip(lines.ravel(), bytes_.ravel())]
        return np.array(flat, np.int64).reshape(lines.shape)


def _k_major(major: str) -> bool:
    return Major(major) is Major.K
