"""What the fixture `on_warpmat` is: launches on the CPU, and on this machine's GPU too where there is one."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

import numpy as np
import pytest

from ._environment import _core
from .errors import NoGpu
from .evidence import at_least, of as evidence_of
from .formats import Bits, to_numpy
from .kernels import LaunchResult, Module, TensorMap
from .options import Size
from .products import mma as _mma
from .programs import ProgramResult, run as _run
from .testing import difference

reasons: Dict[str, int] = {}
"""Why launches were not compared with a GPU, and how many."""


class OnWarpmat:
    """What the fixture `on_warpmat` is. target and require are the marker's."""

    def __init__(self, target: str, require: Optional[str]) -> None:
        self.target = target
        self.require = require

    def mma(self, opcode: str, *matrices: Any, **options: Any) -> Any:
        """warpmat.mma for the target; fails the test where the opcode's label is weaker than required."""
        self._check(evidence_of(opcode, self.target).label, opcode)
        return _mma(opcode, self.target, *matrices, **options)

    def run(self, ptx: str, inputs: Any = None, **options: Any) -> ProgramResult:
        """warpmat.run for the target."""
        result = _run(ptx, self.target, inputs, **options)
        for _, opcode in result._run.matrix_statements:
            self._check(evidence_of(opcode, self.target).label, opcode)
        return result

    def launch(self, module: Module, name: Optional[str], grid: Size, block: Size, *args: Any, **options: Any) -> LaunchResult:
        """Module.launch for the target, and on this machine's GPU too if it is that hardware. Fails the test where an array or the printed
        text differs. The arrays hold the CPU's results afterwards."""
        kernel = module.kernel(name, target=self.target)
        for opcode, label in kernel.instructions:
            self._check(label, opcode)
        here = {key: value for key, value in options.items() if key in ("shared", "cluster")}
        before = _copies(args)
        result = kernel.launch(grid, block, *args, **options)
        if result.label is not None:
            self._check(result.label, "a shuffle that reads lanes which take no part")
        reason = _why_not_compared(kernel.hardware)
        if reason is not None:
            reasons[reason] = reasons.get(reason, 0) + 1
            return result
        printed = kernel.launch_on_gpu(grid, block, *before, **here)
        _compare(args, before, [parameter.name for parameter in kernel.parameters])
        if sorted(printed.splitlines()) != sorted(result.printed.splitlines()):
            pytest.fail(f"the GPU printed {printed!r}, warpmat {result.printed!r}")
        return result

    def _check(self, label: str, opcode: str) -> None:
        if self.require is not None and not at_least(label, self.require):
            pytest.fail(f"the bits of {opcode} on {self.target} are {label}; the test requires {self.require}")


def _why_not_compared(hardware: str) -> Optional[str]:
    """Why a kernel for `hardware` is not compared with this machine's GPU; None where it is."""
    try:
        found = _core.gpu_hardware()
    except NoGpu as none:
        return str(none)
    return None if found == hardware else f"the GPU is {found}, the target {hardware}"


def _raw(value: Any) -> Any:
    array = to_numpy(value.array if isinstance(value, TensorMap) else value)
    return array.codes if isinstance(array, Bits) else array


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, (int, float, bytes, bytearray, np.generic))


def _copies(args: Any) -> List[Any]:
    """The arguments with arrays of their own; the same array twice stays one."""
    copies: Dict[int, Any] = {}
    out = []
    for value in args:
        if _is_number(value):
            out.append(value)
            continue
        array = _raw(value)
        key = int(array.__array_interface__["data"][0])
        copy = copies.setdefault(key, array.copy())
        out.append(TensorMap(copy, *list(vars(value).values())[1:]) if isinstance(value, TensorMap) else copy)
    return out


def _compare(expected: Any, found: Any, names: List[str]) -> None:
    __tracebackhide__ = True
    texts = []
    for name, ours, theirs in zip(names, expected, found):
        if not _is_number(ours):
            text = difference(_raw(theirs), _raw(ours))
            texts += [f"the GPU's {name}: {text}"] if text else []
    if texts:
        pytest.fail("\n".join(texts))
