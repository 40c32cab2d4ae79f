#!/usr/bin/env python3
"""The page that executes, tools/browser: in Node against the native core, and in a real browser.

live_in_browser.py NATIVE_BUILD [--screenshots DIRECTORY] [--page LIVE_HTML] [--only CHECK] [--jobs N]

Builds the preset `wasm`, and `warpmat_ask` in NATIVE_BUILD; with --built nothing is built. The core's size; the answers to all examples, byte for byte; recorded answers of a
card; the time of a GEMM with checks. In Chromium each example at two sizes, clicks, a link, keys, names, contrast, dark mode, and that nothing is
asked of a network. Ends with 77, and says so, where there is no emscripten, no Node, no Chromium, or with --built no page. Times are printed.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import zlib

import browser as browsers
from site_in_browser import SKIPPED, Check

ROOT = pathlib.Path(__file__).resolve().parents[2]
NODE = "/usr/bin/node" if os.path.exists("/usr/bin/node") else shutil.which("node") or ""
SIZES = {"desktop": (1280, 900, False), "phone": (390, 844, True)}
GALLERY = json.loads((ROOT / "tools/browser/page/gallery.json").read_text())


def question_of(example):
    """As main.js asks it."""
    ask = example["ask"]
    return ask | {"text": "\n".join(ask["text"]), "launch": json.dumps(ask["launch"]) if "launch" in ask else ""}


def gemm_question():
    """A product of 128 x 128 x 64 by 64 blocks of a warp, with all checks."""
    example = next(example for example in GALLERY if example["name"] == "cubek-599")
    return {"do": "run", **question_of(example), "text": (ROOT / "tests/tools/live_gemm.ptx").read_text(), "launch": json.dumps({
        "grid": [16, 8], "block": 32, "gemm": "C=A*B:128x128x64",
        "buffers": [{"name": "A", "random": "f16:8192:1", "shape": [128, 64]}, {"name": "B", "random": "f16:8192:2", "shape": [64, 128]},
                    {"name": "C", "bytes": 65536, "dtype": "f32", "shape": [128, 128]}],
        "params": [{"buffer": "A"}, {"buffer": "B"}, {"buffer": "C"}]})}


def questions():
    asked = [{"do": "run", **question_of(example)} for example in GALLERY]
    asked += [{"do": "explain", **question_of(example), "statement": 0, "element": [1, 2, 0]} for example in GALLERY if example["ask"]["kind"] == "list"]
    asked += [{"do": "explain", **question_of(example), "why": "C[9,3]", "against": "sm_90a"} for example in GALLERY if example["name"] == "cubek-599"]
    asked += [{"do": "targets"}, {"do": "run", "kind": "list", "target": "sm_80", "text": "mma.sync;\nadd.u32 a, b"},
              {"do": "run", "kind": "list", "target": "sm_80", "text": "add.u32 a, b, c;", "in": {"b": "1 2\n3"}},
              {"do": "run", "kind": "kernel", "target": "sm_80", "text": ".version 8.0", "launch": "{"}, {"do": "nothing"}, {}]
    return asked + [gemm_question()]


def node(*arguments, text=None):
    return subprocess.run([NODE, ROOT / "tests/tools/live_in_node.mjs", *map(str, arguments)], input=text, capture_output=True, text=True, check=True)


def check_size(build, native):
    check = Check("the core is small")
    core = (build / "warpmat.wasm").read_bytes()
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = len(packer.compress(core) + packer.flush())
    print(f"  {len(core):,} bytes, {packed:,} compressed; the page has {(build / 'live.html').stat().st_size:,}")
    check.true(len(core) <= 4_000_000, f"{len(core)} bytes")
    check.true(packed <= 1_200_000, f"{packed} bytes compressed")
    return [check]


def check_answers(build, native):
    check = Check("answers of the core in Node and of the native one are the same bytes")
    asked = "".join(json.dumps(question) + "\n" for question in questions())
    expected = subprocess.run([native / "tools/browser/warpmat_ask"], input=asked, capture_output=True, text=True, check=True).stdout.splitlines()
    ran = node("questions", build / "warpmat.wasm", text=asked)
    got = ran.stdout.splitlines()
    check.equal(len(got), len(expected), "the number of answers")
    for one, other, question in zip(got, expected, questions()):
        check.true(one == other, f"{question}: {one[:200]}, natively {other[:200]}")
    for example, answer in zip(GALLERY, expected):
        check.true("places" in json.loads(answer), f"{example['name']}: {answer[:300]}")
    for answer in expected[-4:-1]:
        check.true("error" in json.loads(answer), answer[:200])
    milliseconds = int(ran.stderr.split()[-1])
    answer = json.loads(got[-1])
    print(f"  128 x 128 x 64 with checks: {milliseconds} ms")
    check.true("trap" not in answer and "error" not in answer, f"the GEMM: {got[-1][:300]}")
    return [check]


def check_recordings(build, native):
    check = Check("recorded answers agree")
    files = sorted((ROOT / "tests/vectors/sm_90").glob("*.jsonl.gz"))
    for line in node("recordings", build / "replay.wasm", 64, *files).stdout.splitlines():
        check.true(line.endswith(" agree"), line)
    check.true(check.count == len(files), f"{check.count} of {len(files)} files")
    return [check]


class Page:
    def __init__(self, browser, url):
        self.browser, self.url, self.runs = browser, url, 0

    def open(self, fragment, size="desktop"):
        width, height, mobile = SIZES[size]
        self.browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.browser.open("about:blank")
        self.browser.open(self.url + fragment)
        self.wait("document.documentElement.dataset.started")

    def wait(self, condition):
        end = time.monotonic() + 60
        while not self.browser.evaluate(f"Boolean({condition})"):
            if time.monotonic() > end:
                raise TimeoutError(f"{condition}: {self.browser.evaluate('document.body.innerText')[:500]}")
            time.sleep(0.05)

    def act(self, script):
        """Does something that runs the question again, and waits for the answer."""
        before = self.browser.evaluate("Number(document.documentElement.dataset.ready)")
        self.browser.evaluate(script)
        self.wait(f"Number(document.documentElement.dataset.ready) > {before}")

    def text(self, name):
        return self.browser.evaluate(f"document.getElementById('{name}').innerText")


def check_examples(page, screenshots):
    check = Check("each example has its answer, at both sizes")
    for example in GALLERY:
        for size in SIZES:
            page.open(f"#example={example['name']}", size)
            where = f"{example['name']}, {size}"
            check.equal(page.text("problem"), "", where)
            check.equal(page.text("about-title"), example["title"], where)
            check.true(page.browser.evaluate("document.querySelectorAll('#matrix td').length > 0"), f"{where}: no matrix")
            check.true(page.browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{where}: wider than the screen")
            if example["ask"].get("focus"):
                check.true(page.browser.evaluate("document.getElementById('explanation').childElementCount > 0 || !document.getElementById('explain-hint').hidden === false"), f"{where}: no explanation")
            if screenshots:
                page.browser.screenshot(screenshots / f"{example['name']}_{size}.png")
    return [check]


def check_marks(page, screenshots):
    check = Check("errors, races and conflicts are at their lines")
    page.open("#example=fuser-3428")
    check.equal(page.browser.evaluate("[...document.querySelectorAll('#gutter .error')].map(e => e.textContent)"), ["✖ 20"], "the load of a copy")
    page.act("document.getElementById('text').value = document.getElementById('text').value.replace('  bar.sync 0;', '  cp.async.wait_all;\\n  bar.sync 0;'), document.getElementById('run').click()")
    check.equal(page.browser.evaluate("document.querySelectorAll('#gutter .error').length"), 0, "after the wait")
    page.open("#example=kbmod-108")
    check.true("race" in page.text("findings"), page.text("findings")[:200])
    page.open("#example=cutlass-1234")
    check.equal(page.browser.evaluate("document.querySelectorAll('.banks').length"), 2, "pictures of banks")
    check.true(page.browser.evaluate("document.querySelectorAll('.banks')[0].querySelectorAll('.collides').length > 0 && !document.querySelectorAll('.banks')[1].querySelector('.collides')"), "conflicts of the first alone")
    page.act("document.getElementById('text').value = 'mma.sync;', document.getElementById('run').click()")
    check.true(page.browser.evaluate("document.querySelector('#gutter div').className === 'error'"), "a wrong statement")
    return [check]


def check_cursor(page, screenshots):
    check = Check("what is under the cursor is told and marked in both tables")
    page.open("#example=cutlass-1635")
    page.browser.evaluate("document.querySelector('#matrix td[data-row=\"5\"][data-column=\"10\"]').dispatchEvent(new MouseEvent('mouseover', {bubbles: true}))")
    check.true("lane 21, register a2" in page.text("sentence"), page.text("sentence"))
    check.equal(page.browser.evaluate("document.querySelectorAll('#lanes td.marked').length"), 1, "the place")
    page.open("#example=onnxruntime-24027")
    check.equal(page.browser.evaluate("document.querySelectorAll('#matrix td.used').length"), 27, "elements that differ")
    check.true("part after step" in page.text("explanation"), page.text("explanation")[-300:])
    page.open("#example=cubek-599")
    check.true(page.browser.evaluate("document.querySelectorAll('svg.origins .arrow').length >= 2"), "arrows")
    return [check]


def check_link(page, screenshots):
    check = Check("a link holds everything; a damaged one is told")
    page.open("#example=onnxruntime-24027")
    page.act("document.getElementById('target').value = 'sm_89', document.getElementById('target').dispatchEvent(new Event('change'))")
    fragment = page.browser.evaluate("location.hash")
    check.true(fragment.startswith("#q="), fragment[:40])
    answer = page.browser.evaluate("document.getElementById('matrix').innerText")
    page.open(fragment + "&embed=1")
    check.equal(page.browser.evaluate("document.getElementById('matrix').innerText"), answer, "the matrix by the link")
    check.true(page.browser.evaluate("getComputedStyle(document.querySelector('header')).display === 'none'"), "an embedded page has no header")
    page.open("#q=broken")
    check.true("address" in page.text("problem"), page.text("problem"))
    return [check]


def check_keys(page, screenshots):
    check = Check("keys, names for screen readers, contrast")
    page.open("#example=cutlass-1635")
    page.browser.evaluate("document.querySelector('#matrix td[tabindex=\"0\"]').focus()")
    for key in ("ArrowRight", "ArrowDown"):
        page.browser.call("Input.dispatchKeyEvent", type="keyDown", key=key)
    check.equal(page.browser.evaluate("[document.activeElement.dataset.row, document.activeElement.dataset.column].join()"), page.browser.evaluate("document.querySelector('#matrix td[tabindex=\"0\"]').dataset.row + ',' + document.querySelector('#matrix td[tabindex=\"0\"]').dataset.column"), "the focus")
    unnamed = """[...document.querySelectorAll("select, textarea, button, [role=grid], [role=gridcell]")].filter(e => e.checkVisibility()
      && !(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length || e.caption)).map(e => e.outerHTML.slice(0, 80))"""
    check.equal(page.browser.evaluate(unnamed), [], "controls without a name")
    contrast = """(() => { const light = c => { const v = c.match(/[0-9.]+/g).slice(0, 3).map(x => x / 255).map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
        return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
      const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/^rgba.*, 0\\)$/.test(c)) return c; } return matchMedia("(prefers-color-scheme: dark)").matches ? "rgb(22,24,28)" : "rgb(255,255,255)"; };
      return [...document.querySelectorAll("p, td, th, label, caption, pre, h1, h2, h3, span, option, a, button, textarea, li, #gutter div")]
        .filter(e => e.checkVisibility() && [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()))
        .map(e => { const [x, y] = [light(getComputedStyle(e).color), light(ground(e))].sort((a, b) => b - a); return [e.tagName + " " + e.className + " " + e.textContent.slice(0, 30), (x + 0.05) / (y + 0.05)]; })
        .filter(([, ratio]) => ratio < 4.5); })()"""
    for scheme in ("light", "dark"):
        page.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        for example in ("onnxruntime-24027", "kbmod-108", "cubek-599", "cutlass-1234"):
            page.open(f"#example={example}")
            check.equal(page.browser.evaluate(contrast)[:3], [], f"{scheme} {example}")
            if screenshots:
                page.browser.screenshot(screenshots / f"{example}_{scheme}.png")
    page.browser.call("Emulation.setEmulatedMedia", features=[])
    return [check]


def check_load(page, screenshots):
    check = Check("the page is there")
    page.open("")
    milliseconds = int(page.browser.evaluate("document.documentElement.dataset.started"))
    print(f"  first load with the first example executed: {milliseconds} ms")
    check.true(milliseconds > 0, "the page says when it was there")
    return [check]


IN_NODE = [check_size, check_answers, check_recordings]
IN_BROWSER = [check_load, check_examples, check_marks, check_cursor, check_link, check_keys]


def build(native, jobs):
    subprocess.run(["cmake", "--preset", "wasm"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "build/wasm", "--parallel", str(jobs), "--target", "warpmat_live", "warpmat_replay"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", native, "--parallel", str(jobs), "--target", "warpmat_ask"], check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("native", type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("--only", help="one check by the name of its function")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--built", action="store_true", help="build nothing")
    options = parser.parse_args()
    for what, found in (("emscripten (Debian's package is emscripten)", shutil.which("em++")), ("Node", NODE), ("Chromium", browsers.find())):
        if not found:
            print(f"skipped: no {what} here")
            return SKIPPED
    folder = ROOT / "build/wasm"
    needed = [folder / "live.html", folder / "replay.wasm", options.native / "tools/browser/warpmat_ask"]
    if not options.built:
        build(options.native, options.jobs)
    elif missing := [str(file) for file in needed if not file.exists()]:
        print(f"skipped: {missing[0]} is not built; without --built this builds it")
        return SKIPPED
    checks = [lambda check=check: check(folder, options.native) for check in IN_NODE if options.only in (None, check.__name__)]
    browser = browsers.Browser(browsers.find(), time.monotonic() + 900)
    if options.screenshots:
        options.screenshots.mkdir(parents=True, exist_ok=True)
    try:
        page = Page(browser, (folder / "live.html").as_uri())
        checks += [lambda check=check: check(page, options.screenshots) for check in IN_BROWSER if options.only in (None, check.__name__)]
        fine = all([check.report() for function in checks for check in function()])
        quiet = Check("the console is silent, and nothing is asked of a network")
        quiet.equal(browser.complaints, [], "the console")
        quiet.equal([request for request in browser.requests if not request.startswith(("data:", "blob:"))], [], "the network")
        return 0 if quiet.report() and fine else 1
    finally:
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
