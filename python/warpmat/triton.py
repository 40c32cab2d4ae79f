"""Triton's kernels on a CPU with the bits of a card: use("h100"), then launches on CPU tensors and NumPy arrays.

    import warpmat.triton
    warpmat.triton.use("h100")
    add[(8,)](x, y, out, n, BLOCK=128)           # x, y, out: torch's CPU tensors or NumPy arrays

Triton's own compiler and launcher run. Below them is warpmat's driver, libcuda.so.1, which takes the PTX that Triton has made. The memory of the
arguments is known to it for the time of a launch alone, by the names of the kernel's parameters. What a kernel does wrong is a KernelError with the
line of the Python file; the next launch starts afresh.

This module is Python alone: it needs Triton and a C compiler, which Triton calls, and no compiled module of this package.
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import functools
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

__all__ = ["Array", "KernelError", "KernelWarning", "Observed", "libraries", "options", "stop", "take_first_configurations", "torch_on_cpu", "use"]

_CORE = "libwarpmat_cuda.so.0"
_ATTRIBUTES = {
    "major": 75,
    "minor": 76,
    "multi_processor_count": 16,
    "warp_size": 10,
    "max_threads_per_block": 1,
    "max_threads_per_multi_processor": 39,
    "regs_per_multiprocessor": 82,
    "shared_memory_per_block": 8,
    "shared_memory_per_multiprocessor": 81,
    "shared_memory_per_block_optin": 97,
    "L2_cache_size": 38,
}
"""Members of torch's device properties by their number among the attributes of CUDA's driver (CUdevice_attribute)."""
_FAULTS = {
    "cudaErrorAssert": "device-side assert triggered",
    "cudaErrorIllegalAddress": "an illegal memory access was encountered",
    "cudaErrorMisalignedAddress": "misaligned address",
    "cudaErrorLaunchFailure": "unspecified launch failure",
    "cudaErrorLaunchTimeout": "the launch timed out and was terminated",
}
"""CUDA's descriptions of kernels' faults (cudaGetErrorString)."""
_lock = threading.RLock()


class KernelError(RuntimeError):
    """What ended a launch. reports: each as a dict, with "headline", "kind", "who" and "place"; the first is the error.

    str() is the report as compilers print it: the place in the Python file, the line, and what to do."""

    def __init__(self, text: str, reports: List[Dict[str, Any]], fault: str) -> None:
        super().__init__(text)
        self.reports = reports
        self.fault = fault

    def __reduce__(self) -> Any:
        """Of an error that a process sends to another one."""
        return type(self), (str(self), self.reports, self.fault)


class KernelWarning(UserWarning):
    """A probable mistake of a kernel that did not end it."""


# ---- The libraries ---------------------------------------------------------------------------------------------------------------------


def libraries() -> str:
    """The folder of warpmat's libcuda.so.1. WARPMAT_CUDA_LIBRARIES names another one. Raises FileNotFoundError where there is none."""
    here = os.path.dirname(os.path.realpath(__file__)), os.path.dirname(os.path.abspath(__file__))
    places = [os.environ.get("WARPMAT_CUDA_LIBRARIES", ""), *os.environ.get("LD_LIBRARY_PATH", "").split(":")]
    places += [os.path.join(folder, *parts) for folder in here for parts in (("lib", "warpmat", "cuda"), ("..", "..", "..", "lib", "warpmat", "cuda"))]
    for command in filter(None, [shutil.which("warpmat")]):
        root = os.path.dirname(os.path.dirname(os.path.realpath(command)))
        places += [os.path.join(root, "lib", "warpmat", "cuda"), *glob.glob(os.path.join(root, "lib*", "*", "warpmat", "cuda"))]
    places += glob.glob("/usr/lib/*/warpmat/cuda")
    for place in places:
        if place and os.path.exists(os.path.join(place, _CORE)):
            return os.path.realpath(place)
    raise FileNotFoundError(
        f"no {_CORE} of warpmat: install the package warpmat, or set WARPMAT_CUDA_LIBRARIES to the folder of its libcuda.so.1"
    )


class _Cuda:
    """The driver's functions, and warpmat's beside them."""

    def __init__(self) -> None:
        self.folder = libraries()
        self.core = ctypes.CDLL(os.path.join(self.folder, _CORE))
        self.core.warpmat_cuda_configure.restype = ctypes.c_char_p
        self.core.warpmat_cuda_take_reports.restype = ctypes.c_char_p
        self.core.warpmat_cuda_register.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
        self.core.cuMemHostUnregister.argtypes = [ctypes.c_void_p]
        self.started = False

    def start(self) -> None:
        if self.started:
            return
        context = ctypes.c_void_p()
        for code in (
            self.core.cuInit(0),
            self.core.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
            self.core.cuCtxSetCurrent(context),
        ):
            if code:
                raise RuntimeError(f"warpmat's driver does not start: error {code}")
        self.context = context
        self.take()
        self.started = True

    def attribute(self, number: int) -> int:
        value = ctypes.c_int()
        self.core.cuDeviceGetAttribute(ctypes.byref(value), number, 0)
        return value.value

    def properties(self) -> Dict[str, Any]:
        """The device, by the names of torch.cuda.get_device_properties."""
        name, memory = ctypes.create_string_buffer(256), ctypes.c_size_t()
        self.core.cuDeviceGetName(name, len(name), 0)
        self.core.cuDeviceTotalMem_v2(ctypes.byref(memory), 0)
        numbers = {of_torch: self.attribute(number) for of_torch, number in _ATTRIBUTES.items()}
        return {"name": name.value.decode(), "total_memory": memory.value, **numbers}

    def fault_text(self, fault: str) -> str:
        """What CUDA calls the fault: "CUDA error: device-side assert triggered", which programs look for."""
        return f"CUDA error: {_FAULTS[fault]} ({fault})" if fault in _FAULTS else fault

    def take(self) -> Dict[str, Any]:
        """What launches reported since the last call; the fault is forgotten."""
        found: Dict[str, Any] = json.loads(self.core.warpmat_cuda_take_reports())
        return found


@functools.lru_cache(maxsize=None)
def _cuda() -> _Cuda:
    return _Cuda()


# ---- Settings --------------------------------------------------------------------------------------------------------------------------

_variables = {
    "target": "WARPMAT_CUDA_TARGET",
    "checks": "WARPMAT_CUDA_CHECK",
    "schedule": "WARPMAT_CUDA_SCHEDULE",
    "timing": "WARPMAT_CUDA_TIMING",
    "undefined": "WARPMAT_CUDA_UNDEFINED",
    "jobs": "WARPMAT_CUDA_JOBS",
    "sms": "WARPMAT_CUDA_SMS",
    "gemm": "WARPMAT_CUDA_GEMM",
    "seconds": "WARPMAT_CUDA_LAUNCH_SECONDS",
    "save": "WARPMAT_CUDA_SAVE",
    "assembler": "WARPMAT_CUDA_ASSEMBLER",
    "profile": "WARPMAT_CUDA_PROFILE",
}


def _set(values: Dict[str, Any]) -> Dict[str, Optional[str]]:
    """Sets options, and returns what they were, by variable. Raises TypeError or ValueError, and changes nothing then."""
    unknown = sorted(set(values) - set(_variables))
    if unknown:
        raise TypeError(f"warpmat.triton has no option {', '.join(unknown)}; it has {', '.join(_variables)}")
    before = {_variables[name]: os.environ.get(_variables[name]) for name in values}
    _put({_variables[name]: str(int(value) if isinstance(value, bool) else value) for name, value in values.items()})
    message = _cuda().core.warpmat_cuda_configure()
    if message is not None:
        _put(before)
        raise ValueError(message.decode())
    return before


def _put(variables: Any) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


class Observed:
    """What launches inside of options() reported. warnings: reports as dicts. profile: rows with "line" of the Python file, "ptx_line",
    "statement", "executed", "lanes" and "seconds".

    After the block, one for each launch if asked for: banks: what `warpmat banks --format json` says, "shared" and "global" by line. labels: how the bits
    of each instruction are known, with "opcode", "label" and "source". guesses: the text about the product that the kernel computes."""

    def __init__(self) -> None:
        self.warnings: List[Dict[str, Any]] = []
        self.profile: List[Dict[str, Any]] = []
        self.banks: List[Dict[str, Any]] = []
        self.labels: List[List[Dict[str, Any]]] = []
        self.guesses: List[str] = []


_observed: List[Observed] = []


_EXAMINATIONS = ("banks", "labels", "guess")


def _command() -> str:
    """The command `warpmat`: in PATH, or where the build folder of the libraries has it. Raises FileNotFoundError."""
    in_build = os.path.join(libraries(), "..", "..", "..", "warpmat")
    found = shutil.which("warpmat") or shutil.which(in_build)
    if found is None:
        raise FileNotFoundError(f"the options {', '.join(_EXAMINATIONS)} need the command warpmat in PATH")
    return found


class _Examination:
    """Saves launches, and asks the command about them: they are executed again."""

    def __init__(self, command: str, wanted: List[str], folder: str) -> None:
        self.command, self.wanted, self.folder = command, wanted, folder

    def ask(self, subcommand: str, launch: str, *words: str) -> Any:
        target = os.environ.get(_variables["target"], "sm_90a")
        return subprocess.run([self.command, subcommand, launch, "--target", target, *words], capture_output=True, text=True)

    def finish(self, observed: Observed) -> None:
        for number in sorted((int(name) for name in os.listdir(self.folder) if name.isdigit())):
            launch = os.path.join(self.folder, str(number), "launch.json")
            if "banks" in self.wanted:
                observed.banks.append(self.of(self.ask("banks", launch, "--format", "json")))
            if "labels" in self.wanted:
                report = os.path.join(self.folder, "report.json")
                self.ask("launch", launch, "--quiet", "--report", report)
                with open(report) as file:
                    observed.labels.append(json.load(file)["instructions"])
            if "guess" in self.wanted:
                observed.guesses.append(self.ask("launch", launch, "--quiet", "--guess").stderr)

    @staticmethod
    def of(run: Any) -> Dict[str, Any]:
        if run.returncode:
            raise RuntimeError(run.stderr.rstrip())
        found: Dict[str, Any] = json.loads(run.stdout)
        return found


@contextlib.contextmanager
def _examined(wanted: List[str], values: Dict[str, Any], observed: Observed) -> Iterator[None]:
    """What is launched inside is saved, in a folder of its own unless `values` name one, and examined afterwards."""
    if not wanted:
        yield
        return
    command = _command()
    with tempfile.TemporaryDirectory() as folder:
        values.setdefault("save", os.path.join(folder, "launches"))
        yield
        if os.path.isdir(values["save"]):
            _Examination(command, wanted, values["save"]).finish(observed)


@contextlib.contextmanager
def options(**values: Any) -> Iterator[Observed]:
    """Options for the launches inside of `with`.

    checks: "all", "none" or names, as `warpmat cuda --check` has them. gemm: the product that the kernels compute, "c=a*b:128x128x64", by the
    names of the kernel's parameters. seconds: a launch that takes longer is an error. profile: True fills Observed.profile. banks, labels, guess: True
    fills Observed.banks, .labels and .guesses, for which launches are executed again. schedule, timing, undefined, jobs, sms, save, assembler: as
    of `warpmat cuda`.
    """
    observed = Observed()
    wanted = [name for name in _EXAMINATIONS if values.pop(name, False)]
    with _examined(wanted, values, observed):
        with _lock:
            before = _set(values)
        _observed.append(observed)
        try:
            yield observed
        finally:
            _observed.remove(observed)
            _put(before)
            _cuda().core.warpmat_cuda_configure()


# ---- Arguments -------------------------------------------------------------------------------------------------------------------------


class Array:
    """A NumPy array as an argument of a kernel. Launches make one of each array that they are given."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.dtype, self.shape = array.dtype, array.shape
        self.device = "cpu"

    def data_ptr(self) -> int:
        """The address of the first element."""
        return int(self.array.__array_interface__["data"][0])

    def stride(self, dim: Optional[int] = None) -> Any:
        """In elements: of one dimension, or of all."""
        strides = tuple(size // self.array.itemsize for size in self.array.strides)
        return strides if dim is None else strides[dim]

    def element_size(self) -> int:
        """In bytes."""
        return int(self.array.itemsize)

    def numel(self) -> int:
        """The number of elements."""
        return int(self.array.size)


def _is_numpy(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def _as_argument(value: Any) -> Any:
    if _is_numpy(value):
        return Array(value)
    if type(value) in (tuple, list) and any(_is_numpy(each) for each in value):
        return type(value)(_as_argument(each) for each in value)
    return value


def _memory_of(value: Any, name: str) -> Iterator[Tuple[int, int, str]]:
    """The memory of the tensors in an argument: address, bytes, name. Memory of the GPU is known already."""
    if isinstance(value, (tuple, list)):
        for i, each in enumerate(value):
            yield from _memory_of(each, f"{name}[{i}]")
    elif hasattr(value, "untyped_storage"):
        storage = value.untyped_storage()
        if getattr(getattr(storage, "device", None), "type", "cpu") == "cpu":
            yield storage.data_ptr(), storage.nbytes(), name
    elif isinstance(value, Array):
        base = value.array
        while _is_numpy(base.base):
            base = base.base
        yield int(base.__array_interface__["data"][0]), _extent(base), name
    elif hasattr(value, "base") and (hasattr(value, "block_shape") or hasattr(value, "data_ptr")):  # a descriptor, or a tensor seen as another type
        yield from _memory_of(value.base, name)


def _extent(array: Any) -> int:
    """Bytes from the first element of an array to the end of its last one."""
    if array.size == 0:
        return 0
    return int(array.itemsize + sum((size - 1) * abs(stride) for size, stride in zip(array.shape, array.strides)))


class _Known:
    """Memory that is known to the driver, until close()."""

    def __init__(self, cuda: _Cuda) -> None:
        self.cuda, self.addresses = cuda, {}  # type: _Cuda, Dict[int, str]

    def add(self, value: Any, name: str) -> None:
        for address, size, name_of in _memory_of(value, name):
            if size and address not in self.addresses and self.cuda.core.warpmat_cuda_register(address, size, name_of.encode()) == 0:
                self.addresses[address] = name_of

    def close(self) -> None:
        for address in self.addresses:
            self.cuda.core.cuMemHostUnregister(address)


# ---- The driver ------------------------------------------------------------------------------------------------------------------------


def _conclude(cuda: _Cuda, error: Optional[BaseException] = None) -> None:
    """Raises what ended a launch, and warns of the rest."""
    found = cuda.take()
    reports, fault = found["reports"], found["fault"]
    warned = [report for report in reports if report["level"] == "warning"]
    wrong = [report for report in reports if report["level"] != "warning"]
    for observed in _observed:
        observed.warnings += warned
        observed.profile += found["profile"]
    for report in warned:
        warnings.warn(report["text"].rstrip(), KernelWarning, stacklevel=4)
    if wrong or fault:
        text = "\n".join([*(report["text"].rstrip() for report in wrong), *filter(None, [cuda.fault_text(fault)])])
        if fault == "cudaErrorAssert":
            os.write(2, (text + "\n").encode())  # as CUDA's driver prints it, where programs look for it
        raise KernelError(text, wrong + warned, fault) from error
    if error is not None:
        raise error


class Moment:
    """torch.cuda.Event: times are the emulator's."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.at = 0.0

    def record(self, *_: Any) -> None:
        self.at = time.perf_counter()

    def elapsed_time(self, end: "Moment") -> float:
        return 1e3 * (end.at - self.at)

    def synchronize(self) -> None:
        pass

    def wait(self, *_: Any) -> None:
        pass

    def query(self) -> bool:
        return True


class _Device:
    """torch.cuda, as triton.testing uses it."""

    Event = Moment

    @staticmethod
    def synchronize(*_: Any) -> None:
        pass

    @staticmethod
    def current_device() -> int:
        return 0


_FIRST_DEVICE = 1000
_device_targets: List[str] = []
"""The targets that were used: to Triton each is a device of its own, by its place here, so that none gets another one's kernels. Their numbers
are no GPU's: a kernel that has run here runs on a GPU of this machine, too."""


@functools.lru_cache(maxsize=None)
def _driver_class() -> Any:
    from triton.backends.compiler import GPUTarget
    from triton.backends.nvidia import driver as nvidia
    from triton.runtime import _allocation

    cuda = _cuda()
    tensor_map: List[Any] = []

    @contextlib.contextmanager
    def own_tensor_map() -> Iterator[None]:
        """Triton's type of host descriptors is that of the C module made last, and a global name: of a GPU's driver outside, of warpmat's inside."""
        outside = getattr(nvidia, "PyCUtensorMap", None)
        if tensor_map:
            nvidia.PyCUtensorMap = tensor_map[0]
        try:
            yield
            if not tensor_map:
                tensor_map.append(getattr(nvidia, "PyCUtensorMap", None))
        finally:
            nvidia.PyCUtensorMap = outside

    @contextlib.contextmanager
    def linked() -> Iterator[None]:
        """Triton's C modules that are made inside get warpmat's driver, whichever other one the process has: they are linked with
        libwarpmat_cuda, which they find by its own name, and look there before they look into the process."""
        compile_module = nvidia.compile_module_from_src
        flags, place = sys.getdlopenflags(), os.path.join(cuda.folder, "libcuda.so.1")

        def compile_for_warpmat(src: str, name: str, library_dirs: Any = None, *rest: Any, **more: Any) -> Any:
            sys.setdlopenflags(flags | os.RTLD_DEEPBIND)
            text = src.replace('"libcuda.so.1"', json.dumps(place)) + f"\n/* for {place} */\n"
            return compile_module(text, name, [os.path.join(cuda.folder, "link"), *(library_dirs or [])], *rest, **more)

        nvidia.compile_module_from_src = compile_for_warpmat
        libraries_of = nvidia.libcuda_dirs
        nvidia.libcuda_dirs = lambda: []
        nvidia.library_dirs.cache_clear()
        try:
            yield
        finally:
            nvidia.compile_module_from_src, nvidia.libcuda_dirs = compile_module, libraries_of
            nvidia.library_dirs.cache_clear()
            sys.setdlopenflags(flags)

    class Utils:
        """Triton's functions, for which there is one device. nvidia.CudaUtils is one object for the process, that of a GPU."""

        def __init__(self) -> None:
            self.of_triton = object.__new__(nvidia.CudaUtils)
            with own_tensor_map(), linked():
                self.of_triton.__init__()

        def __getattr__(self, name: str) -> Any:
            return getattr(self.of_triton, name)

        def get_device_properties(self, device: int) -> Any:
            return self.of_triton.get_device_properties(0)

        def load_binary(self, name: str, kernel: bytes, shared: int, device: int) -> Any:
            with _lock:
                cuda.core.cuCtxSetCurrent(cuda.context)
                try:
                    return self.of_triton.load_binary(name, kernel, shared, 0)
                except RuntimeError as error:
                    _conclude(cuda, error)

    utils = functools.lru_cache(maxsize=None)(Utils)

    class Launcher(nvidia.CudaLauncher):  # type: ignore[misc]
        def __init__(self, src: Any, metadata: Any) -> None:
            with _lock, own_tensor_map(), linked():
                super().__init__(src, metadata)
            self.names = [str(name) for name in src.signature]

        def __call__(self, *arguments: Any) -> None:
            with _lock:
                cuda.core.cuCtxSetCurrent(cuda.context)
                known = _Known(cuda)
                token = _allocation._allocator.set(self.allocator(_allocation._allocator.get(), known))
                try:
                    for name, value in zip(self.names, arguments[len(arguments) - len(self.names) :]):
                        known.add(value, name)
                    super().__call__(*arguments)
                except RuntimeError as error:
                    _conclude(cuda, error)
                else:
                    _conclude(cuda)
                finally:
                    _allocation._allocator.reset(token)
                    known.close()

        @staticmethod
        def allocator(of_user: Any, known: _Known) -> Any:
            """Kernels with descriptors made on the device need memory from triton.set_allocator(), or that of this function."""

            def allocate(size: int, alignment: int, stream: Optional[int]) -> Any:
                block = Scratch(size) if isinstance(of_user, _allocation.NullAllocator) else of_user(size, alignment, stream)
                known.add(block, "global scratch memory")
                return block

            return allocate

    class Scratch(Array):
        """Bytes at an address that is a multiple of 128."""

        def __init__(self, size: int) -> None:
            self.memory = ctypes.create_string_buffer(size + 128)
            self.address = -(-ctypes.addressof(self.memory) // 128) * 128
            self.size = size

        def data_ptr(self) -> int:
            return self.address

        def untyped_storage(self) -> Any:
            return self

        def nbytes(self) -> int:
            return self.size

    class Driver(nvidia.CudaDriver):  # type: ignore[misc]
        """Triton's driver for warpmat. GPUDriver's own start asks torch for a GPU."""

        def __init__(self, number: int) -> None:
            self.number = number
            self.utils = utils()
            self.launcher_cls = Launcher
            self.capability = (cuda.attribute(75), cuda.attribute(76))
            self.get_current_device = lambda: self.number
            self.set_current_device = lambda device: None
            self.get_current_stream = lambda device=0: 0
            self.get_device_capability = lambda device=0: self.capability

        @staticmethod
        def is_active() -> bool:
            return True

        def get_current_target(self) -> Any:
            return GPUTarget("cuda", 10 * self.capability[0] + self.capability[1], 32)

        def get_active_torch_device(self) -> Any:
            import torch

            return torch.device("cpu")

        def get_device_interface(self) -> Any:
            warnings.warn(
                "warpmat executes kernels on the CPU: what do_bench measures says nothing about the time on a GPU", KernelWarning, stacklevel=3
            )
            return _Device

        def get_empty_cache_for_benchmark(self) -> Any:
            import torch

            return torch.empty(1)

        def clear_cache(self, cache: Any) -> None:
            pass

    return Driver


class _Caches(collections.defaultdict):  # type: ignore[type-arg]
    """Kernels that Triton has compiled of one function, by the number of the device. To programs the device that is current has number 0."""

    def __getitem__(self, device: int) -> Any:
        return super().__getitem__(_active.number if device == 0 and _active is not None else device)


class _CachesOfFunctions:
    """JITFunction.device_caches, also of functions from before use()."""

    def __get__(self, function: Any, _: Any = None) -> Any:
        kept = vars(function)["device_caches"]
        if not isinstance(kept, _Caches):
            kept = vars(function)["device_caches"] = _Caches(kept.default_factory, kept)
        return kept

    def __set__(self, function: Any, caches: Any) -> None:
        vars(function)["device_caches"] = caches


def _adapt_triton() -> None:
    """Launches take NumPy arrays, and autotuners the first configuration that works: times of an emulator choose nothing."""
    from triton.runtime import autotuner, jit

    if getattr(jit.JITFunction.run, "of_warpmat", False):
        return
    jit.JITFunction.device_caches = _CachesOfFunctions()
    run, bench = jit.JITFunction.run, autotuner.Autotuner._bench

    @functools.wraps(run)
    def run_with_arrays(self: Any, *arguments: Any, **keywords: Any) -> Any:
        if _active is None:
            return run(self, *arguments, **keywords)
        values = {name: _as_argument(value) for name, value in keywords.items()}
        positional = [_as_argument(value) for value in arguments]
        if not _comparing or keywords.get("warmup"):
            return run(self, *positional, **values)
        from . import _triton_compare

        return _triton_compare.run(run, self, _active.capability, positional, values)

    @functools.wraps(bench)
    def bench_first(self: Any, *arguments: Any, **keywords: Any) -> Any:
        if _active is None:
            return bench(self, *arguments, **keywords)
        if getattr(self, "warpmat_found", None) is self.nargs:
            return [float("inf")] * 3
        self._do_bench = lambda call, quantiles: (call(), [0.0] * 3)[1]
        times = bench(self, *arguments, **keywords)
        if times[0] == 0.0:
            self.warpmat_found = self.nargs
        return times

    run_with_arrays.of_warpmat = True  # type: ignore[attr-defined]
    jit.JITFunction.run = run_with_arrays
    autotuner.Autotuner._bench = bench_first


_active: Any = None
_comparing = False
"""Whether launches run on this machine's GPU, too."""


class _OfParent:
    """In a process that multiprocessing starts: what its parent called use() with. It is read before what the process runs, whose modules may
    ask for a GPU when they are imported."""

    def __init__(self, target: str, torch_cuda: bool, compare: bool) -> None:
        self.arguments = target, torch_cuda, compare

    def __reduce__(self) -> Any:
        return _use_as_parent, self.arguments


def _use_as_parent(target: str, torch_cuda: bool, compare: bool) -> None:
    use(target, torch_cuda, compare)


def _adapt_multiprocessing() -> None:
    """Processes that multiprocessing starts inside of use() are inside of it, too. Forked ones are without this."""
    from multiprocessing.process import BaseProcess

    def state(self: Any) -> Dict[str, Any]:
        if not _uses:
            return dict(vars(self))
        target, _, compare = _uses[-1].arguments
        return {"_warpmat": _OfParent(target, any(used.arguments[1] for used in _uses), compare), **vars(self)}

    BaseProcess.__getstate__ = state  # type: ignore[attr-defined]


_uses: List["_Use"] = []
"""Those that have not ended."""


class _Use:
    """The result of use(): `with` ends it."""

    def __init__(
        self, arguments: Tuple[str, bool, bool], before: Any, variables: Dict[str, Optional[str]], end_torch_cuda: Callable[[], None]
    ) -> None:
        self.arguments, self.before, self.variables, self.end_torch_cuda = arguments, before, variables, end_torch_cuda
        _uses.append(self)

    def __enter__(self) -> "_Use":
        return self

    def __exit__(self, *_: Any) -> None:
        global _active, _comparing
        self.end_torch_cuda()
        _put(self.variables)
        _cuda().core.warpmat_cuda_configure()
        _active, _comparing = self.before
        if self in _uses:
            _uses.remove(self)
        _activate(_active)


_PTXAS = ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH")
_ptxas_of_user = {name: os.environ.get(name) for name in _PTXAS}


def _activate(driver: Any) -> None:
    """Makes `driver` Triton's, with the ptxas that makes code for it; None: that of the machine's GPU."""
    from triton.backends.nvidia import compiler
    from triton.runtime import driver as drivers

    _put(_ptxas_of_user if driver is None else dict.fromkeys(_PTXAS, os.path.join(_cuda().folder, "bin", "ptxas")))
    compiler.get_ptxas_version.cache_clear()  # it is in the keys of Triton's cache on disk
    if driver is not None:
        drivers.set_active(driver)
        return
    try:
        drivers.reset_active()
    except RuntimeError:  # without a GPU Triton raises where a driver is asked for
        drivers._active = None


def use(target: str = "h100", torch_cuda: bool = False, compare: bool = False, **values: Any) -> _Use:
    """From here on, Triton's kernels run on the CPU with the bits of `target`, a card's name or "sm_90a". values: as of options().

    torch_cuda: to torch the device "cuda" is the CPU, in this thread, so that programs and tests that are written for a GPU run. torch.cuda tells of
    `target`, and tensors say that they are CUDA's; what torch computes has the CPU's bits.
    compare: each launch runs on this machine's GPU, too, if there is one of the target's compute capability; a byte of the arguments' memory that
    differs is a KernelError. Not for kernels whose results depend on the order of blocks.
    Processes that multiprocessing starts are inside of use(), too.

    As `with use("a100"):` it ends with the block. A GPU of this machine, and what torch does there, stays as it is. Raises ImportError without
    Triton, and ValueError for a target that warpmat does not have.
    """
    global _active, _comparing
    with _lock:
        cuda = _cuda()
        before = _set({"target": target, **values})
        cuda.start()
        if target not in _device_targets:
            _device_targets.append(target)
        _adapt_triton()
        _adapt_multiprocessing()
        end_torch_cuda = _torch_cuda_on_cpu(cuda) if torch_cuda else _nothing
        used = _Use((target, torch_cuda, compare), (_active, _comparing), before, end_torch_cuda)
        _comparing = compare
        _active = _driver_class()(_FIRST_DEVICE + _device_targets.index(target))
        _activate(_active)
        return used


def take_first_configurations() -> None:
    """For programs under `warpmat cuda`: torch.compile takes the first configuration of each kernel, and of products and convolutions the first of
    Triton's templates where there is one. Comparing their times says nothing here, and needs kernels of torch that do not run."""
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner
    from torch._inductor.select_algorithm import AlgorithmSelectorCache, TritonTemplateCaller

    select = AlgorithmSelectorCache.__call__

    def select_first(self: Any, name: str, choices: List[Any], *rest: Any, **more: Any) -> Any:
        templates = [choice for choice in choices if isinstance(choice, TritonTemplateCaller)]
        return select(self, name, (templates or choices)[:1], *rest, **more)

    AlgorithmSelectorCache.__call__ = select_first
    CachingAutotuner.benchmark_all_configs = lambda self, *_, **__: {launcher: float(i) for i, launcher in enumerate(self.launchers)}


def torch_on_cpu() -> Dict[str, int]:
    """For programs under `warpmat cuda`: torch's own kernels, which are machine code without PTX, run on the CPU and have its bits. Triton's kernels
    keep the card's. torch.compile takes the first configuration of each. Returns how often each of torch's operators ran so, by name; the dict grows."""
    from . import _torch_kernels

    take_first_configurations()
    return _torch_kernels.begin()


def _nothing() -> None:
    pass


def _torch_cuda_on_cpu(cuda: _Cuda) -> Callable[[], None]:
    from . import _torch_cuda

    return _torch_cuda.begin(cuda.properties())


def stop() -> None:
    """Triton's kernels run on a GPU again, if there is one."""
    global _active
    _active = None
    _uses.clear()
    _activate(None)


