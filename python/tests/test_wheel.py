"""What a wheel brings along, and what it asks of the system."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import is_installed
from warpmat import _core


def printed(tool, *arguments):
    if shutil.which(tool) is None:
        pytest.skip(f"there is no {tool}")
    return subprocess.run([tool, *arguments, _core.__file__], capture_output=True, text=True, check=True).stdout


def test_the_module_needs_no_library_but_standard_ones_and_what_lies_beside_it():
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", printed("readelf", "-d"))
    standard = re.compile(r"(libstdc\+\+|libm|libz|libgcc_s|libc|libpthread|libdl|ld-linux-x86-64|ld-linux-aarch64)\.so\.\d+")
    beside = {path.name for path in Path(_core.__file__).parent.iterdir()}
    others = {name.partition(".")[0] for name in needed if not standard.fullmatch(name) and name not in beside}
    assert "libc.so.6" in needed
    assert others <= (set() if is_installed() else {"libfmt", "libhwy", "libtbb"})  # those a wheel brings along


def test_the_module_shows_other_extensions_nothing_of_its_own():
    names = re.findall(r"^[0-9a-f]+ [A-Z] (\S+)$", printed("nm", "-D", "--defined-only"), re.M)
    assert names == ["PyInit__core"]
