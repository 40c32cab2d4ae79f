"""How a launch is checked, limited and observed, and the words that functions take."""

from __future__ import annotations

from dataclasses import dataclass
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


class Checks:
    """What a launch looks for, beside accesses outside of memory: Checks(races=True)."""

    _rows = _core.check_rows()
    _fields = tuple("global_" if name == "global" else name for name, _, _ in _rows)

    def __init__(self, **asked: bool) -> None:
        for name in asked:
            if name not in self._fields:
                raise TypeError(f"{name!r} is no check: there are {', '.join(self._fields)}")
        usual = (usual for _, usual, _ in self._rows)
        self.__dict__.update(zip(self._fields, usual), **asked)

    def __getattr__(self, name: str) -> bool:  # of those that __init__ has not set
        raise AttributeError(f"{name!r} is no check: there are {', '.join(self._fields)}")

    def __setattr__(self, name: str, on: bool) -> None:
        raise AttributeError(f"a Checks does not change: Checks({name}={on}) is another one")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Checks) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        return f"Checks({', '.join(f'{name}={on}' for name, on in vars(self).items())})"

    @classmethod
    def of(cls, names: str) -> Checks:
        """From words as `warpmat launch --check` has them: "all", "none", or "races,lanes". ValueError for others."""
        return cls(**dict(zip(cls._fields, _core.parse_checks(names).values())))

    def by_name(self) -> Dict[str, bool]:
        """Each check by its name in `--check`."""
        return {name: getattr(self, field) for (name, _, _), field in zip(self._rows, self._fields)}


Checks.__doc__ = f"{Checks.__doc__}\n\n" + "\n".join(f"{field}: {finds}." for field, (_, _, finds) in zip(Checks._fields, Checks._rows))


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
