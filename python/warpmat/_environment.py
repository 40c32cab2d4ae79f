"""The compiled module, for the others to import from here: refusals with a sentence in place of wrong results."""

import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

try:
    from . import _core as _core
except ImportError as error:
    built = sorted(path.name for path in Path(__file__).parent.glob("_core.*.so"))
    if not built or any(f"_core{suffix}" in built for suffix in EXTENSION_SUFFIXES):
        raise  # there is no module, or one that does not find its libraries
    raise ImportError(
        f"this warpmat is compiled for another Python: it has {', '.join(built)}, and Python {sys.version_info[0]}.{sys.version_info[1]} "
        f"looks for _core{EXTENSION_SUFFIXES[0]}; take that Python, or a wheel for this one"
    ) from error


def check() -> None:
    """ImportError in a subinterpreter, whose state NumPy and pybind11 would share with others, and beside a NumPy that the module was not
    built for: before 2.12 pybind11 did not know how NumPy 2 lays out its dtypes."""
    if not _core.in_main_interpreter():
        raise ImportError("warpmat cannot be used in a subinterpreter: import it in the main interpreter, or in another process")
    import numpy as np  # has its own messages about subinterpreters

    if int(np.__version__.partition(".")[0]) >= 2 and not _core.knows_numpy_2:
        raise ImportError(
            f"NumPy {np.__version__} is installed, and this warpmat was built with a pybind11 before 2.12, for NumPy 1: "
            "install 'numpy<2', or build warpmat with a newer pybind11"
        )


check()
