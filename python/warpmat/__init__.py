"""CUDA's matrix instructions and PTX kernels on a CPU, bit for bit as the GPU that you name executes them.

>>> import numpy as np, warpmat
>>> a, b = np.eye(16, dtype=np.float16), np.ones((16, 8), np.float16)
>>> warpmat.matmul(a, b, card="H100")[0]
array([1., 1., 1., 1., 1., 1., 1., 1.], dtype=float32)

The package itself has what most scripts need. Its modules have the rest, and need no import of their own: warpmat.formats, warpmat.testing.
"""

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any, List

if TYPE_CHECKING:
    from . import errors as errors, evidence as evidence, formats as formats, instructions as instructions, kernels as kernels
    from . import options as options, registers as registers, storage as storage, summation as summation, testing as testing
    from ._core import version as __version__
    from .bank_conflicts import banks as banks
    from .explanations import explain as explain
    from .formats import Bits as Bits, decode as decode, encode as encode
    from .identification import identify as identify
    from .instructions import find as find
    from .kernels import Module as Module
    from .layouts import layout as layout
    from .libraries import library as library
    from .options import Checks as Checks, Gemm as Gemm, Limits as Limits
    from .products import matmul as matmul, mma as mma, product as product
    from .programs import run as run

_HOMES = {
    "Bits": "formats",
    "Checks": "options",
    "Gemm": "options",
    "Limits": "options",
    "Module": "kernels",
    "banks": "bank_conflicts",
    "decode": "formats",
    "encode": "formats",
    "explain": "explanations",
    "find": "instructions",
    "identify": "identification",
    "layout": "layouts",
    "library": "libraries",
    "matmul": "products",
    "mma": "products",
    "product": "products",
    "run": "programs",
}

__all__ = [*_HOMES, "__version__"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    """Names and modules with their first use: warpmat.triton needs neither the compiled module nor NumPy."""
    if name == "__version__":
        return _module("_environment")._core.version
    if name in _HOMES:
        globals()[name] = found = getattr(_module(_HOMES[name]), name)
        return found
    if not name.startswith("_") and importlib.util.find_spec(f"{__name__}.{name}") is not None:
        return _module(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _module(name: str) -> Any:
    return importlib.import_module(f".{name}", __name__)


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})
