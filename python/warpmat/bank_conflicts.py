"""Bank conflicts: what accesses to shared memory cost, and what kernels ask of memory line by line."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from ._environment import _core

__all__ = ["BankAccess", "BankLine", "BankPhase", "BankReport", "BankWord", "GlobalLine", "banks"]

Lanes = Tuple[int, ...]


class BankWord(NamedTuple):
    """A word of four bytes that a phase moves: its bank, its address in bytes, and the lanes that access it."""

    bank: int
    address: int
    lanes: Lanes


class BankPhase(NamedTuple):
    """A part of an access: its lanes, the wavefronts that it takes, the lanes that collide where those are more than one, and its words."""

    lanes: Lanes
    wavefronts: int
    colliding: Lanes
    words: List[BankWord]


@dataclass(frozen=True)
class BankAccess:
    """A warp's access to shared memory: in a notebook a picture, a row of 32 banks for each phase.

    access: "load", "store", "matrix" (ldmatrix, stmatrix) or "copy" (cp.async). bytes: of each lane. addresses: by lane. lanes: those that
    take part. wavefronts: the passes over the banks; least: the fewest for any addresses. label: how that count is known.
    """

    access: str
    bytes: int
    addresses: npt.NDArray[np.uint64] = field(repr=False)
    lanes: Lanes
    phases: List[BankPhase] = field(repr=False)
    label: str
    text: str = field(repr=False)
    svg: str = field(repr=False)

    @property
    def wavefronts(self) -> int:
        return sum(phase.wavefronts for phase in self.phases)

    @property
    def least(self) -> int:
        return len(self.phases)

    @property
    def colliding(self) -> Lanes:
        """The lanes that collide in any phase."""
        return tuple(sorted({lane for phase in self.phases for lane in phase.colliding}))

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.svg


@dataclass(frozen=True)
class BankLine:
    """All executions of a statement that accesses shared memory: its line of the PTX, its opcode, how often a warp executed it, the
    wavefronts of all of them, and without conflicts; how the counts are known at the weakest; and the execution with most wavefronts."""

    line: int
    opcode: str
    executions: int
    wavefronts: int
    least: int
    label: str
    worst: BankAccess = field(repr=False)


@dataclass(frozen=True)
class GlobalLine:
    """All executions of a statement that accesses global memory: its line, its opcode, how often a warp executed it, the sectors of 32
    bytes and the lines of 128 that it moved, and the sectors that so many bytes would fill."""

    line: int
    opcode: str
    executions: int
    sectors: int
    least_sectors: int
    lines: int


@dataclass(frozen=True)
class BankReport:
    """The memory accesses of a kernel or a program: shared and global_memory, by line. str() gives both as tables."""

    shared: List[BankLine]
    global_memory: List[GlobalLine]
    text: str = field(repr=False)

    @property
    def wavefronts(self) -> int:
        """The wavefronts of all accesses to shared memory."""
        return sum(line.wavefronts for line in self.shared)

    @property
    def least(self) -> int:
        """The wavefronts of the same accesses without conflicts."""
        return sum(line.least for line in self.shared)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """The tables, and pictures of the statements that have conflicts."""
        pictures = "".join(f"<div>{line.worst.svg}</div>" for line in self.shared if line.wavefronts > line.least)
        return f"<pre>{html.escape(self.text)}</pre>{pictures}"


def banks(
    addresses: npt.ArrayLike, bytes: int = 4, access: str = "load", *, lanes: Optional[Sequence[int]] = None, target: str = "sm_90"
) -> BankAccess:
    """The wavefronts that a warp's access to shared memory takes, and which lanes collide.

    addresses: byte addresses, multiples of `bytes`, by lane. Fewer than 32 belong to the first lanes, such as the 8 rows of ldmatrix .x1.
    bytes: of each lane, 1 to 16. access: "load", "store", "matrix" (ldmatrix and stmatrix, whose lanes address rows of 16 bytes) or
    "copy" (cp.async of 4, 8 or 16 bytes). lanes: the active lanes; default all lanes with an address.
    """
    given = np.asarray(addresses)
    widths = {"load": (1, 2, 4, 8, 16), "store": (1, 2, 4, 8, 16), "matrix": (16,), "copy": (4, 8, 16)}
    if access not in widths:
        raise ValueError(f"there is no access '{access}': {', '.join(widths)}")
    if bytes not in widths[access]:
        raise ValueError(f"a {access} has {' or '.join(map(str, widths[access]))} bytes a lane, not {bytes}")
    if given.ndim != 1 or not 1 <= given.size <= 32 or given.dtype.kind not in "iu":
        raise ValueError(f"addresses are 1 to 32 whole numbers, one for each lane; {given.dtype} {given.shape} given")
    if int(given.min()) < 0 or (given % bytes).any():
        raise ValueError(f"an address of a {access} of {bytes} bytes is a multiple of {bytes} from 0 on")
    chosen = range(given.size) if lanes is None else sorted(set(int(lane) for lane in lanes))
    if not chosen or chosen[0] < 0 or chosen[-1] >= given.size:
        raise ValueError(f"lanes are one or more of 0 to {given.size - 1}, those that have an address")
    by_lane = [int(address) for address in given] + [0] * (32 - given.size)
    example = (access, bytes, by_lane, sum(1 << lane for lane in chosen), "one warp")
    return _access(0, f"{access} of {bytes} bytes", example, _core.bank_label(target, example))


def _access(line: int, opcode: str, example: _core.BankExample, label: str) -> BankAccess:
    access, bytes_, addresses, mask, _ = example
    phases = [
        BankPhase(_lanes(in_phase), wavefronts, _lanes(colliding), [BankWord(bank, address, _lanes(by)) for bank, address, by in words])
        for in_phase, wavefronts, colliding, words in _core.bank_phases(example)
    ]
    text, svg = _core.bank_picture(line, opcode, example)
    return BankAccess(access, bytes_, np.array(addresses, np.uint64), _lanes(mask), phases, label, text, svg)


def _lanes(mask: int) -> Lanes:
    return tuple(lane for lane in range(32) if mask >> lane & 1)


def report(found: _core.BankTuple) -> BankReport:
    """From what the module _core gives."""
    lines, text = found
    shared: List[BankLine] = []
    of_global: List[GlobalLine] = []
    for line, opcode, is_global, executions, wavefronts, least, sectors, least_sectors, in_lines, label, worst in lines:
        if is_global or worst is None:
            of_global.append(GlobalLine(line, opcode, executions, sectors, least_sectors, in_lines))
        else:
            shared.append(BankLine(line, opcode, executions, wavefronts, least, label, _access(line, opcode, worst, label)))
    return BankReport(shared, of_global, text)
