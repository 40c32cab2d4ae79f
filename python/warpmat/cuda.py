"""Products of matrices on a GPU with the bits of another one: matmul for arrays in a GPU's memory.

The kernel is the header warpmat/device/gemm.h, compiled for the GPU by NVRTC at the first use of an opcode and a target. This module calls the
driver and NVRTC by ctypes, and takes CuPy's arrays, torch's tensors and whatever else has __dlpack__.
"""

from __future__ import annotations

import ctypes
import glob
import importlib
import importlib.util
import itertools
import os
import re
from functools import lru_cache
from typing import Any, List, Optional, Sequence, Tuple

from ._environment import _core
from .errors import NoGpu
from .products import checked_gemm

__all__ = ["matmul"]

_LEGACY_STREAM = 1  # of the driver and of DLPack: waits for all blocking streams
_KINDS_OF_GPU = (2, 13)  # DLPack's kDLCUDA and kDLCUDAManaged
_MOST_BLOCKS = 65535  # along y and z

# DLPack's type codes and bits of an element of each format. Unsigned integers of the same width are bit patterns.
_INTEGER, _UNSIGNED, _FLOAT, _BFLOAT, _E4M3, _E5M2 = 0, 1, 2, 4, 10, 12
_dtypes = {
    "f64": (_FLOAT, 64),
    "f32": (_FLOAT, 32),
    "tf32": (_FLOAT, 32),
    "f16": (_FLOAT, 16),
    "bf16": (_BFLOAT, 16),
    "e4m3": (_E4M3, 8),
    "e5m2": (_E5M2, 8),
    "s32": (_INTEGER, 32),
    "s8": (_INTEGER, 8),
    "s4": (_INTEGER, 8),
}
_result_dtypes = {"f64": "float64", "f32": "float32", "f16": "float16", "s32": "int32"}


def matmul(
    a: Any, b: Any, c: Optional[Any] = None, *, instruction: str, card: str, promote_every: Optional[int] = None, out: Optional[Any] = None
) -> Any:
    """A B + C on the GPU that holds the arrays, with the bits of `card`, by the opcode `instruction`: those of warpmat.matmul with the same arguments.

    a: (..., m, k), b: (..., k, n), c: (..., m, n) or nothing for zeros: CuPy's arrays, torch's tensors or others with __dlpack__, of any strides,
    on one GPU. Leading dimensions are broadcast. Elements have the operand's dtype, or are unsigned integers of its width: bit patterns.
    promote_every: as in warpmat.matmul. out: (..., m, n) for the result, which overlaps no operand; without it a CuPy array or a torch tensor is
    made, as a is. The call returns when the result is there.

    Raises NoGpu without a driver, NVRTC or a GPU, TypeError for arrays elsewhere or of another dtype, ValueError for shapes and forms.
    """
    prepared = checked_gemm(instruction, card, promote_every)
    form, places = prepared.form, prepared.places
    operands = [_Tensor(source, name, places[name].format) for name, source in (("a", a), ("b", b), ("c", c)) if source is not None]
    if any(len(o.shape) < 2 for o in operands[:2]) or operands[0].shape[-1] != operands[1].shape[-2]:
        raise ValueError(f"a {operands[0].shape} and b {operands[1].shape} cannot be multiplied: they are (..., m, k) and (..., k, n)")
    m, n = operands[0].shape[-2], operands[1].shape[-1]
    if c is not None and operands[2].shape[-2:] != (m, n):
        raise ValueError(f"c has the shape {operands[2].shape}; it must end with {(m, n)}")
    batch = _broadcast([o.shape[:-2] for o in operands])
    if -(-m // form.shape[0]) > _MOST_BLOCKS:
        raise ValueError(f"a has {m} rows: at most {_MOST_BLOCKS * form.shape[0]} at once")
    result = out if out is not None else _empty_like(a, batch + (m, n), _result_dtypes[places["d"].format])
    d = _Tensor(result, "out", places["d"].format)
    if d.shape != batch + (m, n):
        raise ValueError(f"out has the shape {d.shape}; the product has {batch + (m, n)}")
    if any(o.device != d.device for o in operands):
        raise ValueError(f"the arrays lie on several GPUs: {', '.join(f'{o.name} on {o.device}' for o in operands + [d])}")
    if m * n and all(batch):
        _launch(form, re.sub(r"[a-z]$", "", card), d, operands, batch, promote_every or 0)
    return result


# ---- Arrays --------------------------------------------------------------------------------------------------------------------------


class _DlTensor(ctypes.Structure):
    """DLTensor of dlpack.h."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Tensor:
    """An array in a GPU's memory, which stays there as long as this object."""

    def __init__(self, source: Any, name: str, format: str):
        if not hasattr(source, "__dlpack__") or not hasattr(source, "__dlpack_device__"):
            raise TypeError(f"{name} has no __dlpack__: matmul takes CuPy's arrays, torch's tensors and others in a GPU's memory")
        kind, device = source.__dlpack_device__()
        if int(kind) not in _KINDS_OF_GPU:
            raise TypeError(f"{name} lies on DLPack's device of kind {int(kind)}, not in a GPU's memory: warpmat.matmul multiplies on the CPU")
        self.name, self.device = name, int(device)
        self.capsule = source.__dlpack__(stream=_LEGACY_STREAM)
        get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
        get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        tensor = _DlTensor.from_address(get_pointer(self.capsule, b"dltensor"))
        self._check_dtype(format, tensor)
        self.shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
        self.strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else _packed(self.shape)
        self.address = (tensor.data or 0) + tensor.byte_offset
        self.bytes = tensor.bits // 8

    def _check_dtype(self, format: str, tensor: _DlTensor) -> None:
        bits = _dtypes[format][1] if format in _dtypes else 8
        if tensor.lanes == 1 and (tensor.code, tensor.bits) in (_dtypes.get(format), (_UNSIGNED, bits)):
            return
        raise TypeError(f"{self.name} has elements of DLPack's type {tensor.code} with {tensor.bits} bits; {format} or u{bits} is needed")


def _packed(shape: Sequence[int]) -> Tuple[int, ...]:
    strides = [1]
    for size in reversed(shape[1:]):
        strides.append(strides[-1] * size)
    return tuple(reversed(strides))


def _broadcast(shapes: Sequence[Tuple[int, ...]]) -> Tuple[int, ...]:
    result: List[int] = []
    for sizes in itertools.zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1):
        wide = {size for size in sizes if size != 1}
        if len(wide) > 1:
            raise ValueError(f"the leading dimensions {', '.join(map(str, shapes))} cannot be broadcast")
        result.append(wide.pop() if wide else 1)
    return tuple(reversed(result))


def _empty_like(a: Any, shape: Tuple[int, ...], dtype: str) -> Any:
    library = type(a).__module__.partition(".")[0]
    if library not in ("cupy", "torch"):
        raise TypeError(f"a is of {library}, of which no result can be made: pass out=, an array for it")
    module = importlib.import_module(library)
    if library == "torch":
        return module.empty(shape, dtype=getattr(module, dtype), device=a.device)
    with a.device:
        return module.empty(shape, dtype)


# ---- The kernel ----------------------------------------------------------------------------------------------------------------------


class _View(ctypes.Structure):
    """MatrixView of warpmat/device/gemm.h."""

    _fields_ = [("data", ctypes.c_void_p)] + [
        (name, ctypes.c_int64) for name in ("rows", "columns", "row_stride", "column_stride", "batch_stride")
    ]


class _Operands(ctypes.Structure):
    """GemmOperands of warpmat/device/gemm.h."""

    _fields_ = [(name, _View) for name in "dabc"] + [("promote_every", ctypes.c_int64)]


def _view(tensor: _Tensor, batch: Tuple[int, ...], outer: Tuple[int, ...]) -> _View:
    """The matrices of `outer`, all but the last of the leading dimensions."""
    own = tensor.shape[:-2]
    strides = (0,) * (len(batch) - len(own)) + tuple(0 if size == 1 else stride for size, stride in zip(own, tensor.strides))
    offset = sum(i * stride for i, stride in zip(outer, strides))
    return _View(tensor.address + offset * tensor.bytes, *tensor.shape[-2:], *tensor.strides[-2:], strides[-1] if batch else 0)


def _launch(form: _core.Form, hardware: str, d: _Tensor, sources: Sequence[_Tensor], batch: Tuple[int, ...], promote_every: int) -> None:
    driver = _driver()
    with _Context(driver, d.device):
        function = _kernel(form.opcode, hardware, d.device)
        tile_rows, tile_columns = form.shape[0], form.shape[1]
        rows, columns = -(-d.shape[-2] // tile_rows), -(-d.shape[-1] // (4 * tile_columns))
        for outer in itertools.product(*(range(size) for size in batch[:-1])):
            views = [_view(tensor, batch, outer) for tensor in (d, *sources)]
            operands = _Operands(*views, *(_View(None),) * (4 - len(views)), promote_every)
            last = batch[-1] if batch else 1
            for first in range(0, last, _MOST_BLOCKS):
                _advance(operands, (d, *sources), first)
                arguments = (ctypes.c_void_p * 1)(ctypes.addressof(operands))
                blocks = min(_MOST_BLOCKS, last - first)
                _check(driver, driver.cuLaunchKernel(function, columns, rows, blocks, 128, 1, 1, 0, _stream(), arguments, None))
                _advance(operands, (d, *sources), -first)
        _check(driver, driver.cuStreamSynchronize(_stream()))


def _advance(operands: _Operands, tensors: Sequence[_Tensor], matrices: int) -> None:
    for view, tensor in zip((operands.d, operands.a, operands.b, operands.c), tensors):
        view.data = (view.data or 0) + matrices * view.batch_stride * tensor.bytes


def _stream() -> ctypes.c_void_p:
    return ctypes.c_void_p(_LEGACY_STREAM)


class _Context:
    """The primary context of a GPU, current inside `with`: that of CuPy and torch."""

    def __init__(self, driver: Any, number: int):
        self.driver, self.context = driver, _primary_context(number)

    def __enter__(self) -> None:
        _check(self.driver, self.driver.cuCtxPushCurrent_v2(self.context))

    def __exit__(self, *error: Any) -> None:
        self.driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))


@lru_cache(maxsize=None)
def _driver() -> Any:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        raise NoGpu("no GPU: this machine has no CUDA driver (libcuda.so.1)") from None
    _check(driver, driver.cuInit(0))
    return driver


def _check(driver: Any, result: int) -> None:
    if result == 0:
        return
    text = ctypes.c_char_p()
    driver.cuGetErrorString(result, ctypes.byref(text))
    raise NoGpu(f"the CUDA driver: {(text.value or b'unknown error').decode()} ({result})")


@lru_cache(maxsize=None)
def _primary_context(number: int) -> ctypes.c_void_p:
    driver, context = _driver(), ctypes.c_void_p()
    _check(driver, driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), number))
    return context


@lru_cache(maxsize=None)
def _kernel(opcode: str, hardware: str, number: int) -> ctypes.c_void_p:
    """The compiled kernel, loaded into the current context, that of GPU `number`."""
    driver = _driver()
    capability = []
    for attribute in (75, 76):  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
        value = ctypes.c_int()
        _check(driver, driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, number))
        capability.append(value.value)
    image = compiled(opcode, hardware, f"sm_{capability[0]}{capability[1]}")
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    _check(driver, driver.cuModuleLoadData(ctypes.byref(module), image))
    _check(driver, driver.cuModuleGetFunction(ctypes.byref(function), module, b"warpmat_gemm"))
    return function


def compiled(opcode: str, hardware: str, architecture: str) -> bytes:
    """The machine code for `architecture` of the GEMM by `opcode` with the bits of `hardware`. Needs NVRTC and no GPU."""
    nvrtc = _nvrtc()
    name = re.sub(r"::|\.", "_", opcode)
    text = (
        "#include <warpmat/device/gemm.h>\n"
        'extern "C" __global__ void __launch_bounds__(128) warpmat_gemm(warpmat::device::GemmOperands of) {\n'
        f"  warpmat::device::gemm_block<warpmat::device::Opcode::{name}, warpmat::device::Hardware::{hardware}>(of);\n}}\n"
    )
    headers = _core.device_headers()
    texts = (ctypes.c_char_p * len(headers))(*(text.encode() for text in headers.values()))
    names = (ctypes.c_char_p * len(headers))(*(f"warpmat/device/{name}".encode() for name in headers))
    program = ctypes.c_void_p()
    _check_nvrtc(nvrtc, nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"gemm.cu", len(headers), texts, names))
    try:
        flags = (ctypes.c_char_p * 2)(b"-std=c++17", f"-arch={architecture}".encode())
        if nvrtc.nvrtcCompileProgram(program, len(flags), flags) != 0:
            raise RuntimeError(f"NVRTC does not compile {opcode} for {architecture}: {_nvrtc_bytes(nvrtc, program, 'ProgramLog').decode().strip()}")
        return _nvrtc_bytes(nvrtc, program, "CUBIN")
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _nvrtc_bytes(nvrtc: Any, program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    _check_nvrtc(nvrtc, getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _check_nvrtc(nvrtc, getattr(nvrtc, f"nvrtcGet{what}")(program, buffer))
    return buffer.raw.rstrip(b"\0") if what == "ProgramLog" else buffer.raw


def _check_nvrtc(nvrtc: Any, result: int) -> None:
    if result != 0:
        nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise RuntimeError(f"NVRTC: {nvrtc.nvrtcGetErrorString(result).decode()}")


@lru_cache(maxsize=None)
def _nvrtc() -> Any:
    """NVRTC of the CUDA Toolkit, or of the packages that CuPy and torch bring."""
    names = [f"libnvrtc.so.{major}" for major in (13, 12)]
    folders = ["/usr/local/cuda/lib64"]
    package = importlib.util.find_spec("nvidia")
    for root in (package.submodule_search_locations or []) if package else []:
        folders += sorted(glob.glob(os.path.join(root, "*", "lib")), reverse=True)
    for path in names + [os.path.join(folder, name) for folder in folders for name in names]:
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    raise NoGpu(f"no NVRTC: this machine has none of {', '.join(names)}, of the CUDA Toolkit from 12 on")
