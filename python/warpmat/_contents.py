"""All that the package has, by its names: what warpmat.__getattr__ takes from here with the first of them."""

from . import _environment

_environment.check()

from ._core import version as __version__  # noqa: E402
from .bank_conflicts import BankAccess, BankLine, BankPhase, BankReport, BankWord, GlobalLine, banks  # noqa: E402
from .decoding import find_opcode, find_sass  # noqa: E402
from .errors import Diagnostic, KernelTrap, NoGpu, PtxError, Trap  # noqa: E402
from .known_bits import Evidence, evidence, labels, opcodes, targets, wgmma_opcodes  # noqa: E402
from .explanations import Explanation, explain  # noqa: E402
from .number_formats import Bits, Format, decode, encode, formats  # noqa: E402
from .identification import Candidate, Identification, Owner, Refutation, identify  # noqa: E402
from .instructions import Instruction, InstructionOperand, find  # noqa: E402
from .kernels import Kernel, LaunchResult, Module, Parameter, TensorMap, TritonKernel  # noqa: E402
from .layouts import Layout, MatrixDescriptor, layout, memory_layout, swizzle  # noqa: E402
from .matrices import Product, accesses, compress, execute, expand, gather, matmul, mma, pack, product, scales, scatter, unpack  # noqa: E402
from .measured_libraries import Library, Measured, Operation, libraries, library  # noqa: E402
from .programs import ProgramResult, run  # noqa: E402
from .summation import Summation  # noqa: E402
from .testing import assert_bits_equal, assert_matches  # noqa: E402
