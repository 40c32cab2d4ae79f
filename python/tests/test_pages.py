"""Pages and examples: the reference is the docstrings', examples run."""

import doctest
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
    names = [name for names in page["GROUPS"].values() for name in names]
    assert sorted(names + ["__version__", "formats", "labels"]) == sorted(warpmat.__all__)
    assert page["page"]() == (ROOT / "docs/python.md").read_text(), "docs/python.md is stale: python/reference/write_reference.py writes it"


def test_the_first_lines_of_the_package_hold():
    assert doctest.testmod(warpmat).failed == 0


@pytest.mark.parametrize("example", sorted(path.name for path in (ROOT / "examples/python").glob("*.py") if not path.name.startswith("test_")))
def test_an_example_runs(example, tmp_path):
    run = subprocess.run([sys.executable, ROOT / "examples/python" / example], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    first = [line for line in (ROOT / "examples/python" / example).read_text().splitlines() if line.startswith("# prints: ")]
    for line in first:
        assert line[len("# prints: ") :] in run.stdout


def test_the_study_of_fp8_sums_draws_its_plot(tmp_path):
    pytest.importorskip("matplotlib")
    plot = tmp_path / "plot.png"
    command = [sys.executable, ROOT / "examples/python/fp8_accumulation.py", plot]
    run = subprocess.run(command, env={**os.environ, "MPLBACKEND": "Agg"}, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_the_example_of_a_pytest_file_runs():
    plugin = ["-p", "warpmat.pytest_plugin"] if "warpmat.pytest_plugin" in pytest_plugins else []
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, ROOT / "examples/python/test_softmax.py"]
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
