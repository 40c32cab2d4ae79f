"""Whole kernels: PTX modules as nvcc, Triton and others write them, launched on the CPU."""

from __future__ import annotations

import html
import json
import struct
import warnings
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._environment import _core
from .bank_conflicts import BankReport, report
from .evidence import weakest
from .formats import FORMATS, Array, Bits, encode, to_numpy
from .options import Assembler, Checks, Fill, Gemm, Limits, Size

__all__ = ["Kernel", "LaunchResult", "Module", "Parameter", "TensorMap", "TritonKernel"]


class Parameter(NamedTuple):
    """A parameter of a kernel: its name, its bytes, PTX's type ("u64"; "b8" of a struct), and whether PTX says that it is an address."""

    name: str
    bytes: int
    type: str
    pointer: bool


@dataclass(frozen=True)
class TensorMap:
    """A tensor map of an array, an argument as cuTensorMapEncodeTiled makes it.

    array: the tensor's memory. type: "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz".
    dims: elements, the innermost first. strides: bytes of the other dimensions. box: elements that a copy traverses. swizzle: 0, 32, 64 or
    128 bytes. fill: "zeros" or "nan" outside of the tensor.
    """

    array: Any
    type: str
    dims: Sequence[int]
    strides: Sequence[int]
    box: Sequence[int]
    element_strides: Sequence[int] = ()
    swizzle: int = 0
    fill: str = "zeros"

    def _fields(self) -> _core.MapFields:
        if self.swizzle not in (0, 32, 64, 128):
            raise ValueError(f"a tensor map has no swizzle of {self.swizzle} bytes: 0, 32, 64 and 128")
        swizzle = (0, 32, 64, 128).index(self.swizzle)
        lists = [list(map(int, numbers)) for numbers in (self.dims, self.strides, self.box, self.element_strides)]
        return (self.type, lists[0], lists[1], lists[2], lists[3], 0, swizzle, 0, list(Fill).index(Fill(self.fill)))


@dataclass(frozen=True)
class LaunchResult:
    """The results of a launch besides the arrays. printed: the text that the kernel printed, in the order of the blocks. operations: warp-wide
    operations that were executed. target: the GPU whose bits they are. label: the weakest label, or None if nothing ran.
    evidence: the line that says how the bits are known. warnings: what a GPU may do otherwise, a sentence for each statement. banks: bank
    conflicts and sectors, if the launch counted them. why: the way of the element that the launch was asked for, for each block that stores it.
    profile: what `warpmat launch --profile=FILE.json` writes, if the launch measured it: "seconds", "executed", "opcodes", "lines", "kernels"."""

    printed: str
    operations: int
    target: str
    label: Optional[str]
    evidence: str
    warnings: List[str]
    banks: Optional[BankReport]
    why: List[str] = field(default_factory=list)
    profile: Optional[Dict[str, Any]] = None

    def _repr_html_(self) -> str:
        lines = [self.evidence, f"{self.operations:,} operations", *self.warnings]
        text = "".join(f"<p>{html.escape(line)}</p>" for line in lines) + f"<pre>{html.escape(self.printed)}</pre>"
        return text if self.banks is None else text + self.banks._repr_html_()


class Module:
    """A PTX module. entries: the names of its kernels. PtxError where the text is not PTX.

    >>> module = warpmat.Module(text)  # doctest: +SKIP
    >>> module.launch("saxpy", 8, 128, 1000, 2.0, x, y, target="sm_90")  # doctest: +SKIP
    """

    def __init__(self, ptx: str) -> None:
        if isinstance(ptx, Path) or (isinstance(ptx, str) and _is_file_name(ptx)):
            raise ValueError(f"{str(ptx)!r} is a file's name, and Module takes the text of PTX: warpmat.Module.from_file({str(ptx)!r}) reads it")
        self.text = ptx
        self._module = _core.Module(ptx)
        self._kernels: Dict[Tuple[str, str, bool, str], "Kernel"] = {}

    @classmethod
    def from_file(cls, path: Union[str, Path], *, target: str = "") -> Module:
        """The module in a .ptx file; or in a .cu file, which nvcc compiles, where it is found, for `target` ("sm_80"; sm_90a where it is
        left out). Other files are a RuntimeError that says what makes PTX of them."""
        return cls(_core.read_ptx(str(path), target))

    @property
    def entries(self) -> List[str]:
        return self._module.entries

    def kernel(
        self, name: Optional[str] = None, *, target: str = "", contract: bool = True, assembler: str = "rule"
    ) -> "Kernel":
        """The kernel of that name, in PTX or in C++ ("gemm" of _Z4gemmPf), or the only one, for a target: the GPU whose bits you want ("sm_90a"), default the module's .target. contract: whether
        unrounded mul and add become fma, as ptxas makes them. assembler: "ptxas" has the CUDA Toolkit's ptxas say which do, and which
        results are immediates; "rule" goes by warpmat's rule. A UserWarning says where they differ, and that there is no ptxas."""
        if name is None:
            if len(self.entries) != 1:
                names = ", ".join(map(_core.demangled_name, self.entries))
                raise ValueError(f"the module has the kernels {names or '(none)'}: name one")
            name = self.entries[0]
        key = (name, target, contract, str(Assembler(assembler)))
        if key not in self._kernels:
            self._kernels[key] = Kernel(self, *key)
        return self._kernels[key]

    def launch(
        self, name: Optional[str], grid: Size, block: Size, *args: Any, target: str = "", assembler: str = "rule", **options: Any
    ) -> LaunchResult:
        """Launches a kernel: see kernel() and Kernel.launch."""
        return self.kernel(name, target=target, assembler=assembler).launch(grid, block, *args, **options)


def _is_file_name(text: str) -> bool:
    """Whether a text is one line that ends as files do, and no PTX."""
    return "\n" not in text and text.lower().endswith((".ptx", ".cu", ".cubin", ".fatbin", ".o", ".json"))


class Kernel:
    """A kernel of a module on a target. name: in C++ without parameter types, where nvcc mangled it. parameters: what it takes. instructions: what it executes, each opcode once, with its label.
    hardware: what computes, "sm_90" of sm_90a. assembler: "ptxas 13.0", whose machine code says which sums are fused; "" where warpmat's
    rule does. evidence: the line about how their bits are known."""

    def __init__(self, module: Module, name: str, target: str, contract: bool, assembler: str) -> None:
        self.module = module
        self.assembler = ""
        if assembler == "ptxas" and contract:
            self._kernel, self.assembler, remarks = _core.kernel_by_ptxas(module._module, name, target)
            for remark in remarks:
                warnings.warn(remark, stacklevel=3)
        else:
            self._kernel = _core.Kernel(module._module, name, target, contract)
        self.name = self._kernel.readable_name
        self.target = self._kernel.target
        self.hardware = self._kernel.hardware
        self.parameters = [Parameter(*parameter) for parameter in self._kernel.parameters]
        self.instructions = self._kernel.instructions
        self.evidence = self._kernel.evidence_line

    @property
    def label(self) -> Optional[str]:
        """The weakest label of what it executes; None of nothing."""
        return weakest(label for _, label in self.instructions)

    def launch(
        self,
        grid: Size,
        block: Size,
        *args: Any,
        shared: int = 0,
        cluster: Size = 1,
        jobs: int = 0,
        schedule: int = 0,
        checks: Union[Checks, str] = Checks(),
        gemm: Union[Gemm, str, None] = None,
        limits: Limits = Limits(),
        banks: bool = False,
        profile: bool = False,
        undefined: str = "trap",
        path: str = "fast",
    ) -> LaunchResult:
        """Runs the kernel to its end.

        grid, block, cluster: a number, or up to three. args: in the kernel's order; an array is a buffer in global memory, whose address
        the parameter gets and which holds afterwards what the kernel wrote; numbers are rounded to the parameter's type; bytes, NumPy
        scalars and structured scalars as they are; a TensorMap; None is the null address. Arrays must be contiguous and little-endian; the
        same array twice is one buffer. The kernel must not change one that is read-only, and nobody may resize one meanwhile. shared: bytes
        of dynamic shared memory. jobs: threads, 0 as many as there are cores; the result does not depend on them. schedule: another order
        of blocks and warps. checks: what to look for, Checks(races=True) or words such as "all". gemm: the product that the kernel computes,
        a Gemm or its text: the first product of a matrix instruction that is not part of it is a KernelTrap with the lines of both sides.
        limits: Limits(seconds=60) ends what does not end by itself. banks: count bank conflicts and sectors, by one thread. profile: measure
        where the time goes (docs/use/performance.md).

        Raises KernelTrap for what the kernel does wrong, ValueError for arguments that do not fit, MemoryError beyond limits.memory. Ctrl-C ends it.
        """
        told = gemm if isinstance(gemm, Gemm) else Gemm(gemm or "")
        looked_for = checks if isinstance(checks, Checks) else Checks.of(checks)
        arguments = _Arguments(self, args, told.names)
        options = dict(
            jobs=jobs,
            schedule=schedule,
            operations=limits.operations,
            seconds=float(limits.seconds),
            memory=limits.memory,
            checks=looked_for.by_name(),
            banks=banks,
            profile=profile,
            gemm=told.product,
            why=told.why,
            blocks=[_index(block) for block in told.blocks],
            undefined=str(undefined),
            path=str(path),
        )
        printed, operations, warnings, counted, label, evidence, ways, measured = self._kernel.launch(
            _size(grid), _size(block), _size(cluster), shared, arguments.buffers, arguments.parameters, options
        )
        text = printed.decode(errors="replace")
        found = None if counted is None else report(counted)
        profiled = None if measured is None else json.loads(measured)
        return LaunchResult(text, operations, self.target, label, evidence, warnings, found, ways, profiled)

    def launch_on_gpu(self, grid: Size, block: Size, *args: Any, shared: int = 0, cluster: Size = 1) -> str:
        """The same on this machine's first GPU, by the driver alone; returns what the kernel printed. Raises NoGpu where there is none."""
        arguments = _Arguments(self, args)
        printed = _core.launch_on_gpu(
            self.module.text, self._kernel.name, _size(grid), _size(block), _size(cluster), shared, arguments.buffers, arguments.parameters
        )
        return printed.decode(errors="replace")


def _three(given: Size, least: int, what: str) -> Tuple[int, int, int]:
    """Up to three numbers from `least` on; those that are not given are `least`."""
    numbers = [given] if isinstance(given, int) else [int(n) for n in given]
    if not 1 <= len(numbers) <= 3 or any(n < least or n >= 1 << 32 for n in numbers):
        raise ValueError(f"{given!r} is no {what}: one to three numbers from {least} on")
    x, y, z = (numbers + [least, least])[:3]
    return x, y, z


def _size(size: Size) -> Tuple[int, int, int]:
    return _three(size, 1, "size")


def _index(block: Size) -> Tuple[int, int, int]:
    return _three(block, 0, "index of a block")


@dataclass
class _Buffer:
    name: str
    bytes: npt.NDArray[np.uint8]
    address: int
    guards: List[Any] = field(default_factory=list)


@dataclass
class _Arguments:
    """The arguments of a launch as the library takes them."""

    kernel: Kernel
    args: Sequence[Any]
    names: Sequence[str] = ()
    _buffers: List[_Buffer] = field(default_factory=list)
    parameters: _core.Parameters = field(default_factory=list)

    def __post_init__(self) -> None:
        wanted = self.kernel.parameters
        if len(self.args) != len(wanted):
            texts = ", ".join(f"{p.name} ({p.type})" for p in wanted)
            raise ValueError(f"kernel {self.kernel.name} has {len(wanted)} parameters: {texts}; {len(self.args)} given")
        if len(self.names) > len(wanted) or isinstance(self.names, str):
            raise ValueError(f"names are a list, of up to {len(wanted)} parameters")
        for i, (value, parameter) in enumerate(zip(self.args, wanted)):
            self._add(value, parameter._replace(name=self.names[i]) if i < len(self.names) else parameter)

    @property
    def buffers(self) -> _core.Buffers:
        return [(buffer.name, buffer.bytes) for buffer in self._buffers]

    def _add(self, value: Any, parameter: Parameter) -> None:
        if isinstance(value, TensorMap):
            if parameter.bytes < 128:
                raise ValueError(f"parameter {parameter.name} has {parameter.bytes} bytes; a tensor map has 128")
            at = self._buffer(value.array, parameter)
            self.parameters.append((bytes(parameter.bytes), [], [(0, value._fields(), at, 0)]))
        elif isinstance(value, np.generic) or isinstance(value, (int, float, bytes, bytearray)) or value is None:
            self.parameters.append((_number(value, parameter), [], []))
        else:
            if parameter.bytes == 128:
                raise ValueError(
                    f"parameter {parameter.name} is a struct of 128 bytes, as CUtensorMap is: pass warpmat.kernels.TensorMap(array, type, dims, ...)"
                )
            if parameter.bytes != 8:
                raise ValueError(f"parameter {parameter.name} is {parameter.type} of {parameter.bytes} bytes; an array's address has 8")
            self.parameters.append((bytes(8), [(0, self._buffer(value, parameter), 0)], []))

    def _buffer(self, value: Any, parameter: Parameter) -> int:
        """The number of the buffer of an array."""
        if getattr(value, "is_cuda", False) or not _shows_memory(value):
            kind = "a tensor on a GPU" if getattr(value, "is_cuda", False) else f"a {type(value).__name__}"
            raise TypeError(f"{parameter.name} is {kind}, whose copy the kernel would write to: pass an array in this machine's memory")
        array = to_numpy(value)
        array = array.codes if isinstance(array, Bits) else array
        if not array.flags.c_contiguous:
            raise ValueError(f"the array for {parameter.name} is not contiguous: np.ascontiguousarray makes it so")
        raw = array.reshape(-1).view(np.uint8)
        address = int(raw.__array_interface__["data"][0])
        for i, buffer in enumerate(self._buffers):
            if buffer.address == address and buffer.bytes.size == raw.size:
                return i
            if buffer.address < address + raw.size and address < buffer.address + buffer.bytes.size:
                raise ValueError(f"the arrays for {buffer.name} and {parameter.name} overlap: pass one array, and offsets as numbers")
        self._buffers.append(_Buffer(parameter.name, raw, address, _guards(array)))
        return len(self._buffers) - 1


def _shows_memory(value: Any) -> bool:
    """Whether an array of the value has the value's own memory."""
    if isinstance(value, Bits) or any(hasattr(value, name) for name in ("__array_interface__", "__array__", "__dlpack__")):
        return True
    try:
        memoryview(value)
    except TypeError:
        return False
    return True


def _guards(array: Any) -> List[Any]:
    """Weak references to the array and to those whose memory it shows: while there are some, resize() refuses to move that memory."""
    guards = []
    while isinstance(array, np.ndarray):
        guards.append(weakref.ref(array))
        array = array.base
    return guards


_codes = {"s8": "b", "u8": "B", "b8": "B", "s16": "h", "u16": "H", "b16": "H", "s32": "i", "u32": "I", "b32": "I", "s64": "q", "u64": "Q", "b64": "Q"}
_floats = {"f16": "e", "f32": "f", "f64": "d"}


def _number(value: Any, parameter: Parameter) -> bytes:
    """The bytes of a parameter that is no array."""
    if value is None:
        value = 0
    if isinstance(value, np.generic):
        raw = value.tobytes()
        if not value.dtype.isnative:
            raise ValueError(f"parameter {parameter.name} is given in big-endian order ({value.dtype})")
        if len(raw) != parameter.bytes:
            raise ValueError(f"parameter {parameter.name} is {parameter.type} of {parameter.bytes} bytes; {value.dtype} has {len(raw)}")
        return raw
    if isinstance(value, (bytes, bytearray)):
        if len(value) != parameter.bytes:
            raise ValueError(f"parameter {parameter.name} has {parameter.bytes} bytes; {len(value)} given")
        return bytes(value)
    if parameter.type in _floats:
        return _float_bytes(float(value), parameter)
    if parameter.type == "b16" and isinstance(value, float):
        raise ValueError(f"parameter {parameter.name} is b16, f16 or bf16 for all PTX says: pass np.float16(x) or warpmat.encode's codes")
    code = _codes.get(parameter.type)
    if code is None or struct.calcsize(code) != parameter.bytes:
        also = " or, where it is a CUtensorMap, a warpmat.kernels.TensorMap of an array" if parameter.bytes >= 128 else ""
        raise ValueError(f"parameter {parameter.name} is a struct of {parameter.bytes} bytes: pass bytes, a NumPy scalar{also}")
    if isinstance(value, float) and not parameter.type.startswith("b"):
        raise ValueError(f"parameter {parameter.name} is {parameter.type}; {value} is no whole number")
    if isinstance(value, float):
        return struct.pack("<f" if parameter.bytes == 4 else "<d", value)
    bits = 8 * parameter.bytes
    if not -(1 << (bits - 1)) <= value < 1 << bits:
        raise ValueError(f"parameter {parameter.name} is {parameter.type}, which does not hold {value}")
    return int(value % (1 << bits)).to_bytes(parameter.bytes, "little")


def _float_bytes(value: float, parameter: Parameter) -> bytes:
    """Rounded to nearest even, beyond the range to infinity."""
    codes: Array = encode(value, parameter.type).codes
    return codes.astype(FORMATS[parameter.type].codes).tobytes()


class TritonKernel:
    """A kernel that Triton compiled: the .ptx and the .json beside it, launched as Triton does.

    ptx: a path. metadata: the path of the .json; beside the .ptx where it is left out. name, block (32 * num_warps), shared, cluster come
    from there. target: the GPU whose bits you want, default the PTX's .target.
    """

    def __init__(self, ptx: Union[str, Path], metadata: Union[str, Path, None] = None, *, target: str = "") -> None:
        ptx = Path(ptx)
        found: Mapping[str, Any] = json.loads(Path(metadata or ptx.with_suffix(".json")).read_text())
        if "num_warps" not in found:
            raise ValueError(f"{metadata or ptx.with_suffix('.json')} is not of Triton: it has no num_warps")
        module = Module(ptx.read_text())
        self.kernel = module.kernel(found.get("name"), target=target)
        self.block = 32 * int(found["num_warps"])
        self.shared = int(found.get("shared", 0))
        self.cluster = int(found.get("num_ctas", 1))

    def launch(self, grid: Size, *args: Any, **options: Any) -> LaunchResult:
        """Launches it. args: the arguments of the Triton function that are not constants. Triton appends up to two addresses of scratch
        memory; they are null."""
        missing = self.kernel.parameters[len(args) :]
        if len(missing) <= 2 and all(parameter.bytes == 8 for parameter in missing):
            args += (None,) * len(missing)
        return self.kernel.launch(grid, self.block, *args, shared=self.shared, cluster=self.cluster, **options)
