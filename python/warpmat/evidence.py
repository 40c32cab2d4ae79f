"""How the bits of an instruction on a GPU are known."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Iterable, List, Optional

from ._environment import _core
from .options import Choice

__all__ = ["Evidence", "Label", "at_least", "of", "weakest"]

class Label(Choice):
    """How well bits are known, from weak to strong."""

    ASSUMED = "assumed"
    PUBLISHED = "published"
    REPLAYED = "replayed"
    SPECIFIED = "specified"
    MEASURED = "measured"


_ORDER: List[str] = [each.value for each in Label]


@dataclass(frozen=True)
class Evidence:
    """How the bits of `opcode` on `target` are known: the label and its meaning, the hardware, the machine instructions that the opcode
    becomes there, the source, how many results were compared (0 where the source is text), and the line that the tools print. layout_label
    and layout_source: how it is known which lane and register hold which element, apart from the arithmetic; empty of wgmma."""

    opcode: str
    target: str
    hardware: str
    label: str
    meaning: str
    machine: str
    source: str
    results: int
    line: str
    layout_label: str = ""
    layout_source: str = ""

    def at_least(self, label: str) -> bool:
        """Whether the label is as strong as `label`."""
        return at_least(self.label, label)

    def __str__(self) -> str:
        return self.line

    def _repr_html_(self) -> str:
        rows = [("instruction", self.opcode), ("target", self.target), ("machine instructions", self.machine)]
        rows += [("label", f"{self.label}: {self.meaning}"), ("source", self.source)]
        rows += [("results compared", f"{self.results:,}")] if self.results else []
        cells = "".join(f"<tr><th style='text-align:left'>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in rows)
        return f"<table>{cells}</table>"


def of(opcode: str, target: str) -> Evidence:
    """The evidence for `opcode`, a matrix instruction or wgmma, on `target`. ValueError where that target has no such form."""
    return Evidence(**_core.evidence(opcode, target))


def at_least(label: str, required: str) -> bool:
    """Whether `label` is as strong as `required`. What the ISA fixes completely, "specified", meets every requirement."""
    return Label(label) is Label.SPECIFIED or _ORDER.index(label) >= _ORDER.index(Label(required))


def weakest(of: Iterable[str]) -> Optional[str]:
    """The weakest of some labels; None of none."""
    found = set(of)
    return next((label for label in _ORDER if label in found), None)
