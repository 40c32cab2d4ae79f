"""How memory holds A of sparse instructions, and rows of elements narrower than a byte."""

from __future__ import annotations

from typing import Tuple, Union

import numpy as np
import numpy.typing as npt

from ._environment import _core
from ._forms import _anywhere, _codes, find_place
from .formats import FORMATS, Array, ArrayLike, Bits, array_of, codes_of, decode

__all__ = ["compress", "expand", "pack", "unpack"]


def compress(opcode: str, a: ArrayLike) -> Tuple[Union[Array, Bits], Array]:
    """A dense A (..., m, k) as the stored elements (..., m, k / 2) and the metadata (..., m, k / group, uint8) of mma.sp `opcode`.

    At most as many elements of each group may differ from zero as the form stores: two of four, one of two for tf32, two pairs of
    four for 4-bit integers. Otherwise a ValueError names row, group and columns.
    """
    prepared = _anywhere(opcode)
    form = prepared.form
    place = find_place(prepared, "a")
    codes = _codes(a, place)
    m, _, k = form.shape
    if codes.ndim < 2 or codes.shape[-2:] != (m, k):
        raise ValueError(f"A has the shape {codes.shape}; dense it must end with {(m, k)}")
    stored, metadata = compress_whole(form, codes)
    return array_of(stored, place.format), metadata


def compress_whole(form: _core.Form, codes: Array) -> Tuple[Array, Array]:
    """The codes of a dense A of any size, (..., m, k), as the codes of stored elements and metadata, for whole tiles of `form`: zeros fill the last."""
    rows, columns = codes.shape[-2:]
    m, _, k = form.shape
    format = next(operand.format for operand in form.operands if operand.name == "a") or ""
    codes = np.pad(codes.view(FORMATS[format].codes), [(0, 0)] * (codes.ndim - 2) + [(0, -rows % m), (0, -columns % k)])
    flat = codes.reshape((int(np.prod(codes.shape[:-2])),) + codes.shape[-2:])
    metadata, places = _core.compress(form, decode(flat, format))
    lines, halves = codes.shape[:-1], codes.shape[-1] // 2
    return np.take_along_axis(flat, places, 2).reshape(lines + (halves,)), metadata.reshape(lines + (metadata.shape[-1],))


def group_of(form: _core.Form) -> int:
    """Elements of a row of a sparse A that share a code of metadata."""
    return form.shape[2] // next(operand.columns for operand in form.operands if operand.name == "e")


def expand(opcode: str, stored: ArrayLike, metadata: ArrayLike) -> Union[Array, Bits]:
    """The dense A (..., m, k) of stored elements (..., m, k / 2) and metadata (..., m, k / group) of mma.sp `opcode`: the inverse of compress."""
    prepared = _anywhere(opcode)
    form = prepared.form
    place = find_place(prepared, "a")
    codes = _codes(stored, place)
    m, _, k = form.shape
    groups = np.asarray(metadata, np.uint8)
    batch = codes.shape[:-2]
    if codes.shape[-2:] != (m, k // 2) or groups.shape != batch + (m, k // max(1, form.metadata_group)):
        raise ValueError(f"stored elements and metadata have the shapes {codes.shape} and {groups.shape}")
    columns = _core.stored_columns(form, groups.reshape((-1,) + groups.shape[-2:]))
    flat = codes.reshape((-1, m, k // 2)).view(FORMATS[place.format].codes)
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
