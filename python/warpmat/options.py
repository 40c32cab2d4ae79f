"""How a launch is checked, limited and observed, and the words that functions take."""

from __future__ import annotations

from dataclasses import dataclass, make_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Dict, Sequence, Union

from ._environment import _core

__all__ = ["Assembler", "Checks", "Choice", "Fill", "Gemm", "Limits", "Major", "Path", "Size", "Undefined"]

Size = Union[int, Sequence[int]]
"""A number, or up to three."""


class Choice(str, Enum):
    """One of some words. Functions take the word itself as well: path="reference" is path=Path.REFERENCE."""

    def __str__(self) -> str:
        return str(self.value)

    @classmethod
    def _missing_(cls, value: object) -> None:
        words = [repr(each.value) for each in cls]
        raise ValueError(f"{value!r} is no {cls.__name__.lower()}: there are {', '.join(words[:-1])} and {words[-1]}")


class Path(Choice):
    """Which of two ways computes; both have the same bits."""

    FAST = "fast"
    REFERENCE = "reference"


class Undefined(Choice):
    """What happens where the PTX ISA leaves operands undefined: an error, or what was measured."""

    TRAP = "trap"
    HARDWARE = "hardware"


class Assembler(Choice):
    """What says which unrounded products and sums are fused: warpmat's rule, or the CUDA Toolkit's ptxas."""

    RULE = "rule"
    PTXAS = "ptxas"


class Fill(Choice):
    """What a copy by a tensor map has outside of the tensor."""

    ZEROS = "zeros"
    NAN = "nan"


class Major(Choice):
    """Which index of an operand in shared memory has consecutive elements: k, or m of A and n of B."""

    K = "k"
    MN = "mn"


class _ChecksByName:
    @classmethod
    def of(cls, names: str) -> Checks:
        """From words as `warpmat launch --check` has them: "all", "none", or "races,lanes". ValueError for others."""
        return Checks(**dict(zip(_CHECKS, _core.parse_checks(names).values())))

    def by_name(self) -> Dict[str, bool]:
        """Each check by its name in `--check`."""
        return {name: getattr(self, field) for field, (name, _, _) in _CHECKS.items()}


_CHECKS = {"global_" if row[0] == "global" else row[0]: row for row in _core.check_rows()}
"""By the name of its keyword: a check's name in `--check`, whether a launch has it that does not say, and what it finds."""

if TYPE_CHECKING:

    class Checks(_ChecksByName):
        def __init__(self, **asked: bool) -> None: ...
        def __getattr__(self, name: str) -> bool: ...

else:
    Checks = make_dataclass("Checks", [(field, bool, row[1]) for field, row in _CHECKS.items()], bases=(_ChecksByName,), frozen=True)
    Checks.__module__ = __name__
    Checks.__doc__ = "What a launch looks for, beside accesses outside of memory: Checks(races=True).\n\n" + "\n".join(
        f"{field}: {finds}." for field, (_, _, finds) in _CHECKS.items()
    )


@dataclass(frozen=True)
class Gemm:
    """The product that a kernel computes, for a launch that compares every matrix instruction with it.

    product: "C=A*B^T:128x128x64", of parameters by their names, or by those that `names` gives them in order. why: an element, "C[5,3]", whose way
    the result tells. blocks: look at the products of these blocks alone.
    """

    product: str
    names: Sequence[str] = ()
    why: str = ""
    blocks: Sequence[Size] = ()


@dataclass(frozen=True)
class Limits:
    """Where a launch ends that does not end by itself. operations: of a block. seconds: of all. memory: bytes of all buffers, and of the blocks that
    run at once. 0: no limit."""

    operations: int = 0
    seconds: float = 0
    memory: int = 0
