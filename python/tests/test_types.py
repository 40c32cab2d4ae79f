"""Types: mypy --strict on the package, its stub and the examples; the stub against the module."""

import ast
import importlib
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import warpmat
from conftest import ROOT
from warpmat import _core


def test_mypy_is_strict_and_silent():
    mypy = shutil.which("mypy")
    if mypy is None:
        pytest.skip("mypy is not installed")
    files = [ROOT / "python/warpmat", *sorted((ROOT / "examples/python").glob("*.py"))]
    command = [mypy, "--strict", "--cache-dir", os.environ.get("MYPY_CACHE_DIR", os.devnull), "--python-executable", sys.executable, "--config-file", ROOT / "pyproject.toml", *files]
    run = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_stub_names_what_the_module_has():
    stub = (ROOT / "python/warpmat/_core.pyi").read_text()
    for name in dir(_core):
        if name.startswith("__"):
            continue
        thing = getattr(_core, name)
        assert f"def {name}(" in stub or f"class {name}:" in stub or f"{name}: " in stub, name
        for member in dir(thing) if isinstance(thing, type) else []:
            assert member.startswith("_") or f"def {member}(" in stub, (name, member)


def test_everything_public_has_a_docstring():
    for path in sorted((ROOT / "python/warpmat").glob("[a-z]*.py")):
        module = importlib.import_module(f"warpmat.{path.stem}")
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if getattr(thing, "__module__", "").startswith("warpmat."):
                assert thing.__doc__ and len(thing.__doc__) > 20, name
                for member, value in vars(thing).items() if isinstance(thing, type) else ():
                    if callable(value) and not member.startswith("_"):
                        assert value.__doc__, (name, member)


def test_the_package_itself_has_few_names_and_its_modules_the_rest():
    script = "import warpmat; warpmat.cuda.matmul, warpmat.testing.assert_bits_equal, warpmat.triton.use; print(len(warpmat.__all__))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == 0 and int(run.stdout) <= 20, run.stderr
    with pytest.raises(AttributeError, match="no attribute 'scatter'"):
        warpmat.scatter


def test_the_sources_are_python_3_9():
    """Their grammar; mypy's python_version says the same of what they call."""
    for path in [*(ROOT / "python").rglob("*.py"), *(ROOT / "examples/python").glob("*.py"), ROOT / "setup.py"]:
        ast.parse(path.read_text(), str(path), feature_version=(3, 9))
    with pytest.raises(SyntaxError):
        ast.parse("match 1:\n  case 1: pass\n", feature_version=(3, 9))


def test_a_numpy_that_the_module_was_not_built_for_is_refused(monkeypatch):
    from warpmat import _environment

    _environment.check()
    monkeypatch.setattr(np, "__version__", "2.1.0")
    monkeypatch.setattr(_core, "knows_numpy_2", True)
    _environment.check()
    monkeypatch.setattr(_core, "knows_numpy_2", False)
    with pytest.raises(ImportError, match="NumPy 2.1.0 is installed, and this warpmat was built .* for NumPy 1: install 'numpy<2'"):
        _environment.check()
