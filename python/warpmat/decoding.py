"""Instructions by what a decoder has: the parts of an opcode, or the name of a machine instruction."""

from __future__ import annotations

from typing import Optional

from . import _core


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

    >>> warpmat.find_opcode("sm_80", mnemonic="mma", shape="m16n8k16", a="bf16")
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

    >>> warpmat.find_sass("HMMA.16816.F32", "sm_80")
    'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32'
    """
    return _core.find_sass(name, target)
