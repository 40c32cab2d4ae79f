"""Products of matrices: one instruction on many cases, and products of any size."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._environment import _core
from ._forms import Ids, _batch, _check_jobs, _codes, _flat, _place, _prepared, _Prepared, checked_card, together
from .formats import FORMATS, Array, ArrayLike, Bits, array_of, codes_of, find_format, format_of, named_bits, numpy_dtype, to_numpy
from .storage import compress, compress_whole, group_of
from .summation import Summation, add, parts_of, sum_parts

__all__ = ["Product", "matmul", "mma", "product"]


def mma(
    opcode: str,
    target: str,
    a: ArrayLike,
    b: ArrayLike,
    c: Optional[ArrayLike] = None,
    *,
    metadata: Optional[ArrayLike] = None,
    selector: int = 0,
    scale_a: Optional[ArrayLike] = None,
    scale_b: Optional[ArrayLike] = None,
    ids_a: Ids = (0, 0),
    ids_b: Ids = (0, 0),
    undefined: str = "trap",
    path: str = "fast",
    jobs: Optional[int] = None,
) -> Array:
    """D = A B + C as `target` executes the mma, wmma.mma or wgmma.mma_async `opcode`, bit for bit. Some of an opcode's qualifiers will do,
    "mma.m16n8k16.f16", if they leave one form; of those that differ in their sums alone it is the one with the widest.

    a: (..., m, k); of mma.sp (..., m, k / 2) stored elements with `metadata` (..., m, k / group), or a dense (..., m, k), which is
    compressed; of wgmma dense alone. b: (..., k, n). c: (..., m, n), default zeros. m8n8k4 has four products: (..., 4, m, k) and so on.
    scale_a: (..., m, factors of a row), scale_b: (..., factors of a column, n), both of block-scaled forms. Leading dimensions are cases
    and are broadcast.

    selector, ids_a, ids_b: what PTX writes as numbers. undefined: "trap", or "hardware" to do what was measured where the ISA leaves
    operands undefined. path: "fast" or "reference", with the same bits. jobs: threads; None takes all cores where that pays.

    Returns d, (..., m, n) of float16, float32, float64 or int32. Raises ValueError for wrong shapes, opcodes and targets, TypeError for
    dtypes that are not the operand's, Trap for what an instruction traps on.
    """
    checked_card(target)
    if opcode.startswith("wgmma."):
        return _warpgroup_mma(opcode, target, a, b, c, {"metadata": metadata, "scale_a": scale_a, "scale_b": scale_b}, path, jobs)
    prepared = _prepared(opcode, target)
    places = prepared.places
    arrays = _product_arrays(prepared, a, b, c, metadata, scale_a, scale_b)
    batch = _batch(arrays, places)
    inner = places["d"].shape
    d: Array = np.empty(batch + inner, prepared.sums)
    flat = d
    if batch:
        arrays = {name: _flat(array, batch, places[name].shape) for name, array in arrays.items()}
        flat = d.reshape((-1,) + inner)
    prepared.instruction.mma(arrays, flat, selector, ids_a, ids_b, undefined, path, _check_jobs(jobs, len(flat) if batch else 1))
    return d


def _warpgroup_mma(
    opcode: str,
    target: str,
    a: ArrayLike,
    b: ArrayLike,
    c: Optional[ArrayLike],
    extra: Mapping[str, Optional[ArrayLike]],
    path: str,
    jobs: Optional[int],
) -> Array:
    """One wgmma on whole matrices: what its tiles give."""
    found = _product(opcode, target)
    for name, source in extra.items():
        if source is not None:
            raise ValueError(f"{found.opcode} takes no {name}")
    m, n, k = (int(size) for size in re.findall(r"m(\d+)n(\d+)k(\d+)", found.opcode)[0])
    for name, source, shape in (("a", a, (m, k)), ("b", b, (k, n)), ("c", c, (m, n))):
        if source is not None and np.shape(to_numpy(source))[-2:] != shape:
            raise ValueError(f"{name} has the shape {np.shape(to_numpy(source))}; it must end with {shape}")
    return _matmul(found, a, b, c, None, None, None, path, jobs)


def _product_arrays(
    prepared: _Prepared,
    a: ArrayLike,
    b: ArrayLike,
    c: Optional[ArrayLike],
    metadata: Optional[ArrayLike],
    scale_a: Optional[ArrayLike],
    scale_b: Optional[ArrayLike],
) -> Dict[str, Array]:
    """The operands of mma as bit patterns, by name."""
    form, places = prepared.form, prepared.places
    if not form.multiplies:
        raise ValueError(f"{form.opcode} multiplies no matrices: warpmat.registers.execute runs it on registers")
    arrays = {"a": _codes(a, places["a"]), "b": _codes(b, places["b"])} if "e" not in places or metadata is not None else {}
    if c is not None:
        arrays["c"] = _codes(c, places["c"])
    if prepared.extra or metadata is not None or scale_a is not None or scale_b is not None:
        _add_extra(arrays, prepared, a, b, {"e": metadata, "scale-a": scale_a, "scale-b": scale_b})
    return arrays


def _add_extra(arrays: Dict[str, Array], prepared: _Prepared, a: ArrayLike, b: ArrayLike, extra: Dict[str, Optional[ArrayLike]]) -> None:
    """Metadata and scale factors, and A of a sparse form that is given dense."""
    if "e" in prepared.extra and extra["e"] is None:
        stored, extra["e"] = compress(prepared.form.opcode, a)
        arrays.update(a=_codes(stored, prepared.places["a"]), b=_codes(b, prepared.places["b"]))
    for name, source in extra.items():
        if (name in prepared.extra) != (source is not None):
            needed = {"e": "metadata", "scale-a": "scale_a", "scale-b": "scale_b"}[name]
            raise ValueError(f"{prepared.form.opcode} {'needs' if name in prepared.extra else 'takes no'} {needed}")
        if source is not None:
            arrays[name] = _codes(source, prepared.places[name])


def matmul(
    a: ArrayLike,
    b: ArrayLike,
    c: Optional[ArrayLike] = None,
    *,
    card: str,
    out: Optional[str] = None,
    instruction: Optional[str] = None,
    scale_a: Optional[ArrayLike] = None,
    scale_b: Optional[ArrayLike] = None,
    order: Optional[Sequence[int]] = None,
    promote_every: Optional[int] = None,
    split_k: int = 1,
    tile_k: int = 0,
    residue_first: bool = False,
    path: str = "fast",
    jobs: Optional[int] = None,
) -> Array:
    """A B + C of any size, by tiles of one matrix instruction. Tiles are chained along K as in a kernel: each instruction's D is operand C
    of the next.

    card: "H100", "RTX 5090", or a target. The instruction is then the one that current libraries use there for the arrays' formats: wgmma on an
    H100, tcgen05 on a B200, else mma. product() says which, and how its bits are known. out: the format of sums; default f32, s32 or f64.
    instruction: another one, as product() takes it, or a whole opcode of mma, wmma.mma or wgmma.mma_async, which decides `out`, too. "sp",
    "mma.sp", "wgmma.sp" and "tcgen05.sp" multiply by a sparse A, which is given dense: at most two of each four elements of a row differ from
    zero (tf32: one of two; 4-bit types: two pairs of four). Where fewer do, the first zeros of their group are multiplied, too.

    a: (..., m, k), b: (..., k, n), c: (..., m, n) or nothing for zeros. m, n and k are arbitrary: tiles at an edge are filled with zeros, as
    in kernels. Leading dimensions are broadcast. scale_a: (..., m, k / block), scale_b: (..., k / block, n), scale factors of ue8m0 or ue4m3
    (an array of e4m3 without signs will do) that the unit multiplies with blocks of 16 or 32 elements. order: the order in which the steps of K
    (tiles of the opcode's k) are added; default ascending. promote_every: after so many steps the sums are added to separate f32 sums, by an
    ordinary addition to nearest even, and begin again from zero (the promotion of DeepGEMM's fp8 products). split_k, tile_k, residue_first: the
    order of a library's kernel, as Summation describes it. jobs: threads; None takes all cores.

    Returns float16, float32, float64 or int32, (..., m, n).
    """
    scales = _Scales.of(a, scale_a, scale_b)
    checked_card(card)
    if instruction is not None and not isinstance(instruction, str):
        raise TypeError(f'an instruction is words such as "wgmma.f16", not {instruction!r}')
    if instruction is not None and _is_opcode(instruction):
        if out is not None:
            raise TypeError(f"{instruction} has the format of its sums: leave `out` out")
        found = _product(instruction, card)
    else:
        words = _Words.of(instruction)
        formats_of = words.a or format_of(a, "a"), words.b or format_of(b, "b")
        _check_pair(*formats_of)
        found = _product_of(card, words, *formats_of, out, scales.format if scales else "", scales.block if scales else 0)
    if split_k == 1 and not residue_first:
        return _matmul(found, a, b, c, scales, order, promote_every, path, jobs)
    if order is not None or scales is not None:
        raise ValueError("split_k and residue_first are orders of their own: they go with neither order nor scale factors")
    return _matmul_in_parts(found, a, b, c, Summation("", split_k, tile_k, residue_first, promote_every), path, jobs)


def _matmul_in_parts(
    found: _core.Product, a: ArrayLike, b: ArrayLike, c: Optional[ArrayLike], summation: Summation, path: str, jobs: Optional[int]
) -> Array:
    """A product whose K a kernel takes apart as `summation` says."""
    places = {o.name: _place(o) for o in found.tile.operands if o.kind == "fragment"}
    if places["d"].format == "f16":
        raise ValueError("the sums of parts are added in f32, f64 or s32, not in f16")
    x, y = _codes(a, places["a"]), _codes(b, places["b"])
    start = None if c is None else codes_of(c, places["d"].format, "c").view(places["d"].dtype)

    def multiply(first: int, last: int, sums: Optional[Array]) -> Array:
        of_a, of_b = array_of(x[..., first:last], places["a"].format), array_of(y[..., first:last, :], places["b"].format)
        return _matmul(found, of_a, of_b, sums, None, None, summation.promote_every, path, jobs)

    _product_shape({"a": x, "b": y}, 0)  # before anything is taken apart
    parts = parts_of(x.shape[-1], summation.split_k, summation.tile_k or found.tile.shape[2], summation.residue_first)
    if "e" in places and any(first % group_of(found.tile) for ranges in parts for first, _ in ranges):
        raise ValueError(f"{found.opcode} takes K apart at whole groups of {group_of(found.tile)} elements alone")
    return sum_parts(parts, multiply, start, summation.workspace)


class Product(NamedTuple):
    """The matrix instruction that multiplies on a card, and how its bits are known.

    target: "sm_90a". opcode: of wgmma that of the narrowest shape, as all widths have the same sums. shape: m, n and k of one tile. a, b, out:
    formats. machine: the machine instruction. label: "measured", "published", "assumed"; source: where from.
    """

    target: str
    opcode: str
    shape: Tuple[int, int, int]
    a: str
    b: str
    out: str
    machine: str
    label: str
    source: str


def product(
    card: str, a: str = "", b: str = "", out: Optional[str] = None, *, instruction: Optional[str] = None, scale: str = "", block: int = 0
) -> Product:
    """The matrix instruction by which matmul(card=...) multiplies formats `a` and `b` with sums of `out`, and scale factors of format `scale`
    for `block` elements each.

    instruction: words with dots between them: a unit (mma, wmma, wgmma, tcgen05), sp for a sparse A, a shape (m16n8k16), and one format of both
    factors or two; "wgmma.f16", "mma.m16n8k32.e4m3.e5m2", "tf32", "wgmma.sp". Without a unit the choice is that of current libraries: tcgen05,
    wgmma, mma, wmma, in this order as the card has them. Of several shapes of mma it is that with the largest K.

    >>> warpmat.product("H100", "e4m3").opcode
    'wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3'
    >>> warpmat.product("B200", "e2m1", scale="ue4m3", block=16).opcode
    'tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X'
    """
    words = _Words.of(instruction)
    found = _product_of(checked_card(card), words, words.a or a, words.b or b or words.a or a, out, scale, block)
    tile = found.tile
    of = {operand.name: operand.format or "" for operand in tile.operands}
    m, n, k = tile.shape
    return Product(found.target, found.opcode, (m, n, k), of["a"], of["b"], of["d"], found.machine, found.label, found.source)


def _is_opcode(instruction: str) -> bool:
    """Whether it is spelled as PTX has it, with the qualifiers that every opcode has."""
    return not {"sync", "mma_async", "cta_group::1", "cta_group::2"}.isdisjoint(instruction.split("."))


_UNITS = {"mma": "mma", "wmma": "wmma.mma", "wgmma": "wgmma", "tcgen05": "tcgen05"}


class _Words(NamedTuple):
    """What an instruction's words say; empty where they say nothing."""

    unit: str = ""
    shape: str = ""
    a: str = ""
    b: str = ""
    sparse: bool = False

    @staticmethod
    def of(instruction: Optional[str]) -> "_Words":
        unit, shape, types, sparse = "", "", [], False
        for word in instruction.split(".") if instruction else []:
            if word in _UNITS:
                unit = _UNITS[word]
            elif word in FORMATS:
                types.append(word)
            elif word in ("sp", "sp::ordered_metadata"):
                sparse = True
            elif re.fullmatch(r"m\d+n\d+k\d+", word):
                shape = word
            else:
                raise ValueError(
                    f"'{word}' in the instruction '{instruction}' is no unit ({', '.join(_UNITS)}), not sp, no shape such as m16n8k16 and no format"
                )
        if len(types) > 2:
            raise ValueError(f"'{instruction}' has {len(types)} formats; one of both factors or two would be right")
        return _Words(unit, shape, types[0] if types else "", types[-1] if types else "", sparse)


class _Scales(NamedTuple):
    """Scale factors of both factors: their format, and how many elements along K share one."""

    a: Union[Array, Bits]
    b: Union[Array, Bits]
    format: str
    block: int

    @staticmethod
    def of(a: ArrayLike, scale_a: Optional[ArrayLike], scale_b: Optional[ArrayLike]) -> "Optional[_Scales]":
        if scale_a is None and scale_b is None:
            return None
        if scale_a is None or scale_b is None:
            raise ValueError(f"scale_{'b' if scale_b is None else 'a'} is missing: the unit scales both factors")
        of_a, of_b = _unsigned(scale_a, "scale_a"), _unsigned(scale_b, "scale_b")
        format, other = format_of(of_a, "scale_a"), format_of(of_b, "scale_b")
        k, factors = np.shape(to_numpy(a))[-1], np.shape(to_numpy(of_a))[-1]
        if format != other or factors == 0 or k % factors != 0:
            raise ValueError(f"scale_a is {factors} factors of {format} in a row for {k} elements, scale_b of {other}: they need one format and whole blocks")
        return _Scales(of_a, of_b, format, k // factors)


def _unsigned(scales: ArrayLike, what: str) -> Union[Array, Bits]:
    """Scale factors; those of e4m3, which packages have for ue4m3, as such."""
    array = to_numpy(scales)
    named = named_bits(array)
    if named is None or named.format != "e4m3":
        return array
    if bool((named.codes >> 7).any()):
        raise ValueError(f"{what} holds a negative number; scale factors have no sign")
    return Bits(named.codes, "ue4m3")


def _check_pair(a: str, b: str) -> None:
    """float64 is what NumPy makes of lists and of most arithmetic; beside a narrower factor it is hardly meant."""
    if (a == "f64") != (b == "f64"):
        wide, other = ("a", b) if a == "f64" else ("b", a)
        raise TypeError(f'{wide} is float64 and the other factor {other}, which nothing multiplies: warpmat.encode({wide}, "{other}") rounds it')


def _sums_of(format: str) -> str:
    return "f64" if format == "f64" else "s32" if find_format(format).integer else "f32"


@lru_cache(maxsize=None)
def _product_of(card: str, words: _Words, a: str, b: str, out: Optional[str], scale: str, block: int) -> _core.Product:
    for format in (a, b, out or a, scale or a):
        find_format(format)
    return _core.Product(card, words.unit, words.shape, a, b, out or _sums_of(a), scale, block, words.sparse)


@lru_cache(maxsize=None)
def _product(opcode: str, target: str) -> _core.Product:
    return _core.Product(_core.opcode_meant(opcode), target)


def _matmul(
    found: _core.Product,
    a: ArrayLike,
    b: ArrayLike,
    c: Optional[ArrayLike],
    scales: Optional[_Scales],
    order: Optional[Sequence[int]],
    promote_every: Optional[int],
    path: str,
    jobs: Optional[int],
) -> Array:
    form = found.tile
    places = {o.name: _place(o) for o in form.operands if o.kind == "fragment"}
    _check_promotion(places["d"].format, promote_every)
    if ("scale-a" in places) != (scales is not None):
        raise ValueError(f"{found.opcode} {'needs' if scales is None else 'takes no'} scale_a and scale_b")
    given = {"a": a, "b": b, "c": c, **({} if scales is None else {"scale-a": scales.a, "scale-b": scales.b})}
    sources = {name: _codes(source, places[name]) for name, source in given.items() if source is not None}
    batch, m, n = _product_shape(sources, scales.block if scales else 0)
    if scales is not None and scales.block * form.scale_vector != form.shape[2]:
        raise ValueError(f"{found.opcode} has a scale factor for {form.shape[2] // form.scale_vector} elements; here one is for {scales.block}")
    steps = _steps(order, -(-sources["a"].shape[-1] // form.shape[2]))
    d: Array = np.empty(batch + (m, n), numpy_dtype(places["d"].format))
    if "e" in places:
        sources["a"], sources["e"] = compress_whole(form, sources["a"])
    wide = {name: np.broadcast_to(source, batch + source.shape[-2:]) for name, source in sources.items()}
    of_jobs = 0 if jobs is None else _check_jobs(jobs, 1)
    for case in np.ndindex(batch if d.size else (0,)):
        x = {name: source[case] for name, source in wide.items()}
        extra = x.get("c"), x.get("scale-a"), x.get("scale-b"), x.get("e")
        found.matmul(x["a"], x["b"], *extra, d[case], steps, promote_every or 0, "trap", path, of_jobs)
    return d


def _product_shape(sources: Mapping[str, Array], block: int) -> Tuple[Tuple[int, ...], int, int]:
    """The leading dimensions of all arrays, and the size of the product. `block`: elements that share a scale factor."""
    a, b = sources["a"], sources["b"]
    if any(source.ndim < 2 for source in sources.values()) or a.shape[-1] != b.shape[-2]:
        raise ValueError(f"a {a.shape} and b {b.shape} cannot be multiplied: they are (..., m, k) and (..., k, n)")
    m, n, factors = a.shape[-2], b.shape[-1], a.shape[-1] // block if block else 0
    for name, shape in (("c", (m, n)), ("scale-a", (m, factors)), ("scale-b", (factors, n))):
        if name in sources and sources[name].shape[-2:] != shape:
            raise ValueError(f"{name.replace('-', '_')} has the shape {sources[name].shape}; it must end with {shape}")
    return together({name: source.shape[:-2] for name, source in sources.items()}), m, n


def _check_promotion(sums: str, promote_every: Optional[int]) -> None:
    if promote_every is not None and (not isinstance(promote_every, (int, np.integer)) or promote_every < 1 or sums != "f32"):
        raise ValueError("promote_every is a number of steps from 1 on, and needs sums of f32")


def checked_gemm(opcode: str, target: str, promote_every: Optional[int]) -> _Prepared:
    """The instruction of a product of any size on a GPU. ValueError if it cannot be chained along K."""
    places = {operand.name for operand in _product(opcode, target).tile.operands}
    if places & {"e", "scale-a"}:
        raise ValueError(f"matmul on a GPU needs a dense mma without scale factors; {opcode} is none")
    prepared = _prepared(opcode, target)
    _check_promotion(prepared.places["d"].format, promote_every)
    return prepared


def _steps(order: Optional[Sequence[int]], steps: int) -> List[int]:
    if order is None:
        return list(range(steps))
    given = [int(step) for step in order]
    if sorted(given) != list(range(steps)):
        raise ValueError(f"order must hold each of the steps 0 to {steps - 1} once")
    return given
