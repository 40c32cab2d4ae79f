"""torch's own CUDA kernels on the CPU, for programs under `warpmat cuda`: they are machine code without PTX.

An operator that moves or computes data gets copies of its tensors in the CPU's memory, runs there, and what it writes is copied back. Operators
without a kernel for the CPU stay as they are."""

from __future__ import annotations

import ctypes
import functools
import warnings
from typing import Any, Dict, List

import torch
from torch.utils._pytree import tree_map

from .triton import KernelWarning, _cuda

_OF_MEMORY = {
    "_efficientzerotensor",
    "_fused_sdp_choice",
    "_local_scalar_dense",
    "_pin_memory",
    "_resize_output_",
    "empty",
    "empty_strided",
    "is_pinned",
    "is_set_to",
    "record_stream",
    "resize_",
    "resize_as_",
    "set_",
}
"""Operators that need no kernel: they tell of memory, or make it. _fused_sdp_choice chooses a kernel for the device."""

calls: Dict[str, int] = {}
"""How often operators ran on the CPU, by name."""
_registered: List[Any] = []


class _Twins:
    """Copies of CUDA tensors in the CPU's memory. Tensors that share memory there share it here."""

    def __init__(self) -> None:
        self.core = _cuda().core
        self.core.cuCtxSynchronize()
        self.blocks: Dict[int, Any] = {}
        self.originals: Dict[int, Any] = {}  # by the twin's id
        self.twins: List[Any] = []

    def check(self, code: int) -> None:
        if code:
            raise RuntimeError(f"a copy of a tensor between CUDA's memory and the CPU's failed: CUDA's driver says {code}")

    def of(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.is_cuda:
            return self.of_tensor(value)
        if isinstance(value, torch.device) and value.type == "cuda":
            return torch.device("cpu")
        if isinstance(value, torch.Generator) and value.device.type == "cuda":
            return None
        return value

    def of_tensor(self, tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        address, size = storage.data_ptr(), storage.nbytes()
        place = address or id(tensor)  # empty ones have no address, and share no memory
        if place not in self.blocks:
            self.blocks[place] = torch.empty(size, dtype=torch.uint8)
            self.copy_here(self.blocks[place], address)
        memory = self.blocks[place].untyped_storage()
        twin = torch.empty(0, dtype=tensor.dtype).set_(memory, tensor.storage_offset(), tensor.size(), tensor.stride())
        self.originals[id(twin)] = tensor
        self.twins.append(twin)
        return twin

    def copy_here(self, block: Any, address: int) -> None:
        if block.nbytes:
            self.check(self.core.cuMemcpyDtoH_v2(ctypes.c_void_p(block.data_ptr()), ctypes.c_uint64(address), ctypes.c_size_t(block.nbytes)))

    def copy_there(self, address: int, memory: Any) -> None:
        if memory.nbytes():
            self.check(self.core.cuMemcpyHtoD_v2(ctypes.c_uint64(address), ctypes.c_void_p(memory.data_ptr()), ctypes.c_size_t(memory.nbytes())))

    def written(self, twin: Any) -> None:
        """Copies back what an operator wrote; it may have given its output another shape."""
        tensor = self.originals.get(id(twin))
        if tensor is None:
            return
        if tensor.size() != twin.size():
            tensor.resize_(twin.size())
        memory = twin.untyped_storage()
        if memory.nbytes() != tensor.untyped_storage().nbytes():
            memory = twin.contiguous().untyped_storage()
        self.copy_there(tensor.untyped_storage().data_ptr(), memory)

    def result(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) in self.originals:
            return self.originals[id(value)]
        there = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device="cuda")
        here = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype).copy_(value)
        self.copy_there(there.untyped_storage().data_ptr(), here.untyped_storage())
        return there


def _count(name: str) -> None:
    if not calls:
        warnings.warn(f"torch's own kernels run on the CPU and have its bits, not the card's: {name} is the first", KernelWarning, stacklevel=3)
    calls[name] = calls.get(name, 0) + 1


def _on_cpu(name: str, operator: Any) -> Any:
    """`operator` for CUDA tensors, by its kernel for the CPU."""
    writes = [argument for argument in operator._schema.arguments if argument.alias_info is not None and argument.alias_info.is_write]
    positions = [(list(operator._schema.arguments).index(argument), argument.name) for argument in writes]

    def call(*arguments: Any, **keywords: Any) -> Any:
        _count(name)
        twins = _Twins()
        here, by_name = tree_map(twins.of, (arguments, keywords))
        results = operator(*here, **by_name)
        for position, keyword in positions:
            tree_map(twins.written, here[position] if position < len(here) else by_name.get(keyword))
        return tree_map(twins.result, results)

    return torch.compiler.disable(call)  # torch.compile would trace it where it leaves an operator to torch


def _needs_kernel(operator: Any) -> bool:
    """False for views, whose results are their arguments' memory."""
    return all(value.alias_info is None or value.alias_info.is_write for value in operator._schema.returns)


def _operators() -> Dict[str, Any]:
    """Those of ATen with a kernel for CUDA and one for the CPU, by name."""
    runs_on_cpu = torch._C._dispatch_has_computed_kernel_for_dispatch_key
    found = {"aten::copy_": torch.ops.aten.copy_.default}
    for name in torch._C._dispatch_get_registrations_for_dispatch_key("CUDA"):
        base, _, overload = name.partition("::")[2].partition(".")
        if not name.startswith("aten::") or base in _OF_MEMORY or not runs_on_cpu(name, "CPU"):
            continue
        operator = getattr(getattr(torch.ops.aten, base), overload or "default")
        if _needs_kernel(operator):
            found[name] = operator
    return found


@functools.lru_cache(maxsize=None)
def begin() -> Dict[str, int]:
    """From here on torch's CUDA kernels run on the CPU, in the whole process. Returns how often each did, by name; it grows."""
    torch.backends.cudnn.enabled = False
    for choose in (torch.backends.cuda.enable_flash_sdp, torch.backends.cuda.enable_mem_efficient_sdp, torch.backends.cuda.enable_cudnn_sdp):
        choose(False)
    library = torch.library.Library("aten", "IMPL")
    _registered.append(library)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of the first operator that gets another kernel
        for name, operator in _operators().items():
            library.impl(name, _on_cpu(name, operator), "CUDA")
    return calls
