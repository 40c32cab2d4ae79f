#!/usr/bin/env python3
"""A picture of a live session of the Debug Adapter Protocol, as a client may show it: the stop, its scopes, and a fragment as its matrix.

picture.py COMMAND SOURCE PAGE.html [PICTURE.png]: the picture is chromium's.
"""

import html
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from client import Adapter, write_cases  # noqa: E402

STYLE = """body { font: 12px sans-serif; margin: 12px; width: 940px } h1 { font-size: 15px } h2 { font-size: 13px; margin: 10px 0 4px }
table { border-collapse: collapse } td { padding: 1px 6px; font-family: monospace } .side { display: flex; gap: 24px }
.matrix td { border: 1px solid #bbb; text-align: right; font-size: 10px; padding: 2px 3px } .line { background: #fd6 }"""
SHOWN = 6  # variables of a scope


def table(rows, style=""):
    return f"<table class='{style}'>" + "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows) + "</table>"


def matrix_rows(adapter, fragment):
    return [[f"{float(cell['value']):g}" for cell in adapter.inside(row).values()] for row in adapter.inside(fragment).values()]


def page(adapter, thread, source):
    frame = adapter.request("stackTrace", threadId=thread)["stackFrames"][-1]  # of the kernel, which has inlined the others
    scopes = adapter.scopes(thread)
    parts = [f"<h1>{html.escape(frame['name'])} at {frame['source']['name']}:{frame['line']}</h1><div class='side'><div>"]
    lines = source.read_text().splitlines()
    near = range(max(1, frame["line"] - 4), min(len(lines), frame["line"] + 3) + 1)
    code = (f"<div class='{'line' if n == frame['line'] else ''}'>{n:4} {html.escape(lines[n - 1][:64])}</div>" for n in near)
    parts.append("<pre>" + "".join(code) + "</pre>")
    for name in ("Registers", "Special registers", "Parameters and memory"):
        found = list(adapter.inside(scopes[name]).values())
        parts.append(f"<h2>{name}</h2>" + table([(each["name"], each["value"][:40]) for each in found[:SHOWN]]))
    parts.append("</div><div>")
    for name, fragment in adapter.inside(scopes["Fragments"]).items():
        if name in "ab":
            parts.append(f"<h2>operand {name}, {fragment['value']}</h2>" + table(matrix_rows(adapter, fragment), "matrix"))
    return f"<!doctype html><meta charset='utf-8'><style>{STYLE}</style>" + "".join(parts) + "</div></div>"


def main(command, source, out, picture=None):
    with tempfile.TemporaryDirectory() as folder:
        cases = pathlib.Path(folder, "cases")
        write_cases(source, str(cases), ["f16_ldmatrix"])
        adapter = Adapter(command)
        adapter.request("initialize", adapterID="warpmat")
        adapter.request("launch", program=str(cases / "f16_ldmatrix_0/launch.json"))
        adapter.request("setFunctionBreakpoints", breakpoints=[{"name": "mma"}])
        adapter.request("configurationDone")
        text = page(adapter, adapter.event("stopped")["threadId"], pathlib.Path(source, "tests/planted/f16_ldmatrix.cu"))
        adapter.end()
    pathlib.Path(out).write_text(text)
    if picture is not None:
        chromium = ["chromium", "--headless", "--no-sandbox", "--hide-scrollbars", "--disable-lcd-text", "--window-size=860,620"]
        subprocess.run([*chromium, f"--screenshot={picture}", pathlib.Path(out).resolve().as_uri()], check=True, capture_output=True)


main(*sys.argv[1:])
