"""What a library's GEMMs gave on a card: the order of sums of each shape that was measured."""

from __future__ import annotations

import zlib
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from .formats import Array, ArrayLike, Bits, array_of, codes_of, format_of, to_numpy
from ._attention import flash_attention, math_attention
from ._ordered_sums import sums_of
from ._measured_operands import BIAS, QUERIES_KEYS_VALUES, draw, factors, sample, sample_heads
from .summation import Summation, is_f32, rounded, stored, widened

__all__ = ["Attention", "Library", "Measured", "Operation", "library", "names"]

Shape = Tuple[int, int, int]


class Measured(NamedTuple):
    """One call of one shape. summation: the order that gives all its bits, None if none was found. checksum: CRC-32 of the sampled elements."""

    summation: Optional[Summation]
    checksum: int


class Operation(NamedTuple):
    """call: "mm", "addmm", ...; a, b, out: formats ("tf32": float32 with allow_tf32); layout: "nn", or "nt" where B's columns are contiguous."""

    call: str
    a: str
    b: str
    out: str
    layout: str


class Attention(NamedTuple):
    """A call of scaled_dot_product_attention. backend: "flash_attention", "cudnn_attention", ...; format: of all arrays."""

    backend: str
    format: str
    causal: bool


class MeasuredAttention(NamedTuple):
    """One call of one shape. orders: of q k^T and p v, of "math"; None of "flash_attention", whose rule has them. checksum: CRC-32 of the sampled
    elements; None if no rule gives them."""

    orders: Optional[Tuple[Summation, Summation]]
    checksum: Optional[int]


class Library:
    """A library on a card, as far as it was measured. library() makes one.

    name: "torch 2.11, H200". target: whose instructions they are. versions: what ran. operations: of every call its shapes (m, n, k).
    """

    def __init__(self, path: Path) -> None:
        head: Dict[str, str] = {}
        self.operations: Dict[Operation, Dict[Shape, Measured]] = {}
        self.attentions: Dict[Attention, Dict[Shape, MeasuredAttention]] = {}
        for line in path.read_text().splitlines():
            if line.startswith("#"):
                word, _, text = line[1:].partition(":")
                head[word.strip()] = text.strip()
            elif line.startswith("attention "):
                self._add_attention(line)
            elif line:
                self._add(line)
        self.name, self.target, self.versions = head["name"], head["target"], head["versions"]

    def _add(self, line: str) -> None:
        operation, order, shapes = line.split("|")
        of_shapes = self.operations.setdefault(Operation(*operation.split()), {})
        for shape in shapes.split():
            size, checksum = shape.split(":")
            m, n, k = (int(number) for number in size.split("x"))
            of_shapes[m, n, k] = Measured(_summation(order.split()), int(checksum, 16))

    def _add_attention(self, line: str) -> None:
        call, *orders, shapes = line.split("|")
        _, backend, format, mask = call.split()
        of_shapes = self.attentions.setdefault(Attention(backend, format, mask == "causal"), {})
        found = [summation for summation in (_summation(order.split()) for order in orders) if summation is not None]
        pair = (found[0], found[1]) if found else None
        for shape in shapes.split():
            size, checksum = shape.split(":")
            heads, length, depth = (int(number) for number in size.split("x"))
            of_shapes[heads, length, depth] = MeasuredAttention(pair, None if checksum == "unknown" else int(checksum, 16))

    def attention(
        self, q: ArrayLike, k: ArrayLike, v: ArrayLike, *, causal: bool = False, backend: str = "flash_attention"
    ) -> Union[Array, Bits]:
        """What scaled_dot_product_attention gives for q, k and v of (heads, length, depth), bit for bit, for shapes that were measured and are
        reproduced. Raises LookupError for everything else."""
        format = format_of(q, "q")
        call, codes = Attention(backend, format, causal), [codes_of(each, format) for each in (q, k, v)]
        shapes = [each.shape for each in codes]
        if len(shapes[0]) != 3 or shapes[1:] != shapes[:2]:
            raise ValueError(f"q, k and v have the shapes {shapes}; all must be the same (heads, length, depth)")
        count, length, depth = shapes[0]
        return _heads(call, self._known(call, (count, length, depth)), codes)

    def _known(self, call: Attention, shape: Shape) -> MeasuredAttention:
        sizes = "x".join(str(size) for size in shape)
        if shape not in self.attentions.get(call, {}):
            raise LookupError(f"{self.name} was not measured for {call.backend} of {call.format} and {sizes}: nothing follows from other shapes")
        measured = self.attentions[call][shape]
        if measured.checksum is None:
            raise LookupError(f"{self.name} has an order of {call.backend} that is not known for {call.format} and {sizes}")
        return measured

    def verify_attention(self, call: Attention, shape: Shape) -> bool:
        """Whether attention() gives the bits that the card gave for drawn operands, in up to 64 rows of up to eight heads. Raises LookupError like
        attention()."""
        measured, (count, length, _) = self._known(call, shape), shape
        places = np.arange(int(np.prod(shape))).reshape(shape)[sample_heads(count)]
        drawn = [array_of(draw(call.format, operand, places), call.format) for operand in QUERIES_KEYS_VALUES]
        eighths = [codes_of(rounded(widened(each) / np.float32(8), call.format), call.format) for each in drawn]
        found = codes_of(_heads(call, measured, eighths), call.format)[:, sample(length)]
        return zlib.crc32(np.ascontiguousarray(found).tobytes()) == measured.checksum

    def __repr__(self) -> str:
        return f"<Library {self.name}: {sum(len(shapes) for shapes in self.operations.values())} measured products>"

    def summation(self, operation: Operation, shape: Shape) -> Summation:
        """The order of sums. Raises LookupError for what was not measured, or was measured and not reproduced."""
        if operation not in self.operations:
            known = ", ".join(" ".join(each) for each in self.operations)
            raise LookupError(f"{self.name} was not measured for {' '.join(operation)}: there are {known}")
        measured = self.operations[operation].get(shape)
        sizes = "x".join(str(size) for size in shape)
        if measured is None:
            raise LookupError(
                f"{self.name} was not measured for {' '.join(operation)} of {sizes}, and shapes are chosen one by one: nothing follows from others"
            )
        if measured.summation is None:
            raise LookupError(f"{self.name} has an order of sums that is not known for {' '.join(operation)} of {sizes}")
        return measured.summation

    def matmul(
        self, a: ArrayLike, b: ArrayLike, bias: Optional[ArrayLike] = None, *, out: Optional[str] = None, call: Optional[str] = None, tf32: bool = False
    ) -> Union[Array, Bits]:
        """What the library's product of `a` (m, k) and `b` (k, n) gives, bit for bit, for shapes that were measured.

        The memory order of `b` decides which call it is, as it does in the library: rows contiguous ("nn") or columns ("nt", a transposed weight).
        bias: (n,), of addmm. out: the format of the result; default that of `a`, of 8-bit floats bf16, of integers s32. call: default "mm",
        "addmm" with a bias, "scaled_mm_fast" of 8-bit floats (with scales of 1), "int_mm" of s8. tf32: torch's allow_tf32.

        Raises LookupError for everything that was not measured: a library chooses by shape.
        """
        x, y = to_numpy(a), to_numpy(b)
        of_a, of_b = (("tf32" if tf32 else "f32",) * 2) if is_f32(x) and is_f32(y) else (format_of(x, "a"), format_of(y, "b"))
        wanted = out or ("s32" if of_a == "s8" else "bf16" if of_a in ("e4m3", "e5m2") else "f32" if of_a == "tf32" else of_a)
        default = "int_mm" if of_a == "s8" else "scaled_mm_fast" if of_a in ("e4m3", "e5m2") else "mm" if bias is None else "addmm"
        operation = Operation(call or default, of_a, of_b, wanted, _layout_of(y))
        if np.ndim(x) != 2 or np.ndim(y) != 2 or np.shape(x)[1] != np.shape(y)[0]:
            raise ValueError(f"a {np.shape(x)} and b {np.shape(y)} cannot be multiplied: they are (m, k) and (k, n)")
        (m, k), n = np.shape(x), np.shape(y)[-1]
        return stored(sums_of(x, y, self.summation(operation, (m, n, k)), self.target), None if bias is None else widened(to_numpy(bias)), wanted)

    def verify(self, operation: Operation, shape: Shape) -> bool:
        """Whether the order in the table gives the bits that the card gave for drawn operands: up to 64 rows and columns, by their checksum.
        Raises LookupError like summation()."""
        summation = self.summation(operation, shape)
        a, b, bias = operands(operation, shape)
        found = stored(sums_of(a, b, summation, self.target), bias, operation.out)
        return zlib.crc32(codes_of(found, operation.out).tobytes()) == self.operations[operation][shape].checksum


def _heads(call: Attention, measured: MeasuredAttention, codes: List[Array]) -> Union[Array, Bits]:
    """Attention of each head, from the codes of q, k and v of (heads, length, depth)."""
    heads = []
    for q, k, v in ([array_of(each, call.format) for each in head] for head in zip(*codes)):
        if measured.orders is not None:
            heads.append(math_attention(q, k, v, call.format, call.causal, measured.orders))
        else:
            heads.append(flash_attention(q, k, v, call.format, call.causal))
    return array_of(np.stack([codes_of(each, call.format) for each in heads]), call.format)


def operands(operation: Operation, shape: Shape) -> Tuple[Union[Array, Bits], Union[Array, Bits], Optional[Array]]:
    """The sampled rows of A and columns of B that an operation was measured with, and the bias, f32, of addmm."""
    a, b = factors(operation.a, operation.b, operation.layout, shape)
    bias = widened(array_in(operation.a, draw(operation.a, BIAS, sample(shape[1])))) if operation.call == "addmm" else None
    return array_in(operation.a, a), array_in(operation.b, b), bias


def array_in(format: str, codes: Array) -> Union[Array, Bits]:
    """Bit patterns as an array of an operation's format; "tf32" is float32 that the library rounds."""
    return array_of(codes, "f32" if format == "tf32" else format)


def _layout_of(b: Union[Array, Bits]) -> str:
    codes = b.codes if isinstance(b, Bits) else b
    return "nn" if codes.flags.c_contiguous else "nt"


def _summation(words: List[str]) -> Optional[Summation]:
    """From words such as `wgmma.f16 split_k=3 tile_k=64`."""
    if words == ["unknown"]:
        return None
    values: Dict[str, Any] = {}
    for word in words[1:]:
        name, _, value = word.partition("=")
        values[name] = int(value) if value.isdigit() else value or True
    return Summation(words[0], **values)


_FOLDER = Path(__file__).parent / "measured"


def names() -> List[str]:
    """The names that library() knows."""
    return [Library(path).name for path in sorted(_FOLDER.glob("*.txt"))]


@lru_cache(maxsize=None)
def library(name: str) -> Library:
    """What was measured of a library on a card: library("torch 2.11, H200"). Raises LookupError with the names that there are."""
    for path in sorted(_FOLDER.glob("*.txt")):
        found = Library(path)
        if found.name == name:
            return found
    raise LookupError(f"no library '{name}' was measured: there are {', '.join(repr(each) for each in names())}")
