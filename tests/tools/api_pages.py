#!/usr/bin/env python3
"""tools/api writes a page for each public header: every public header and what it declares stands there.

api_pages.py SOURCE
"""

import pathlib
import re
import subprocess
import sys
import tempfile

source = pathlib.Path(sys.argv[1])
faults = []


def check(holds, fault):
    if not holds:
        faults.append(fault)


def public_headers():
    """What is installed, less what holds nothing to call."""
    lists = (source / "emulator/CMakeLists.txt").read_text()
    core = re.search(r"set\(core_headers(.*?)\)", lists, re.S).group(1).split()
    whole = re.search(r"set\(warpmat_headers(.*?)\)", lists, re.S).group(1).split()
    return [header for header in core + whole if header not in ("version.h", "warpmat.h")]


def declared(header):
    """The names that the library exports by a header: functions, classes and constants after WARPMAT_API."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", (source / "emulator/warpmat" / header).read_text(), flags=re.S)
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    names = set()
    for declaration in re.findall(r"\bWARPMAT_API\b([^;{]*)", text):
        name = re.search(r"([A-Za-z_]\w*)\s*(?:\(|$|final\b|:[^:])", " ".join(declaration.split()))
        if name:
            names.add(name.group(1))
    return names


with tempfile.TemporaryDirectory() as directory:
    written = pathlib.Path(directory) / "api"
    written.mkdir()
    (written / "gone.md").write_text("a page of a header that is gone")
    subprocess.run([sys.executable, source / "tools/api", written], check=True)
    pages = {page.name: page.read_text() for page in written.glob("*.md")}

check("gone.md" not in pages, "a page of a header that is gone stays")
index = pages.pop("README.md")
for page in pages:
    check(f"]({page})" in index, f"README.md does not link {page}")
everything = "\n".join(pages.values())
check("WARPMAT_API" not in everything, "a macro for symbols is shown")
names = 0
for header in public_headers():
    module = header.removesuffix(".h")
    page = pages.get(f"{module}.md", "")
    check(f"`{header}`" in index, f"README.md does not name {header}")
    check(page.count(f"## `<warpmat/{header}>`") == 1, f"{module}.md does not have {header} once")
    part = page.partition(f"## `<warpmat/{header}>`")[2].partition("\n## `")[0]
    code = "\n".join(re.findall(r"^```c(?:pp)?\n(.*?)^```$", part, re.S | re.M))
    for name in declared(header):
        names += 1
        check(re.search(rf"\b{name}\b", code), f"{module}.md does not show {name} of {header}")
check(names > 150, f"only {names} names were looked for")

print(f"{len(pages)} pages, {names} names" if not faults else "\n".join(faults))
sys.exit(1 if faults else 0)
