"""torch's device "cuda" on the CPU: programs and tests that are written for a GPU make CPU tensors, for warpmat.triton.use(torch_cuda=True).

Tensors say that they are CUDA's (is_cuda), as wrappers of kernels assert that. Their device is the CPU. A transfer makes a copy, as on a GPU.
"""

from __future__ import annotations

import contextlib
import types
from typing import Any, Callable, Dict, Iterator, List, Tuple

import torch
from torch.overrides import TorchFunctionMode

from .triton import Moment

_TRANSFERS = (torch.Tensor.cuda, torch.Tensor.cpu)


def _is_cuda(value: Any) -> bool:
    if isinstance(value, torch.device):
        return bool(value.type == "cuda")
    return isinstance(value, str) and value.split(":")[0] == "cuda"


def _on_cpu(value: Any) -> Any:
    return "cpu" if _is_cuda(value) else value


class _CudaOnCpu(TorchFunctionMode):  # type: ignore[misc]
    """Calls of torch that name the device "cuda" get the CPU."""

    def __torch_function__(self, function: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if function == torch.Tensor.is_cuda.__get__:
            return True
        if function in _TRANSFERS:
            return args[0].clone(memory_format=kwargs.get("memory_format", torch.preserve_format))
        if function is torch.Tensor.pin_memory:
            return args[0]
        if function is torch.Tensor.to:
            return _moved(*args, **kwargs)
        device = {"device": "cpu"} if _is_cuda(kwargs.get("device")) or type(kwargs.get("device")) is int else {}
        pinned = {"pin_memory": False} if "pin_memory" in kwargs else {}
        return function(*args, **{**kwargs, **device, **pinned})


def _moved(tensor: Any, *args: Any, **kwargs: Any) -> Any:
    """Tensor.to: with a device a copy."""
    names_device = any(isinstance(value, (str, torch.device, int)) and not isinstance(value, bool) for value in args[:1]) or "device" in kwargs
    if not names_device:
        return tensor.to(*args, **kwargs)
    args = tuple("cpu" if type(value) is int else _on_cpu(value) for value in args[:1]) + args[1:]
    if "device" in kwargs:
        kwargs["device"] = "cpu"
    moved = tensor.to(*args, **kwargs)
    return moved.clone() if moved is tensor else moved


class _Stream:
    """torch.cuda.Stream: all work has run when its call returns."""

    cuda_stream = 0
    device = torch.device("cpu")

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __enter__(self) -> "_Stream":
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def synchronize(self) -> None:
        pass

    def record_event(self, event: Any = None) -> Moment:
        return event or Moment()

    wait_event = wait_stream = record_event

    def query(self) -> bool:
        return True


def _functions(properties: Any) -> Dict[str, Any]:
    """What stands for functions of torch.cuda, by name."""

    def nothing(*_: Any, **__: Any) -> None:
        pass

    def gives(value: Any) -> Callable[..., Any]:
        return lambda *_, **__: value

    return {
        "is_available": gives(True),
        "is_initialized": gives(True),
        "init": nothing,
        "device_count": gives(1),
        "current_device": gives(0),
        "set_device": nothing,
        "device": contextlib.nullcontext,
        "get_device_capability": gives((properties.major, properties.minor)),
        "get_device_name": gives(properties.name),
        "get_device_properties": gives(properties),
        "is_bf16_supported": gives(properties.major >= 8),
        "synchronize": nothing,
        "empty_cache": nothing,
        "memory_allocated": gives(0),
        "max_memory_allocated": gives(0),
        "reset_peak_memory_stats": nothing,
        "Event": Moment,
        "Stream": _Stream,
        "current_stream": gives(_Stream()),
        "default_stream": gives(_Stream()),
        "stream": contextlib.nullcontext,
    }


class _Products:
    """triton's CublasLt, which wants addresses of a GPU: torch computes the products, in f32."""

    def __init__(self, *_: Any) -> None:
        pass

    def matmul(self, a: Any, b: Any, out: Any) -> None:
        """out = a b^T"""
        self.gemm(a, b, out, out, 1.0, 0.0)

    def gemm(self, a: Any, b: Any, c: Any, out: Any, alpha: float, beta: float) -> None:
        """out = alpha a b^T + beta c"""
        product = alpha * (a.float() @ b.float().T)
        out.copy_((product + beta * c.float() if beta else product).to(out.dtype))


def _triton_cublas() -> Any:
    """The module with CublasLt; None where Triton has none."""
    try:
        from triton._C.libtriton import nvidia

        return nvidia.cublas
    except (ImportError, AttributeError):
        return None


_begun: List["_Begun"] = []


class _Begun:
    """The functions of torch.cuda and Triton before, and the mode that is in the way of torch's."""

    def __init__(self, properties: Dict[str, Any]) -> None:
        self.functions = {(torch.cuda, name): function for name, function in _functions(types.SimpleNamespace(**properties)).items()}
        if (cublas := _triton_cublas()) is not None:
            self.functions[cublas, "CublasLt"] = _Products
        self.before = {place: getattr(*place) for place in self.functions}
        self.mode = _CudaOnCpu()


def _put(functions: Dict[Tuple[Any, str], Any]) -> None:
    for (module, name), function in functions.items():
        setattr(module, name, function)


def begin(properties: Dict[str, Any]) -> Callable[[], None]:
    """Puts the CPU in the place of "cuda" for this thread's calls of torch, and `properties` where torch.cuda tells of the device. Returns what
    ends it."""
    begun = _Begun(properties)
    _begun.append(begun)
    _put(begun.functions)
    begun.mode.__enter__()

    def end() -> None:
        begun.mode.__exit__(None, None, None)
        _put(begun.before)
        _begun.remove(begun)

    return end


@contextlib.contextmanager
def suspended() -> Iterator[None]:
    """Inside, "cuda" is this machine's GPU again."""
    if not _begun:
        yield
        return
    _put(_begun[0].before)
    try:
        with torch._C.DisableTorchFunction():
            yield
    finally:
        _put(_begun[-1].functions)
