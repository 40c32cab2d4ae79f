"""The package belongs to Python's main interpreter."""

from . import _core


def refuse_subinterpreter() -> None:
    """ImportError in a subinterpreter: NumPy and pybind11 keep state that interpreters of a process would share."""
    if not _core.in_main_interpreter():
        raise ImportError("warpmat cannot be used in a subinterpreter: import it in the main interpreter, or in another process")
