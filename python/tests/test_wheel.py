"""What a wheel brings along, and what it asks of the system."""

import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from conftest import is_installed
from warpmat import _core, triton

PACKAGE = Path(_core.__file__).parent


def printed(tool, *arguments):
    if shutil.which(tool) is None:
        pytest.skip(f"there is no {tool}")
    return subprocess.run([tool, *arguments, _core.__file__], capture_output=True, text=True, check=True).stdout


def test_the_module_needs_no_library_but_standard_ones_and_what_lies_beside_it():
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", printed("readelf", "-d"))
    standard = re.compile(r"(libstdc\+\+|libm|libz|libgcc_s|libc|libpthread|libdl|ld-linux-x86-64|ld-linux-aarch64)\.so\.\d+")
    beside = {path.name for path in (PACKAGE / "lib").glob("*.so*")}
    others = {name.partition(".")[0] for name in needed if not standard.fullmatch(name) and name not in beside}
    assert "libc.so.6" in needed
    assert others <= (set() if is_installed() else {"libfmt", "libtbb"})  # those a wheel brings along


def test_the_module_shows_other_extensions_nothing_of_its_own():
    names = re.findall(r"^[0-9a-f]+ [A-Z] (\S+)$", printed("nm", "-D", "--defined-only"), re.M)
    assert names == ["PyInit__core"]


def test_a_wheel_has_the_command_and_the_cuda_libraries():
    if not is_installed() or metadata.distribution("warpmat").read_text("INSTALLER").strip() != "pip":
        pytest.skip("this package is not from a wheel")
    shown = subprocess.run([sys.executable, "-m", "warpmat", "--version"], capture_output=True, text=True, check=True).stdout
    assert shown.split() == ["warpmat", metadata.version("warpmat")]
    assert triton.libraries() == str(PACKAGE.resolve() / "lib/warpmat/cuda")
    found = subprocess.run(["ldd", *map(str, PACKAGE.rglob("*.so*"))], capture_output=True, text=True).stdout
    assert "libwarpmat_cuda.so.0 =>" in found and "not found" not in found
    licenses = {path.name: path.read_text() for path in (PACKAGE / "licenses").iterdir()}
    assert {f"{path.name.partition('.')[0]}-dev" for path in (PACKAGE / "lib").glob("*.so*")} <= set(licenses) | {"libwarpmat-dev"}
    assert {"pybind11-dev", "nlohmann-json3-dev", "zlib1g-dev", "libcli11-dev"} <= set(licenses)  # compiled in
    assert all("opyright" in text for text in licenses.values())


def test_the_script_of_a_wheel_without_a_command_hides_no_installed_one(tmp_path):
    package = tmp_path / "package" / "warpmat"
    shutil.copytree(PACKAGE, package, symlinks=True, ignore=shutil.ignore_patterns("bin", "lib64", "__pycache__"))
    script, installed = tmp_path / "script" / "warpmat", tmp_path / "installed" / "warpmat"
    for file in (script, installed):
        file.parent.mkdir()
    script.write_text(f"#!{sys.executable}\nfrom warpmat.__main__ import main\nmain()\n")
    script.chmod(0o755)
    environment = os.environ | {"PYTHONPATH": str(package.parent), "PATH": f"{script.parent}:{installed.parent}:/usr/bin:/bin"}

    def run(*words):
        return subprocess.run([script, *words], capture_output=True, text=True, env=environment, cwd=tmp_path)

    if shutil.which("warpmat", path="/usr/bin:/bin") is None:
        assert "PATH has none" in run("--help").stdout
    shutil.copy(shutil.which("echo", path="/usr/bin:/bin"), installed)  # a program that says what it was asked
    assert run("run", "a.ptx").stdout == "run a.ptx\n"
    assert "D = A B" in run("identify", "--help").stdout
