"""NVIDIA's warp matrix instructions and PTX kernels on a CPU, bit for bit as a named GPU executes them.

>>> import numpy as np, warpmat
>>> a, b = np.eye(16, dtype=np.float16), np.ones((16, 8), np.float16)
>>> warpmat.mma("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_90", a, b)[0]
array([1., 1., 1., 1., 1., 1., 1., 1.], dtype=float32)
"""

from . import _environment

_environment.check()

from ._core import version as __version__  # noqa: E402
from .bank_conflicts import BankAccess, BankLine, BankPhase, BankReport, BankWord, GlobalLine, banks  # noqa: E402
from .decoding import find_opcode, find_sass  # noqa: E402
from .errors import Diagnostic, KernelTrap, NoGpu, PtxError, Trap  # noqa: E402
from .evidence import Evidence, evidence, labels, opcodes, targets, wgmma_opcodes  # noqa: E402
from .explanations import Explanation, explain  # noqa: E402
from .formats import Bits, Format, decode, encode, formats  # noqa: E402
from .identification import Candidate, Identification, Owner, Refutation, identify  # noqa: E402
from .instructions import Instruction, InstructionOperand, find  # noqa: E402
from .kernels import Kernel, LaunchResult, Module, Parameter, TensorMap, TritonKernel  # noqa: E402
from .layouts import Layout, MatrixDescriptor, layout, memory_layout, swizzle  # noqa: E402
from .matrices import Product, accesses, compress, execute, expand, gather, matmul, mma, pack, product, scales, scatter, unpack  # noqa: E402
from .measured_libraries import Library, Measured, Operation, libraries, library  # noqa: E402
from .programs import ProgramResult, run  # noqa: E402
from .summation import Summation  # noqa: E402
from .testing import assert_bits_equal, assert_matches  # noqa: E402

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
