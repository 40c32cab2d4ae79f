"""A launch of a Triton kernel on this machine's GPU, too, beside the one on warpmat: every byte of the arguments' memory is compared."""

from __future__ import annotations

import contextlib
import copy
import ctypes
import sys
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from . import triton as _triton

reasons: Dict[str, int] = {}
"""Why launches were not compared, and how many."""


def _why_not(capability: Tuple[int, int]) -> Optional[str]:
    """Why kernels for `capability` are not compared with this machine's GPU; None where they are."""
    try:
        import torch
    except ImportError:
        return "there is no torch"
    if not torch.cuda.is_available():
        return "there is no GPU"
    found = torch.cuda.get_device_capability()
    return None if found == capability else f"the GPU is sm_{found[0]}{found[1]}, the target sm_{capability[0]}{capability[1]}"


class _Twins:
    """Copies of arguments in the GPU's memory. Arguments that share memory here share it there."""

    def __init__(self) -> None:
        self.blocks: Dict[int, Tuple[str, bytes, Any]] = {}  # by address: the name of the argument, the bytes before, the GPU's bytes

    def of(self, value: Any, name: str) -> Any:
        if isinstance(value, (tuple, list)):
            items = [self.of(each, f"{name}[{i}]") for i, each in enumerate(value)]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if hasattr(value, "untyped_storage"):
            return self.of_tensor(value, name)
        if isinstance(value, _triton.Array):
            return self.of_array(value, name)
        if hasattr(value, "block_shape") or hasattr(value, "base"):  # a descriptor, or a tensor seen as another type
            twin = copy.copy(value)
            twin.base = self.of(value.base, name)
            return twin
        return value

    def block(self, address: int, size: int, name: str) -> Any:
        import torch

        if address not in self.blocks:
            before = ctypes.string_at(address, size)
            self.blocks[address] = name, before, torch.frombuffer(bytearray(before or b"\0"), dtype=torch.uint8).cuda()
        return self.blocks[address][2]

    def of_tensor(self, tensor: Any, name: str) -> Any:
        import torch

        storage = tensor.untyped_storage()
        there = self.block(storage.data_ptr(), storage.nbytes(), name).untyped_storage()
        return torch.empty(0, dtype=tensor.dtype, device="cuda").set_(there, tensor.storage_offset(), tensor.size(), tensor.stride())

    def of_array(self, array: Any, name: str) -> Any:
        (address, size, _) = next(iter(_triton._memory_of(array, name)))
        twin = _OnGpu(array.array)
        twin.address = self.block(address, size, name).data_ptr() + array.data_ptr() - address
        return twin

    def differences(self) -> List[str]:
        """A sentence for each argument whose memory is another one there than here."""
        texts = []
        for address, (name, before, there) in self.blocks.items():
            ours, theirs = ctypes.string_at(address, len(before)), there.cpu().numpy().tobytes()[: len(before)]
            if ours == theirs:
                continue
            at = [i for i in range(len(ours)) if ours[i] != theirs[i]]
            word = slice(at[0] // 4 * 4, at[0] // 4 * 4 + 4)
            texts.append(
                f"'{name}' differs in {len(at)} of {len(ours)} bytes, first in byte {at[0]}: "
                f"the GPU's word there is 0x{theirs[word][::-1].hex()}, warpmat's 0x{ours[word][::-1].hex()}"
            )
        return texts


class _OnGpu(_triton.Array):
    """A NumPy array whose memory is the GPU's."""

    address = 0

    def data_ptr(self) -> int:
        return self.address


@contextlib.contextmanager
def _on_gpu() -> Iterator[None]:
    """Launches inside are those of Triton's own driver."""
    import torch
    from triton.runtime import _allocation

    driver = _triton._active
    token = _allocation._allocator.set(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    _triton._active = None
    _triton._activate(None)
    try:
        yield
        torch.cuda.synchronize()
    finally:
        _allocation._allocator.reset(token)
        _triton._active = driver
        _triton._activate(driver)


def _real_torch() -> Any:
    stand_in = sys.modules.get(f"{__package__}._torch_cuda")
    return stand_in.suspended() if stand_in is not None else contextlib.nullcontext()


def run(launch: Callable[..., Any], kernel: Any, capability: Tuple[int, int], arguments: Any, keywords: Any) -> Any:
    """launch(kernel, *arguments, **keywords) here and on the GPU. Raises KernelError where a byte differs. The memory has warpmat's results
    afterwards."""
    with _real_torch():
        reason = _why_not(capability)
        if reason is not None:
            reasons[reason] = reasons.get(reason, 0) + 1
        else:
            twins = _Twins()
            names = getattr(kernel, "arg_names", None) or [f"argument {i}" for i in range(len(arguments))]
            there = [twins.of(value, name) for value, name in zip(arguments, names)] + list(arguments[len(names) :])
            there_by_name = {name: twins.of(value, name) for name, value in keywords.items()}
    result = launch(kernel, *arguments, **keywords)
    if reason is None:
        with _real_torch():
            with _on_gpu():
                launch(kernel, *there, **there_by_name)
            texts = twins.differences()
        if texts:
            name = getattr(kernel, "__name__", "the kernel")
            raise _triton.KernelError("\n".join(f"{name}: on this machine's GPU {text}" for text in texts), [], "")
    return result
