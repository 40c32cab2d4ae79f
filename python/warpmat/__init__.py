"""NVIDIA's warp matrix instructions and PTX kernels on a CPU, bit for bit as a named GPU executes them.

>>> import numpy as np, warpmat
>>> a, b = np.eye(16, dtype=np.float16), np.ones((16, 8), np.float16)
>>> warpmat.mma("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_90", a, b)[0]
array([1., 1., 1., 1., 1., 1., 1., 1.], dtype=float32)
"""

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any, List

if TYPE_CHECKING:
    from ._core import version as __version__
    from .bank_conflicts import BankAccess, BankLine, BankPhase, BankReport, BankWord, GlobalLine, banks
    from .decoding import find_opcode, find_sass
    from .errors import Diagnostic, KernelTrap, NoGpu, PtxError, Trap
    from .known_bits import Evidence, evidence, labels, opcodes, targets, wgmma_opcodes
    from .explanations import Explanation, explain
    from .number_formats import Bits, Format, decode, encode, formats
    from .identification import Candidate, Identification, Owner, Refutation, identify
    from .instructions import Instruction, InstructionOperand, find
    from .kernels import Kernel, LaunchResult, Module, Parameter, TensorMap, TritonKernel
    from .layouts import Layout, MatrixDescriptor, layout, memory_layout, swizzle
    from .matrices import Product, accesses, compress, execute, expand, gather, matmul, mma, pack, product, scales, scatter, unpack
    from .measured_libraries import Library, Measured, Operation, libraries, library
    from .programs import ProgramResult, run
    from .summation import Summation
    from .testing import assert_bits_equal, assert_matches

__all__ = [
    "BankAccess",
    "BankLine",
    "BankPhase",
    "BankReport",
    "BankWord",
    "Bits",
    "Candidate",
    "Diagnostic",
    "Evidence",
    "Explanation",
    "Format",
    "GlobalLine",
    "Identification",
    "Instruction",
    "InstructionOperand",
    "Kernel",
    "KernelTrap",
    "LaunchResult",
    "Layout",
    "Library",
    "MatrixDescriptor",
    "Measured",
    "Module",
    "NoGpu",
    "Operation",
    "Owner",
    "Parameter",
    "Product",
    "ProgramResult",
    "PtxError",
    "Refutation",
    "Summation",
    "TensorMap",
    "Trap",
    "TritonKernel",
    "__version__",
    "accesses",
    "assert_bits_equal",
    "assert_matches",
    "banks",
    "compress",
    "decode",
    "encode",
    "evidence",
    "execute",
    "expand",
    "explain",
    "find",
    "find_opcode",
    "find_sass",
    "formats",
    "gather",
    "identify",
    "labels",
    "layout",
    "libraries",
    "library",
    "matmul",
    "memory_layout",
    "mma",
    "opcodes",
    "pack",
    "product",
    "run",
    "scales",
    "scatter",
    "swizzle",
    "targets",
    "unpack",
    "wgmma_opcodes",
]


def __getattr__(name: str) -> Any:
    """All names with the first of them: warpmat.triton needs neither the compiled module nor NumPy."""
    if name in __all__:
        contents = importlib.import_module("._contents", __name__)
        globals().update({each: getattr(contents, each) for each in __all__})
        return globals()[name]
    if not name.startswith("_") and importlib.util.find_spec(f"{__name__}.{name}") is not None:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})
