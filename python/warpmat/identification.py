"""Whose bits are these? The card, the instruction and the order of sums that give a result exactly."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from .formats import Array, ArrayLike, Bits, array_of, codes_of, format_of, to_numpy
from ._ordered_sums import Made, parts_in, sums_of
from .instructions import targets
from .products import product
from .summation import Summation, is_f32, stored, widened

__all__ = ["Candidate", "Identification", "Owner", "Refutation", "identify"]


class Refutation(NamedTuple):
    """The first element that an alternative does not give: its place, the bits that are there, and those of the alternative; how many of
    the elements that were looked at differ."""

    at: Tuple[int, int]
    held: int
    alternative: int
    differ: int
    of: int


class Owner(NamedTuple):
    """Whose instruction has these bits: in product()'s words, its opcode, and how its bits are known on that target."""

    instruction: str
    opcode: str
    label: str


@dataclass(frozen=True)
class Candidate:
    """An arithmetic and an order.

    owners: by target; nobody of fused multiply-adds, which all have. summation: with the instruction of the first owner. store: the result's format.
    refutation: None if all compared elements agree.
    """

    summation: Summation
    owners: Mapping[str, Owner]
    store: str
    refutation: Optional[Refutation] = None

    def summation_of(self, target: str) -> Summation:
        """The same order with the instruction of `target`."""
        return replace(self.summation, instruction=self.owners[target].instruction)

    def __str__(self) -> str:
        order = str(self.summation).partition(", ")[2]
        text = f"{_text_of(self.owners)}{', ' if order else ''}{order}, stored as {self.store}"
        if self.refutation is None:
            return text
        place, held, other, differ, of = self.refutation
        return f"{text}: not [{place[0]}, {place[1]}], which is {held:#x}, not {other:#x}; {differ} of {of} elements differ"


def _text_of(owners: Mapping[str, Owner]) -> str:
    """Targets by instruction and label, without sm_90a where sm_90 is."""
    groups: Dict[Tuple[str, str], List[str]] = {}
    for target, owner in owners.items():
        if target.rstrip("af") == target or target.rstrip("af") not in owners:
            groups.setdefault((owner.instruction, owner.label), []).append(target)
    return "; ".join(f"{instruction} of {', '.join(names)} ({label})" for (instruction, label), names in groups.items()) or "fused multiply-adds"


@dataclass(frozen=True)
class Identification:
    """What gives a result, simplest first, and what does not.

    matches: each gives every compared element. refuted: the nearest order of every other arithmetic. compared: elements that were compared, all
    of the result or as many rows as a few seconds allow. str() says it in lines.
    """

    matches: List[Candidate] = field(default_factory=list)
    refuted: List[Candidate] = field(default_factory=list)
    compared: int = 0

    def __str__(self) -> str:
        lines = [f"{self.compared} elements compared"]
        lines += [f"  exactly: {each}" for each in self.matches] or ["  unknown: no order that is tried gives these bits"]
        return "\n".join(lines + [f"  refuted: {each}" for each in self.refuted])


# The tiles along K of kernels that were seen; the first is one step of the instruction.
_TILES = (64, 128, 32, 16, 8, 4)
_MOST_PARTS = 32
# Slices of a tile in f32 kernels that were seen, and the tile.
_SLICED = ((4, 32), (8, 64), (16, 16))
_SHAPES = ("", "m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32", "m16n8k64", "m8n8k4", "m8n8k16")
_MOST_MULTIPLIED = 1 << 32


def identify(
    result: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    bias: Optional[ArrayLike] = None,
    cards: Optional[Sequence[str]] = None,
) -> Identification:
    """Which arithmetic and order of K give `result` = `a` `b` (+ `bias`) bit for bit: cards' instructions, split-K, promotion, tiles.

    result: (m, n) of float16, bfloat16, float32, float64 or int32, as it was stored. a: (m, k), b: (k, n): arrays whose dtype is a format,
    as matmul takes them; float32 is multiplied as tf32 or by fused multiply-adds. bias: (n,), added in f32 before the sum is stored. cards: only
    these cards or targets; default all.

    Returns what fits, and for every other arithmetic its nearest order with an element that refutes it. A small K has many names: the
    simplest order of each arithmetic is returned. Raises ValueError or TypeError for arrays that are no product.
    """
    question = _Question(result, a, b, bias)
    arithmetics = _arithmetics(question, cards)
    found = [_search(question, arithmetic) for arithmetic in arithmetics]
    matches = [each for each in found if each.refutation is None]
    return Identification(sorted(matches, key=_simplicity), [each for each in found if each.refutation is not None], question.compared)


def _simplicity(candidate: Candidate) -> Tuple[int, bool, int]:
    s = candidate.summation
    return s.split_k * s.slices + (s.promote_every is not None), s.residue_first, -len(candidate.owners)


class _Question:
    """A result, its factors, and a few of its elements to try orders with."""

    def __init__(self, result: ArrayLike, a: ArrayLike, b: ArrayLike, bias: Optional[ArrayLike]) -> None:
        self.a, self.b = to_numpy(a), to_numpy(b)
        given = to_numpy(result)
        self.store = "f32" if is_f32(given) else format_of(given, "the result")
        self.result = codes_of(given, self.store)
        shapes = np.shape(self.a), np.shape(self.b), self.result.shape
        if any(len(shape) != 2 for shape in shapes) or shapes[2] != (shapes[0][0], shapes[1][1]) or shapes[0][1] != shapes[1][0]:
            raise ValueError(f"{shapes[2]} is no product of {shapes[0]} and {shapes[1]}: they are (m, n), (m, k) and (k, n)")
        if 0 in self.result.shape or shapes[0][1] == 0:
            raise ValueError("an empty product has no bits to compare")
        self.f32 = is_f32(self.a) and is_f32(self.b)
        self.bias = None if bias is None else widened(to_numpy(bias))
        if self.bias is not None and self.bias.shape != (shapes[2][1],):
            raise ValueError(f"bias has the shape {self.bias.shape}; it must be {(shapes[2][1],)}")
        m, n = self.result.shape
        rows = max(1, min(m, _MOST_MULTIPLIED // (n * self.k)))
        self.all = np.arange(rows), np.arange(n)
        self.few = _spread(m, 4), _spread(n, 8)
        self.some = _spread(m, 16), _spread(n, 64)
        self.compared = rows * n

    @property
    def k(self) -> int:
        return int(np.shape(self.b)[0])

    def factors(self, where: Tuple[Array, Array]) -> Tuple[Any, Any]:
        return self.a[where[0]], self.b[:, where[1]]

    def differences(self, sums: Array, where: Tuple[Array, Array]) -> Tuple[Array, Array]:
        """Where `sums` as stored have other bits than the result, and their bits. Any NaN is any other: libraries store several."""
        found = stored(sums, None if self.bias is None else self.bias[where[1]], self.store)
        held = self.result[np.ix_(*where)]
        codes = codes_of(found, self.store).view(held.dtype)
        differ = codes != held
        if self.store != "s32":
            differ &= ~(np.isnan(_numbers(found)) & np.isnan(_numbers(array_of(held, self.store))))
        return differ, codes


def _spread(size: int, most: int) -> Array:
    places: Array = np.unique(np.linspace(0, size - 1, most).astype(int))
    return places


def _numbers(stored: Union[Array, Bits]) -> Array:
    return np.asarray(stored.values() if isinstance(stored, Bits) else stored, np.float64)


class _Arithmetic:
    """An instruction whose sums of a few elements are those of all `owners`; "fma" is everybody's."""

    def __init__(self, instruction: str, card: str = "", step: int = 1, sums: str = "f32") -> None:
        self.instruction, self.card, self.step, self.format = instruction, card, step, sums
        self.owners: Dict[str, Owner] = {}
        self.made: Made = {}

    def sums(self, a: Any, b: Any, summation: Summation, keep: bool) -> Array:
        """`keep`: the factors are always the same few."""
        return sums_of(a, b, summation, self.card, self.made if keep else None)


def _arithmetics(question: _Question, cards: Optional[Sequence[str]]) -> List[_Arithmetic]:
    """All instructions of the cards that multiply these formats, those with the same sums of the chosen elements as one."""
    formats = ("tf32", "tf32") if question.f32 else (format_of(question.a, "a"), format_of(question.b, "b"))
    a, b = question.factors(question.few)
    found: Dict[Tuple[bytes, int], _Arithmetic] = {}
    for each in _instructions(formats, targets() if cards is None else cards):
        plain = Summation(each.instruction, rounded=question.f32)
        same = found.setdefault((each.sums(a, b, plain, True).tobytes(), each.step), each)
        same.owners.setdefault(each.card, each.owners[each.card])
    return ([_Arithmetic("fma")] if question.f32 else []) + list(found.values())


def _instructions(formats: Tuple[str, str], cards: Sequence[str]) -> Iterator[_Arithmetic]:
    for card in cards:
        seen = set()
        for unit in ("wgmma", "tcgen05", "mma", "wmma"):
            for shape in _SHAPES if unit == "mma" else ("",):
                words = ".".join(word for word in (unit, shape, *formats) if word)
                try:
                    one = product(card, *formats, instruction=words)
                except ValueError:
                    continue  # this card has no such instruction
                if one.opcode not in seen:
                    seen.add(one.opcode)
                    found = _Arithmetic(words, one.target, one.shape[2], one.out)
                    found.owners[one.target] = Owner(words, one.opcode, one.label)
                    yield found


def _summations(question: _Question, arithmetic: _Arithmetic) -> Iterator[Summation]:
    """The orders that libraries were seen to have, plausible ones first."""
    plain = Summation(arithmetic.instruction)
    starts = [replace(plain, rounded=True), plain] if question.f32 and arithmetic.card else [plain]
    workspaces = ["f32"] if question.store in ("f32", "f64", "s32") else ["f32", question.store]
    seen = set()
    for start in starts:
        for order in _orders(question.k, arithmetic, start):
            parts = tuple(tuple(ranges) for ranges in parts_in(question.k, order, arithmetic.card))
            for workspace in workspaces if len(parts) > 1 else ["f32"]:
                key = (parts, order.promote_every, workspace, start.rounded, order.slices, order.tile_k if order.slices > 1 else 0)
                if key not in seen:
                    seen.add(key)
                    yield replace(order, workspace=workspace, split_k=len(parts))


def _orders(k: int, arithmetic: _Arithmetic, start: Summation) -> Iterator[Summation]:
    yield start
    promotions = [128 // arithmetic.step, 64 // arithmetic.step] if arithmetic.format == "f32" and arithmetic.step in (32, 16) else []
    residues = (False, True) if arithmetic.card else (False,)  # a chain of single elements has no tiles
    for tile in _TILES:
        if k % tile and arithmetic.card:
            yield replace(start, tile_k=tile, residue_first=True)
    for steps in promotions:
        yield replace(start, promote_every=steps)
    for slices, tile in () if arithmetic.card else _SLICED:
        yield replace(start, tile_k=tile, slices=slices)
    for parts in range(2, _MOST_PARTS + 1):
        for tile in _TILES if k <= 1024 else _TILES[:-2]:
            for residue_first in residues:
                yield replace(start, split_k=parts, tile_k=tile, residue_first=residue_first)
            for steps in promotions[:1] if arithmetic.step == 32 else []:  # of 8-bit factors
                yield replace(start, split_k=parts, tile_k=tile, promote_every=steps)


def _search(question: _Question, arithmetic: _Arithmetic) -> Candidate:
    """The first order that gives all elements; else the one that gives the most of the chosen ones."""
    best: Optional[Candidate] = None
    for summation in _summations(question, arithmetic):
        candidate = _judge(question, arithmetic, summation, question.few, True)
        if candidate.refutation is None:
            candidate = _judge_owners(question, arithmetic, candidate)
        if candidate.refutation is None:
            return candidate
        share = _share(candidate)
        if best is None or share < _share(best):
            best = candidate
    assert best is not None
    return best


def _share(candidate: Candidate) -> float:
    assert candidate.refutation is not None
    return candidate.refutation.differ / candidate.refutation.of


def _judge(question: _Question, arithmetic: _Arithmetic, summation: Summation, where: Tuple[Array, Array], keep: bool) -> Candidate:
    a, b = question.factors(where)
    differ, codes = question.differences(arithmetic.sums(a, b, summation, keep), where)
    candidate = Candidate(summation, arithmetic.owners, question.store)
    if not differ.any():
        return candidate
    row, column = (int(i) for i in np.argwhere(differ)[0])
    at = int(where[0][row]), int(where[1][column])
    bits = f"u{codes.dtype.itemsize}"
    held, other = int(question.result[at].view(bits)), int(codes[row, column].view(bits))
    return replace(candidate, refutation=Refutation(at, held, other, int(differ.sum()), differ.size))


def _judge_owners(question: _Question, arithmetic: _Arithmetic, candidate: Candidate) -> Candidate:
    """The candidate with those owners that agree on all elements, who may be others than the first; if there are none, the first one's refutation."""
    fitting: Dict[str, Owner] = {}
    refuted: Optional[Candidate] = None
    for card in list(arithmetic.owners) or [arithmetic.card]:
        order = candidate.summation_of(card) if arithmetic.owners else candidate.summation
        found = _judge_all(question, _Arithmetic(order.instruction, card, arithmetic.step, arithmetic.format), order)
        if found.refutation is not None:
            refuted = refuted or replace(found, owners=arithmetic.owners)
        elif not arithmetic.owners:
            return candidate
        else:
            fitting[card] = arithmetic.owners[card]
    if fitting or refuted is None:
        return replace(candidate, summation=candidate.summation_of(next(iter(fitting))), owners=fitting)
    return refuted


def _judge_all(question: _Question, arithmetic: _Arithmetic, summation: Summation) -> Candidate:
    some = _judge(question, arithmetic, summation, question.some, False)
    return some if some.refutation is not None else _judge(question, arithmetic, summation, question.all, False)
