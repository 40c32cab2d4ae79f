"""What warpmat.triton uses of Triton 3.6, in modules of its names: kernels are PTX, and the launcher that Triton compiles is ctypes here."""

import ctypes
import functools
import subprocess
import sys
import tempfile
import types
from collections import defaultdict
from contextvars import ContextVar


class GPUTarget:
    def __init__(self, backend, arch, warp_size):
        self.backend, self.arch, self.warp_size = backend, arch, warp_size


class NullAllocator:
    def __call__(self, size, alignment, stream):
        raise RuntimeError("Kernel requires a runtime memory allocation, but no allocator was set")


class DriverConfig:
    def __init__(self):
        self.active = None

    def set_active(self, driver):
        self.active = driver

    def reset_active(self):
        self.active = None


class CudaUtils:
    def __init__(self):
        self.cuda = nvidia.compile_module_from_src(src='dlopen("libcuda.so.1")', name="cuda_utils", library_dirs=nvidia.library_dirs())

    def load_binary(self, name, image, shared, device):
        assert device == 0
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        if self.cuda.cuModuleLoadData(ctypes.byref(module), image) or self.cuda.cuModuleGetFunction(
            ctypes.byref(function), module, name.encode()
        ):
            raise RuntimeError("Triton Error [CUDA]: cannot load")
        return module, function, 0, 0, 1024


class CudaLauncher:
    def __init__(self, src, metadata):
        self.cuda = nvidia.compile_module_from_src(src="launcher", name="__triton_launcher", library_dirs=nvidia.library_dirs())
        self.scratch = metadata.global_scratch_size

    def __call__(self, x, y, z, stream, function, metadata, launch_metadata, enter, leave, *arguments):
        self.scratch_block = allocation._allocator.get()(self.scratch, 128, stream) if self.scratch else None
        values = [ctypes.c_uint64(a.data_ptr()) if hasattr(a, "data_ptr") else ctypes.c_int32(a) for a in arguments]
        if self.scratch_block is not None:
            values.append(ctypes.c_uint64(self.scratch_block.data_ptr()))
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        if self.cuda.cuLaunchKernel(function, x, y, z, 32, 1, 1, 0, None, pointers, None):
            raise RuntimeError("Triton Error [CUDA]: cannot launch")


class CudaDriver:
    pass


class JITFunction:
    """`entry` of `ptx`, with the parameters `names`."""

    def __init__(self, ptx, entry, names, scratch=0):
        self.ptx, self.entry, self.names, self.device_caches = ptx, entry, names, defaultdict(dict)
        self.metadata = types.SimpleNamespace(global_scratch_size=scratch)
        self.signature = dict.fromkeys(names, "*fp32")

    def __getitem__(self, grid):
        return lambda *arguments: self.run(*arguments, grid=grid)

    def run(self, *arguments, grid):
        active = sys.modules["triton.runtime"].driver.active
        device = active.get_current_device()
        kernels = self.device_caches[device]
        if not kernels:
            image = self.ptx.encode() + b"\0"
            function = active.utils.load_binary(self.entry, image, 0, device)[1]
            kernels["key"] = function, active.launcher_cls(self, self.metadata)
        function, launcher = kernels["key"]
        launcher(*grid, 0, function, None, None, None, None, *arguments)


class Autotuner:
    """Tries a function of a configuration with each, and keeps the fastest."""

    def __init__(self, configurations, function):
        self.configurations, self.function, self.tried = configurations, function, []

    def _bench(self, config):
        try:
            return self._do_bench(lambda: self.function(config), quantiles=(0.5, 0.2, 0.8))
        except ValueError:
            return [float("inf")] * 3

    def run(self):
        self.nargs = {}
        times = {config: self._bench(config) for config in self.configurations}
        self.best = min(times, key=times.get)
        return self.function(self.best)


nvidia, allocation = types.ModuleType("triton.backends.nvidia.driver"), types.ModuleType("triton.runtime._allocation")


def compile_module(src, name, library_dirs):
    """A library that is linked with the driver as Triton's modules are."""
    with tempfile.TemporaryDirectory() as folder:
        module = f"{folder}/{name}.so"
        words = ["cc", "-shared", "-o", module, "-x", "c", "/dev/null", f"-L{library_dirs[0]}", "-Wl,--no-as-needed", "-l:libcuda.so.1"]
        subprocess.run(words, check=True)
        return ctypes.CDLL(module)


def install(monkeypatch):
    """Puts the modules where imports find them, for one test."""
    nvidia.CudaUtils, nvidia.CudaLauncher, nvidia.CudaDriver = CudaUtils, CudaLauncher, CudaDriver
    nvidia.libcuda_dirs = lambda: ["/nowhere"]
    nvidia.library_dirs = lambda: nvidia.libcuda_dirs()
    nvidia.library_dirs.cache_clear = lambda: None
    nvidia.compile_module_from_src = compile_module
    allocation._allocator, allocation.NullAllocator = ContextVar("allocator", default=NullAllocator()), NullAllocator
    modules = {name: types.ModuleType(name) for name in ("triton", "triton.backends", "triton.backends.nvidia", "triton.runtime")}
    compiler, jit, autotuner = (types.ModuleType(name) for name in ("triton.backends.compiler", "triton.runtime.jit", "triton.runtime.autotuner"))
    of_nvidia = types.ModuleType("triton.backends.nvidia.compiler")
    of_nvidia.get_ptxas_version = functools.lru_cache(lambda arch: "13.0")
    compiler.GPUTarget, jit.JITFunction, autotuner.Autotuner = GPUTarget, JITFunction, Autotuner
    runtime = modules["triton.runtime"]
    runtime.driver, runtime._allocation, runtime.jit, runtime.autotuner = DriverConfig(), allocation, jit, autotuner
    modules["triton.backends.nvidia"].driver, modules["triton.backends.nvidia"].compiler = nvidia, of_nvidia
    for module in (*modules.values(), compiler, of_nvidia, jit, autotuner, allocation, nvidia):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return runtime
