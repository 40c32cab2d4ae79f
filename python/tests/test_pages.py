"""Pages and examples: the reference is the docstrings', examples run."""

import doctest
import importlib.util
import json
import os
import runpy
import subprocess
import sys

import pytest

import warpmat
from conftest import ROOT, pytest_plugins


def test_the_reference_is_made_of_the_docstrings():
    page = runpy.run_path(str(ROOT / "python/reference/write_reference.py"))
    modules = {name: [page["spelling"](name, each) for each in page["names_of"](name)] for name in page["MODULES"]}
    assert set(warpmat.__all__) - {"__version__"} <= {name for names in modules.values() for name in names}
    public = {path.stem for path in (ROOT / "python/warpmat").glob("*.py") if not path.stem.startswith("_")}
    assert public - set(modules) == {"cuda", "triton", "pytest_plugin"}
    text = page["page"]()
    unsaid = {"FORMATS", "Size"}
    assert [name for names in modules.values() for name in names if f"`{name}" not in text and name.rpartition(".")[2] not in unsaid] == []


def test_what_docstrings_show_holds():
    assert doctest.testmod(warpmat).attempted >= 3
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == "warpmat" and module is not None]
    for module in modules:
        assert doctest.testmod(module, extraglobs={"warpmat": warpmat}).failed == 0, module


@pytest.mark.parametrize("example", sorted(path.name for path in (ROOT / "examples/python").glob("*.py") if not path.name.startswith("test_")))
def test_an_example_runs(example, tmp_path):
    plot = tmp_path / "plot.png"
    draws = example == "fp8_accumulation.py" and importlib.util.find_spec("matplotlib") is not None
    command = [sys.executable, ROOT / "examples/python" / example, *([plot] if draws else [])]
    run = subprocess.run(command, cwd=tmp_path, env={**os.environ, "MPLBACKEND": "Agg"}, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert run.stdout
    assert not draws or plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("example", ["test_softmax.py", "test_own_ptx.py"])
def test_an_example_of_a_pytest_file_runs(example):
    plugin = ["-p", "warpmat.pytest_plugin"] if "warpmat.pytest_plugin" in pytest_plugins else []
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, ROOT / "examples/python" / example]
    run = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "passed" in run.stdout


def test_the_notebook_runs(tmp_path, monkeypatch):
    """The cells one after another, their last expressions asked for their pictures as a notebook does."""
    import ast

    monkeypatch.syspath_prepend(str(ROOT / "examples/python"))
    cells = json.loads((ROOT / "examples/python/layouts.ipynb").read_text())["cells"]
    names, pictures = {}, 0
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            if hasattr(value, "_repr_html_"):
                assert value._repr_html_().startswith("<")
                pictures += 1
    assert pictures == 5
