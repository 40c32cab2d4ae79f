"""Shared fixtures and helpers of the tests."""

import importlib.util
import json
import os
import subprocess
import sys
from functools import lru_cache
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


def is_installed() -> bool:
    try:
        metadata.distribution("warpmat")
    except metadata.PackageNotFoundError:
        return False
    return True


# An installed package registers its plugin by its entry point; one in a build folder has none.
pytest_plugins = ["pytester"] if is_installed() else ["pytester", "warpmat.pytest_plugin"]


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: what takes longer than the suite may; CTest's label slow has it")


def run_plugin(pytester):
    """Runs pytest with the package's plugin on the files of `pytester`."""
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", *(["-p", "warpmat.pytest_plugin"] if "warpmat.pytest_plugin" in pytest_plugins else []))


class Drawn:
    """The operands of one form and class, and the C++ library's results."""

    def __init__(self, line, operands, memory, result):
        self.opcode, self.drawn, self.cases = line["opcode"], line["class"], line["warps"]
        self.offset = line.get("offset", 0)
        self.operands, self.memory, self.result = operands, memory, result


def draw_cases(target, seed, warps, only=None):
    """All forms of a target and classes of operands, or one class, one after another."""
    command = os.environ.get("WARPMAT_DRAW_CASES")
    if not command:
        pytest.skip("WARPMAT_DRAW_CASES does not name the program draw_cases of the build folder")
    process = subprocess.Popen([command, target, str(seed), str(warps), *([only] if only else [])], stdout=subprocess.PIPE)
    out = process.stdout
    while header := out.readline():
        line = json.loads(header)

        def words(count):
            data = np.frombuffer(out.read(4 * warps * count * 32), np.uint32)
            return data.reshape(warps, count, 32)

        operands = {o["name"]: words(o["words"]) for o in line["operands"]}
        memory = np.frombuffer(out.read(warps * line["shared_bytes"]), np.uint8).reshape(warps, -1)
        stores = line["result_words"] == 0
        result = np.frombuffer(out.read(memory.size), np.uint8).reshape(memory.shape) if stores else words(line["result_words"])
        yield Drawn(line, operands, memory, result)
    assert process.wait() == 0


@pytest.fixture(scope="session")
def answers_of_sm_90():
    """draw_cases for the target, seed and number of warps of the recorded examples."""
    return list(draw_cases("sm_90a", 1, 2))


@pytest.fixture
def ml_dtypes(monkeypatch):
    """The package ml_dtypes; where it is not installed, dtypes of its names alone (ml_dtypes.cpp)."""
    of_format = importlib.import_module("warpmat.formats")._ml_dtype
    if importlib.util.find_spec("ml_dtypes") is None:
        path = next(Path(os.environ.get("WARPMAT_STAND_INS", os.devnull)).glob("ml_dtypes*"), None)
        if path is None:
            pytest.skip("ml_dtypes is not installed, and WARPMAT_STAND_INS does not name the folder of its stand-in")
        monkeypatch.setitem(sys.modules, "ml_dtypes", _stand_in(path))
    of_format.cache_clear()
    yield importlib.import_module("ml_dtypes")
    of_format.cache_clear()


@lru_cache(maxsize=None)  # NumPy keeps its dtypes as long as the process lives
def _stand_in(path):
    spec = importlib.util.spec_from_file_location("ml_dtypes", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
