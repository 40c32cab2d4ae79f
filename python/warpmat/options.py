"""How a launch is checked, limited and observed, and the words that functions take."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum
from typing import Dict, Sequence, Union

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


@dataclass(frozen=True)
class Checks:
    """What a launch looks for, beside accesses outside of memory.

    uninitialised: uses of what nothing has written. copies: reads before an asynchronous copy was waited for. races: accesses of several threads
    that nothing orders. lanes: lanes that are read and take no part. fences: fences of proxies that are missing. stores: uninitialised values
    that are stored. global_: bytes of global memory that nothing has written.
    """

    uninitialised: bool = True
    copies: bool = True
    races: bool = False
    lanes: bool = False
    fences: bool = True
    stores: bool = True
    global_: bool = False

    @classmethod
    def of(cls, names: str) -> Checks:
        """From words as `warpmat launch --check` has them: "all", "none", or "races,lanes". ValueError for others."""
        return cls(**{_field(name): on for name, on in _core.parse_checks(names).items()})

    def by_name(self) -> Dict[str, bool]:
        """Each check by its name in `--check`."""
        return {field.name.rstrip("_"): getattr(self, field.name) for field in fields(self)}


def _field(name: str) -> str:
    return "global_" if name == "global" else name


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
