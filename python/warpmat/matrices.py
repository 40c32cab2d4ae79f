"""Matrices and registers: one instruction on many cases, and products of any size."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _core
from .number_formats import Array, ArrayLike, Bits, array_of, codes_of, decode, find_format, format_of, formats, named_bits, numpy_dtype, to_numpy
from .summation import Summation, parts_of, sum_parts

Ids = Tuple[int, int]


class _Place(NamedTuple):
    """An operand of a form: its format, the shape of its matrices, and NumPy's dtype of the format."""

    name: str
    format: str
    shape: Tuple[int, ...]
    dtype: "np.dtype[Any]"


class _Prepared(NamedTuple):
    """An instruction and what a call needs to know of it."""

    instruction: _core.Instruction
    form: _core.Form
    places: Dict[str, _Place]
    sums: "np.dtype[Any]"
    extra: FrozenSet[str]  # those of e, scale-a, scale-b that the form has


def _plain_format(bits: int) -> str:
    """A name for elements without a format, which are bits alone."""
    return f"x{bits}"


def _place(operand: _core.Operand) -> _Place:
    shape: Tuple[int, ...] = (operand.rows, operand.columns)
    if operand.name in ("e", "scale-a", "scale-b"):
        pass  # the selector or the ids choose one of the matrices
    elif operand.matrices > 1:
        shape = (operand.matrices,) + shape
    format = operand.format or _plain_format(operand.payload_bits)
    return _Place(operand.name, format, shape, numpy_dtype(format))


@lru_cache(maxsize=None)
def _prepared(opcode: str, target: str) -> _Prepared:
    instruction = _core.Instruction(opcode, target)
    form = instruction.form
    places = {o.name: _place(o) for o in form.operands if o.kind == "fragment"}
    sums = numpy_dtype(places["d"].format) if form.multiplies else np.dtype(np.uint32)
    return _Prepared(instruction, form, places, sums, frozenset(places) & {"e", "scale-a", "scale-b"})


@lru_cache(maxsize=None)
def _anywhere(opcode: str, target: Optional[str] = None) -> _Prepared:
    """The same on `target`; without one on the newest that has the form: layouts are the same on all but sm_70, which has its own of wmma."""
    if target is not None:
        return _prepared(_core.find_form(opcode).opcode, target)
    form = _core.find_form(opcode)
    for target in reversed(_core.targets()):
        try:
            return _prepared(form.opcode, target)
        except ValueError:
            continue
    raise ValueError(f"no target has {opcode}")


def _codes(source: ArrayLike, place: _Place) -> Array:
    if type(source) is np.ndarray and source.dtype == place.dtype:
        return source
    if place.format.startswith("x"):
        array = to_numpy(source)
        if isinstance(array, Bits):
            return array.codes
        wanted = np.dtype(f"u{max(1, int(place.format[1:]) // 8)}")
        if array.dtype.itemsize != wanted.itemsize:
            raise TypeError(f"{place.name} is {array.dtype}; its elements are {place.format[1:]} bits: {wanted}")
        return array.view(wanted)
    return codes_of(source, place.format, place.name)


def _check_jobs(jobs: Optional[int], cases: int) -> int:
    """Threads for `cases` cases: without `jobs` all cores where that pays."""
    if jobs is None:
        return 0 if cases > 512 else 1
    if jobs < 1:
        raise ValueError(f"jobs is {jobs}; 1 or more would be right, or None for all cores")
    return jobs


def _batch(arrays: Mapping[str, Array], places: Mapping[str, _Place]) -> Tuple[int, ...]:
    """The leading dimensions that all arrays together have."""
    for name, array in arrays.items():
        if array.shape != places[name].shape:
            break
    else:
        return ()
    leading = []
    for name, array in arrays.items():
        shape = places[name].shape
        if array.ndim < len(shape) or array.shape[array.ndim - len(shape) :] != shape:
            raise ValueError(f"{name} has the shape {array.shape}; it must end with {shape}")
        leading.append(array.shape[: array.ndim - len(shape)])
    try:
        return np.broadcast_shapes(*leading)
    except ValueError:
        texts = ", ".join(f"{name} {shape}" for name, shape in zip(arrays, leading))
        raise ValueError(f"the leading dimensions do not fit together: {texts}") from None


def _flat(array: Array, batch: Tuple[int, ...], inner: Tuple[int, ...]) -> Array:
    """The array with its leading dimensions as one, or without one where it has a single case for all."""
    if array.ndim == len(inner):
        return array
    if array.size == int(np.prod(inner)):
        return array.reshape(inner)
    return np.broadcast_to(array, batch + inner).reshape((-1,) + inner)


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
    """D = A B + C as `target` executes the mma, wmma.mma or dense wgmma.mma_async `opcode`, bit for bit.

    a: (..., m, k); of mma.sp (..., m, k / 2) stored elements with `metadata` (..., m, k / group), or a dense (..., m, k), which is
    compressed. b: (..., k, n). c: (..., m, n), default zeros. m8n8k4 has four products: (..., 4, m, k) and so on.
    scale_a: (..., m, factors of a row), scale_b: (..., factors of a column, n), both of block-scaled forms. Leading dimensions are cases
    and are broadcast.

    selector, ids_a, ids_b: what PTX writes as numbers. undefined: "trap", or "hardware" to do what was measured where the ISA leaves
    operands undefined. path: "fast" or "reference", with the same bits. jobs: threads; None takes all cores where that pays.

    Returns d, (..., m, n) of float16, float32, float64 or int32. Raises ValueError for wrong shapes, opcodes and targets, TypeError for
    dtypes that are not the operand's, Trap for what an instruction traps on.
    """
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
    m, n, k = (int(size) for size in re.findall(r"\d+", found.opcode.split(".")[4]))
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
        raise ValueError(f"{form.opcode} multiplies no matrices: warpmat.execute runs it on registers")
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


def execute(
    opcode: str,
    target: str,
    operands: Mapping[str, Any],
    *,
    memory: Optional[npt.ArrayLike] = None,
    undefined: str = "trap",
    path: str = "fast",
    jobs: Optional[int] = None,
) -> Array:
    """Executes the matrix instruction `opcode` as `target` does on arrays of registers, as `warpmat exec` has them. find() is for any instruction.

    operands: by name ("a", "b", "c", "e", "p", ...), registers (cases, registers, 32) of uint32, or uint64 for 64-bit registers. float32 and
    other dtypes of that width are bits. You may omit leading dimensions; they are broadcast. A number is the value of all registers: so you
    write selector, stride and ids ((byte-id, thread-id)). memory: uint8 (cases, bytes) for instructions with an address; it is not changed.

    Returns d (or r), registers (cases, registers, 32); of stores the memory, uint8 (cases, bytes). Without cases in any operand there are
    none in the result. Raises Trap with the case where an instruction traps.
    """
    prepared = _prepared(opcode, target)
    written = [o for o in prepared.form.operands if o.written]
    wanted = [o for o in prepared.form.operands if not o.written]
    unknown = set(operands) - {o.name for o in wanted}
    if unknown:
        raise ValueError(f"{prepared.form.opcode} reads no {', '.join(sorted(unknown))}; it reads {', '.join(o.name for o in wanted)}")
    arrays: Dict[str, Array] = {}
    for operand in wanted:
        if operand.name in operands:
            arrays[operand.name] = _registers(operand, operands[operand.name])
        elif operand.kind == "fragment" or operand.kind == "address":
            raise ValueError(f"{prepared.form.opcode} needs {operand.name}: uint{_register_bits(operand)}, (cases, {operand.registers}, 32)")
        elif operand.kind != "stride":  # a stride may be left out
            arrays[operand.name] = np.zeros((operand.registers, 1), np.uint32)
    has_cases = any(array.ndim == 3 for array in arrays.values())
    cases = max((len(array) for array in arrays.values() if array.ndim == 3), default=1)
    bytes_of_cases = _memory(prepared.form, memory, cases)
    if bytes_of_cases is not None and memory is not None and len(np.shape(memory)) == 2:
        has_cases, cases = True, max(cases, len(bytes_of_cases))
        if len(bytes_of_cases) != cases:
            bytes_of_cases = np.array(np.broadcast_to(bytes_of_cases, (cases, bytes_of_cases.shape[1])), order="C")
    for operand in wanted:
        if operand.name in arrays:
            shape = (cases, operand.registers, 32)
            try:
                arrays[operand.name] = np.broadcast_to(arrays[operand.name], shape)
            except ValueError:
                raise ValueError(f"{operand.name} has the shape {arrays[operand.name].shape}; it must fit {shape}") from None
    result: Array
    if written:
        dtype = np.uint64 if _register_bits(written[0]) == 64 else np.uint32
        result = np.zeros((cases, written[0].registers, 32), dtype)
        arrays[written[0].name] = result
    prepared.instruction.execute(cases, arrays, bytes_of_cases, undefined, path, _check_jobs(jobs, cases))
    if not written:
        assert bytes_of_cases is not None
        result = bytes_of_cases
    first: Array = result if has_cases else result[0]
    return first


def _register_bits(operand: _core.Operand) -> int:
    return operand.register_bits if operand.kind == "fragment" else 32


_ACCESS = np.dtype(
    [("address", "u8"), ("bytes", "u4"), ("write", "?")]
    + [(name, "i4") for name in ("lane", "register", "bit", "row", "column", "matrix")]
)


def accesses(opcode: str, target: str, p: npt.ArrayLike, *, stride: Optional[int] = None) -> Array:
    """What one warp's ldmatrix, stmatrix, wmma.load or wmma.store accesses in memory, without executing it: for models of caches and time.

    p: the addresses of 32 lanes, or one number for all of them; uint64 for addresses of 64 bits. stride: of wmma, in elements.

    Returns an array of accesses in the order in which the instruction makes them, with the fields address, bytes, write, lane (ldmatrix and
    stmatrix: the lane with the address; wmma: with the register), register and bit (of wmma; else register is -1), and row, column, matrix of
    the first element. Of other instructions it is empty. Raises Trap for a misaligned address, or of wmma one that is not the same in all lanes.

    >>> warpmat.accesses("ldmatrix.sync.aligned.m8n8.x1.shared.b16", "sm_90", 16 * np.arange(32))["address"]
    array([  0,  16,  32,  48,  64,  80,  96, 112], dtype=uint64)
    """
    given = np.asarray(p)
    if given.dtype.kind not in "ui" or given.shape not in ((), (32,)):
        raise ValueError(f"p is {given.dtype}, {given.shape}; it must be whole numbers, (32,) or one number")
    addresses = np.broadcast_to(given.astype(np.uint64), 32)
    found = _prepared(opcode, target).instruction.accesses(addresses.tolist(), given.dtype.itemsize == 8, stride)
    return np.array(found, _ACCESS)


def _registers(operand: _core.Operand, source: Any) -> Array:
    """An operand's registers as words, with two or three dimensions; the last may be 1 where all lanes have the same."""
    bits = _register_bits(operand)
    if isinstance(source, int):
        return np.full((1, 1), source, f"u{bits // 8}")
    if operand.kind in ("ids", "selector", "stride") and np.ndim(source) == 1:
        return np.asarray(source, np.uint32)[:, None]
    array = to_numpy(source)
    if isinstance(array, Bits):
        raise TypeError(f"{operand.name} is a register array: uint{bits}, (cases, {operand.registers}, 32)")
    if array.dtype.itemsize * 8 != bits or array.dtype.kind not in "uif":
        raise TypeError(f"{operand.name} is {array.dtype}; registers of {operand.name} are uint{bits}")
    if array.ndim not in (2, 3):
        raise ValueError(f"{operand.name} has the shape {array.shape}; it must be (cases, {operand.registers}, 32)")
    array = array.view(f"u{bits // 8}")
    misplaced = any(stride % 4 for stride in array.strides) or (bits == 64 and array.strides[-1] != 8)
    return np.ascontiguousarray(array) if misplaced else array


def _memory(form: _core.Form, memory: Optional[ArrayLike], cases: int) -> Optional[Array]:
    needs = any(o.kind == "address" for o in form.operands)
    if needs != (memory is not None):
        raise ValueError(f"{form.opcode} {'needs' if needs else 'takes no'} memory: uint8, (cases, bytes)")
    if memory is None:
        return None
    array = np.asarray(to_numpy(memory), dtype=np.uint8)
    if array.ndim not in (1, 2):
        raise ValueError(f"memory has the shape {array.shape}; it must be (cases, bytes)")
    return np.array(np.broadcast_to(array, (cases if array.ndim == 1 else len(array), array.shape[-1])), order="C")


def matmul(
    a: ArrayLike,
    b: ArrayLike,
    c: Optional[ArrayLike] = None,
    *,
    opcode: Optional[str] = None,
    target: Optional[str] = None,
    card: Optional[str] = None,
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
    """A B + C of any size, by tiles of one dense matrix instruction. Tiles are chained along K as in a kernel: each instruction's D is operand C
    of the next.

    card: "H100", "RTX 5090", or a target. The instruction is then the one that current libraries use there for the arrays' formats: wgmma on an
    H100, tcgen05 on a B200, else mma. product() says which, and how its bits are known. out: the format of sums; default f32, s32 or f64.
    instruction: another one, as product() takes it. Or opcode and target: a dense mma, wmma.mma or wgmma.mma_async.

    a: (..., m, k), b: (..., k, n), c: (..., m, n) or nothing for zeros. m, n and k are arbitrary: tiles at an edge are filled with zeros, as
    in kernels. Leading dimensions are broadcast. scale_a: (..., m, k / block), scale_b: (..., k / block, n), scale factors of ue8m0 or ue4m3
    (an array of e4m3 without signs will do) that the unit multiplies with blocks of 16 or 32 elements. order: the order in which the steps of K
    (tiles of the opcode's k) are added; default ascending. promote_every: after so many steps the sums are added to separate f32 sums, by an
    ordinary addition to nearest even, and begin again from zero (the promotion of DeepGEMM's fp8 products). split_k, tile_k, residue_first: the
    order of a library's kernel, as Summation describes it. jobs: threads; None takes all cores.

    Returns float16, float32, float64 or int32, (..., m, n).
    """
    scales = _Scales.of(a, scale_a, scale_b)
    if opcode is not None:
        if card is not None or instruction is not None or out is not None:
            raise TypeError("opcode and target say all that card, instruction and out choose")
        if target is None:
            raise TypeError("an opcode needs a target")
        found = _product(opcode, target)
    elif (card is None) == (target is None):
        raise TypeError("matmul needs card, or opcode and target")
    else:
        unit, shape, of_a, of_b = _words(instruction)
        formats_of = of_a or format_of(a, "a"), of_b or format_of(b, "b")
        found = _product_of(card or target or "", unit, shape, *formats_of, out, scales.format if scales else "", scales.block if scales else 0)
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

    instruction: words with dots between them: a unit (mma, wmma, wgmma, tcgen05), a shape (m16n8k16), and one format of both factors or two;
    "wgmma.f16", "mma.m16n8k32.e4m3.e5m2", "tf32". Without a unit the choice is that of current libraries: tcgen05, wgmma, mma, wmma, in this
    order as the card has them. Of several shapes of mma it is that with the largest K.

    >>> warpmat.product("H100", "e4m3").opcode
    'wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3'
    >>> warpmat.product("B200", "e2m1", scale="ue4m3", block=16).opcode
    'tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X'
    """
    unit, shape, of_a, of_b = _words(instruction)
    found = _product_of(card, unit, shape, of_a or a, of_b or b or of_a or a, out, scale, block)
    tile = found.tile
    of = {operand.name: operand.format or "" for operand in tile.operands}
    m, n, k = tile.shape
    return Product(found.target, found.opcode, (m, n, k), of["a"], of["b"], of["d"], found.machine, found.label, found.source)


_UNITS = {"mma": "mma", "wmma": "wmma.mma", "wgmma": "wgmma", "tcgen05": "tcgen05"}


def _words(instruction: Optional[str]) -> Tuple[str, str, str, str]:
    """Unit, shape, and the formats of A and B that `instruction` says; empty where it says none."""
    unit, shape, types = "", "", []
    for word in instruction.split(".") if instruction else []:
        if word in _UNITS:
            unit = _UNITS[word]
        elif word in formats:
            types.append(word)
        elif re.fullmatch(r"m\d+n\d+k\d+", word):
            shape = word
        else:
            raise ValueError(f"'{word}' in the instruction '{instruction}' is no unit ({', '.join(_UNITS)}), no shape such as m16n8k16 and no format")
    if len(types) > 2:
        raise ValueError(f"'{instruction}' has {len(types)} formats; one of both factors or two would be right")
    return unit, shape, types[0] if types else "", types[-1] if types else ""


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


def _sums_of(format: str) -> str:
    return "f64" if format == "f64" else "s32" if find_format(format).integer else "f32"


@lru_cache(maxsize=None)
def _product_of(card: str, unit: str, shape: str, a: str, b: str, out: Optional[str], scale: str, block: int) -> _core.Product:
    for format in (a, b, out or a, scale or a):
        find_format(format)
    return _core.Product(card, unit, shape, a, b, out or _sums_of(a), scale, block)


@lru_cache(maxsize=None)
def _product(opcode: str, target: str) -> _core.Product:
    return _core.Product(opcode, target)


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
    wide = {name: np.broadcast_to(source, batch + source.shape[-2:]) for name, source in sources.items()}
    of_jobs = 0 if jobs is None else _check_jobs(jobs, 1)
    for case in np.ndindex(batch if d.size else (0,)):
        x = {name: source[case] for name, source in wide.items()}
        extra = x.get("c"), x.get("scale-a"), x.get("scale-b")
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
    return np.broadcast_shapes(*(source.shape[:-2] for source in sources.values())), m, n


def _check_promotion(sums: str, promote_every: Optional[int]) -> None:
    if promote_every is not None and (promote_every < 1 or sums != "f32"):
        raise ValueError("promote_every is a number of steps from 1 on, and needs sums of f32")


def checked_gemm(opcode: str, target: str, promote_every: Optional[int]) -> _Prepared:
    """The instruction of a product of any size on a GPU. ValueError if it cannot be chained along K."""
    if _product(opcode, target).tile.scale_vector:
        raise ValueError(f"matmul on a GPU needs a dense mma without scale factors, which {opcode} has")
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


# ---- Matrices and registers ----------------------------------------------------------------------------------------------------------


def scatter(opcode: str, operand: str, matrix: ArrayLike, *, selector: int = 0, ids: Ids = (0, 0), target: Optional[str] = None) -> Array:
    """The registers that hold a matrix as operand `operand` of `opcode`.

    matrix: (..., rows, columns); with (..., matrices, rows, columns) where an operand has several (ldmatrix .x4, m8n8k4). Metadata (e)
    and scale factors lie where selector or ids = (byte-id, thread-id) say; all other bits are zero. target: as for layout.
    Returns (..., registers, 32) of uint32, of 64-bit registers uint64.
    """
    prepared = _anywhere(opcode, target)
    place = _find_place(prepared, operand)
    codes = _codes(matrix, place)
    batch = _batch({operand: codes}, {operand: place})
    found = _operand(prepared.form, operand)
    words: Array = np.empty((int(np.prod(batch)), found.words, 32), np.uint32)
    chosen = prepared.instruction.selected(operand, selector, ids, ids)
    prepared.instruction.scatter(operand, chosen, codes.reshape((-1,) + place.shape), words)
    return _joined(words, found).reshape(batch + (found.registers, 32))


def gather(
    opcode: str,
    operand: str,
    registers: ArrayLike,
    *,
    selector: int = 0,
    ids: Ids = (0, 0),
    format: Optional[str] = None,
    target: Optional[str] = None,
) -> Union[Array, Bits]:
    """The matrix that registers hold as operand `operand` of `opcode`: the inverse of scatter.

    registers: (..., registers, 32). format: how to read the elements of an instruction that only moves bits; default
    unsigned integers. target: as for layout. Returns (..., rows, columns) of the format's dtype, or Bits where NumPy has none.
    """
    prepared = _anywhere(opcode, target)
    place = _find_place(prepared, operand)
    found = _operand(prepared.form, operand)
    array = _registers(found, to_numpy(registers))
    if array.shape[-2:] != (found.registers, 32):
        raise ValueError(f"{operand} has the shape {array.shape}; it must end with {(found.registers, 32)}")
    batch = array.shape[:-2]
    words = _split(np.ascontiguousarray(array.reshape((-1, found.registers, 32))), found)
    bits = found.payload_bits
    codes: Array = np.empty((len(words),) + place.shape, f"u{8 if bits > 32 else 4 if bits > 16 else 2 if bits > 8 else 1}")
    prepared.instruction.gather(operand, prepared.instruction.selected(operand, selector, ids, ids), words, codes)
    codes = codes.reshape(batch + place.shape)
    chosen = format or place.format
    if chosen.startswith("x"):
        return codes
    if find_format(chosen).bits != bits:
        raise ValueError(f"elements of {operand} have {bits} bits; {chosen} has {formats[chosen].bits}")
    return array_of(codes, chosen)


def _joined(words: Array, operand: _core.Operand) -> Array:
    """32-bit words as the registers that they are halves of."""
    if _register_bits(operand) == 32:
        return words
    return words[:, 0::2].astype(np.uint64) | (words[:, 1::2].astype(np.uint64) << np.uint64(32))


def _split(registers: Array, operand: _core.Operand) -> Array:
    if _register_bits(operand) == 32:
        return registers
    words: Array = np.empty((len(registers), operand.words, 32), np.uint32)
    words[:, 0::2] = registers.astype(np.uint32)
    words[:, 1::2] = registers >> np.uint64(32)
    return words


def _operand(form: _core.Form, name: str) -> _core.Operand:
    return next(o for o in form.operands if o.name == name)


def _find_place(prepared: _Prepared, operand: str) -> _Place:
    if operand not in prepared.places:
        raise ValueError(f"{prepared.form.opcode} has no matrix '{operand}': there are {', '.join(prepared.places)}")
    return prepared.places[operand]


def scales(opcode: str, operand: str, factors: ArrayLike, *, ids: Ids = (0, 0)) -> Array:
    """The register of scale factors of a block-scaled `opcode`: `factors` of operand "scale-a" (..., m, factors of a row) or "scale-b"
    (..., factors of a column, n), where ids = (byte-id, thread-id) select them. Returns (..., 1, 32) of uint32."""
    if operand not in ("scale-a", "scale-b"):
        raise ValueError(f"there are scale-a and scale-b; '{operand}' is neither")
    return scatter(opcode, operand, factors, ids=ids)


# ---- Sparse A and packed rows --------------------------------------------------------------------------------------------------------


def compress(opcode: str, a: ArrayLike) -> Tuple[Union[Array, Bits], Array]:
    """A dense A (..., m, k) as the stored elements (..., m, k / 2) and the metadata (..., m, k / group, uint8) of mma.sp `opcode`.

    At most as many elements of each group may differ from zero as the form stores: two of four, one of two for tf32, two pairs of
    four for 4-bit integers. Otherwise a ValueError names row, group and columns.
    """
    prepared = _anywhere(opcode)
    form = prepared.form
    place = _find_place(prepared, "a")
    codes = _codes(a, place)
    m, _, k = form.shape
    if codes.ndim < 2 or codes.shape[-2:] != (m, k):
        raise ValueError(f"A has the shape {codes.shape}; dense it must end with {(m, k)}")
    batch = codes.shape[:-2]
    flat = codes.reshape((-1, m, k)).view(formats[place.format].codes)
    metadata, columns = _core.compress(form, decode(flat, place.format))
    stored = np.take_along_axis(flat, columns, 2).reshape(batch + (m, k // 2))
    return array_of(stored, place.format), metadata.reshape(batch + metadata.shape[1:])


def expand(opcode: str, stored: ArrayLike, metadata: ArrayLike) -> Union[Array, Bits]:
    """The dense A (..., m, k) of stored elements (..., m, k / 2) and metadata (..., m, k / group) of mma.sp `opcode`: the inverse of compress."""
    prepared = _anywhere(opcode)
    form = prepared.form
    place = _find_place(prepared, "a")
    codes = _codes(stored, place)
    m, _, k = form.shape
    groups = np.asarray(metadata, np.uint8)
    batch = codes.shape[:-2]
    if codes.shape[-2:] != (m, k // 2) or groups.shape != batch + (m, k // max(1, form.metadata_group)):
        raise ValueError(f"stored elements and metadata have the shapes {codes.shape} and {groups.shape}")
    columns = _core.stored_columns(form, groups.reshape((-1,) + groups.shape[-2:]))
    flat = codes.reshape((-1, m, k // 2)).view(formats[place.format].codes)
    dense: Array = np.zeros((len(flat), m, k), flat.dtype)
    np.put_along_axis(dense, columns, flat, 2)
    return array_of(dense.reshape(batch + (m, k)), place.format)


def pack(matrix: ArrayLike, packing: str, format: str) -> npt.NDArray[np.uint8]:
    """Rows of 8-, 6- or 4-bit elements as ldmatrix reads them: 16 elements in 16 bytes, padding zero.

    matrix: (rows, columns), columns a multiple of 16. packing: "b8x16", "b6x16_p32" or "b4x16_p64". Returns uint8 (rows, columns).
    """
    numbers = decode(codes_of(matrix, format, "the matrix"), format)
    return _core.pack_rows(packing, format, numbers)


def unpack(rows: npt.ArrayLike, packing: str, format: str) -> Union[Array, Bits]:
    """The matrix (rows, columns) of `format` that packed rows hold, uint8 (rows, columns): the inverse of pack."""
    array = np.ascontiguousarray(rows, np.uint8)
    return array_of(codes_of(_core.unpack_rows(packing, format, array), format), format)
