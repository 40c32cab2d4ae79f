"""What goes wrong, as exceptions with fields. Wrong arguments are ValueError or TypeError with a sentence that says what would be right."""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Sequence, Tuple

__all__ = ["Diagnostic", "KernelTrap", "NoGpu", "Note", "PtxError", "Trap"]


class Trap(RuntimeError):
    """An instruction found an operand that it traps on; it has changed nothing.

    lane: 0 to 31, the lane that caused it. address: the wrong shared-memory address, else None. case: the number of the case in a
    batch. operand: the name of the wrong operand, else None. reason: what is wrong and what would be right.
    """

    def __init__(
        self,
        message: str,
        *,
        lane: int = 0,
        address: Optional[int] = None,
        reason: str = "",
        case: int = 0,
        operand: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.lane = lane
        self.address = address
        self.reason = reason
        self.case = case
        self.operand = operand


class Note(NamedTuple):
    """What else takes part in an error of a kernel: what it did, the line of the PTX (0: no statement), the opcode, and "file.cu:12" where .loc tells."""

    text: str
    line: int
    statement: str
    source: str


class KernelTrap(RuntimeError):
    """An error of a kernel. The kernel ended there; the arrays hold what it had written until then.

    kind: "misuse", "undefined", "misaligned", "out_of_range", "unwritten", "unordered", "deadlock", "limit", "stopped" or "mispaired" (docs/use/launch.md).
    kernel: its name. block: x, y, z. warp, lane: where; lane is None where no single lane caused it. line: of the PTX. statement: the
    opcode. source: "file.cu:12" where .loc tells. address: where one is wrong, else None. reason: all sentences without the place; their
    parts are headline, notes of the other statements that take part, and help, what to do.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str = "misuse",
        kernel: str = "",
        block: Tuple[int, int, int] = (0, 0, 0),
        warp: int = 0,
        lane: Optional[int] = None,
        line: int = 0,
        statement: str = "",
        source: str = "",
        address: Optional[int] = None,
        reason: str = "",
        headline: str = "",
        notes: Sequence[Tuple[str, int, str, str]] = (),
        help: str = "",
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.kernel = kernel
        self.block = block
        self.warp = warp
        self.lane = lane
        self.line = line
        self.statement = statement
        self.source = source
        self.address = address
        self.reason = reason
        self.headline = headline
        self.notes = [Note(*note) for note in notes]
        self.help = help


class Diagnostic(NamedTuple):
    """One error of a PTX text: line and column from 1, the sentence, and the source line with a caret below it."""

    line: int
    column: int
    message: str
    excerpt: str


class PtxError(ValueError):
    """A text that is not PTX, or PTX that warpmat does not execute. errors: every wrong statement, in the order of the text, never empty."""

    def __init__(self, message: str, *, errors: Optional[List[Tuple[int, int, str, str]]] = None) -> None:
        super().__init__(message)
        self.errors = [Diagnostic(*error) for error in errors or []]


class NoGpu(RuntimeError):
    """There is no GPU that could run the kernel, and why."""
