#!/usr/bin/env python3
"""Holds the page of `warpmat site` against the command, in a real browser.

site_in_browser.py COMMAND [--screenshots DIRECTORY] [--seconds N]

Every control, a link, every form of the table; every element of all operands of a sample of forms against `warpmat layout --json`, some of
them by clicks of the mouse; bank conflicts against `warpmat swizzle --json`; names for screen readers; contrast; nothing on the console,
nothing asked of a network. Ends with 77, and says so, where there is no Chromium.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import browser as browsers

SKIPPED = 77

# A form of each kind.
SAMPLE = [
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f16", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32",
    "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
    "ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8", "ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b6x16_p32", "stmatrix.sync.aligned.m16n8.x4.trans.shared.b8",
    "movmatrix.sync.aligned.m8n8.trans.b16", "wmma.load.a.sync.aligned.row.m8n32k16.shared.f16", "wmma.mma.sync.aligned.row.col.m32n8k16.f32.f16",
    "wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16", "wgmma.mma_async.sp.sync.aligned.m64n16k64.f16.e4m3.e5m2",
    "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc",
]

TILES = [("64x64:f16", 64, 64, 16), ("128x32:f16", 128, 32, 16), ("32x32:f32", 32, 32, 32), ("16x64:s8", 16, 64, 8), ("64x128:s4", 64, 128, 4)]


class Check:
    """Counts comparisons and keeps what differs."""

    def __init__(self, title):
        self.title, self.count, self.failures = title, 0, []

    def equal(self, got, expected, where):
        self.count += 1
        if got != expected:
            self.failures.append(f"{where}: {got!r}, expected {expected!r}")

    def true(self, condition, where):
        self.equal(bool(condition), True, where)

    def report(self):
        print(f"{self.title}: {self.count} comparisons, {len(self.failures)} differ", flush=True)
        for failure in self.failures[:10]:
            print("  " + failure)
        return not self.failures and self.count > 0


class Site:
    def __init__(self, command, browser, url, every=1):
        self.command, self.browser, self.url, self.every = command, browser, url, every

    def tool(self, *arguments):
        return json.loads(subprocess.run([self.command, *arguments], check=True, capture_output=True, text=True).stdout)

    def text(self, name):
        return self.browser.evaluate(f"byId('{name}').textContent")

    def choose(self, name, value):
        """Chooses a value of a control as its user does: the browser is told of the change."""
        self.browser.evaluate(f"""(() => {{ const e = byId({json.dumps(name)}); e.value = {json.dumps(value)};
            e.dispatchEvent(new Event("input", {{bubbles: true}})); e.dispatchEvent(new Event("change", {{bubbles: true}})); }})()""")

    def state(self, name):
        return self.browser.evaluate(f"state.{name}")


def bits(first, count):
    return f"bit {first}" if count == 1 else f"bits {first} to {first + count - 1}"


def sentence(whole, elements, names):
    """What the page must say of an element, from `warpmat layout --json`: `elements` are its places, the first one and copies."""
    e = elements[0]
    name = (f"{names[e['matrix']]}, " if whole.get("matrices", 1) > 1 else "") + f"row {e['row']}, column {e['column']}"
    width = e["element_bits"]
    if "address" in e:
        if width < 8:
            return f"{name}: bit {e['bit']} of byte {e['address']:#x}"
        last = e["address"] + width // 8 - 1
        return f"{name}: " + (f"byte {last:#x}" if width == 8 else f"bytes {e['address']:#x} to {last:#x}")
    if "register" not in e:
        where = bits(e["bit"], width) if width % 8 else f"byte {e['bit'] // 8}" if width == 8 else f"bytes {e['bit'] // 8} to {(e['bit'] + width) // 8 - 1}"
        return f"{name}: {where} of the row whose address lane {e['lane']} holds"
    shift, count = whole.get("payload_shift", 0), whole.get("payload_bits", width)
    warp = f"warp {e['warp']}, " if "warp" in e else ""
    also = "".join(f"{'; also in' if i == 0 else ','} register {copy['register']}" for i, copy in enumerate(elements[1:]))
    return f"{name}: {warp}lane {e['lane']}, register {e['register']}, {bits(e['bit'] + shift, count)}{also}"


def copies_of(whole):
    """The places of every element, by (matrix, row, column), the first one first: `lanes` names those of copies too."""
    places = {}
    for e in whole["elements"]:
        places.setdefault((e.get("matrix", 0), e["row"], e["column"]), []).append(e)
    for lane, registers in enumerate(whole.get("lanes", []) if "register_bits" in whole else []):
        for register, held in enumerate(registers):
            for e in held:
                known = places[e["matrix"], e["row"], e["column"]]
                if all((k["lane"], k["register"]) != (lane, register) for k in known):
                    known.append({"lane": lane, "register": register})
    return places


def shown_operands(site, opcode):
    """[operand, major, swizzle] of everything that can be chosen of a form; the last two are None but of shared memory."""
    return site.browser.evaluate(f"""(() => {{ state.opcode = {json.dumps(opcode)}; const form = layoutView.form();
        return form.operands.flatMap(o => {{ const layout = tables.layouts[o.layout], name = layoutView.operandName(o);
          return layout.kind !== "memory" ? [[name, null, null]]
            : Object.keys(layout.majors).flatMap(major => ["128", "64", "32", "none"].map(swizzle => [name, major, swizzle])); }}); }})()""")


def whole_layout(site, opcode, operand, major, swizzle):
    more = ["--major", major, "--swizzle", swizzle] if major else []
    return site.tool("layout", opcode, "--operand", operand.split()[0], "--json", *more)


def check_elements(site):
    """Every element of all operands of the sample: what the page says of it, and of clicks on some of them and on their places."""
    check, clicks = Check("places agree with warpmat layout --json"), Check("places clicked agree with warpmat layout --json")
    chance = random.Random(1)
    for opcode in SAMPLE[:: site.every]:
        check.true(site.browser.evaluate(f"tables.forms.some(form => form[0] === {json.dumps(opcode)})"), opcode)
        for operand, major, swizzle in shown_operands(site, opcode):
            site.browser.evaluate(f"Object.assign(state, {json.dumps(dict(opcode=opcode, operand=operand, matrix=0, major=major or 'k', swizzle=swizzle or '128'))}), layoutView.show()")
            whole = whole_layout(site, opcode, operand, major, swizzle)
            names = site.browser.evaluate("layoutView.now.operand.matrices || ['']")
            places = copies_of(whole)
            expected = {key: sentence(whole, elements, names) for key, elements in places.items()}
            said = site.browser.evaluate("""Array.from({length: layoutView.now.layout.matrices}, (_, m) => layouts.elements(layoutView.now.layout, m)
                .map(e => [e.matrix, e.row, e.column, layoutView.sentence(e)])).flat()""")
            check.equal(len(said), len(expected), f"{opcode} {operand}: elements")
            for matrix, row, column, text in said:
                check.equal(text, expected.get((matrix, row, column)), f"{opcode} {operand} {swizzle or ''}")
            click_some(site, clicks, chance, opcode, operand, places, expected)
    return [check, clicks]


def click_some(site, check, chance, opcode, operand, places, expected):
    in_first = [key for key in places if key[0] == 0 and key[1] < 64 and key[2] < 64]
    for _, row, column in chance.sample(in_first, min(4, len(in_first))):
        where = f"{opcode} {operand}: row {row}, column {column}"
        site.browser.evaluate("layoutView.choose({row: 0, column: 0, matrix: state.matrix = 0})")
        site.browser.click(f"#elements td[data-row='{row}'][data-column='{column}']")
        check.equal(site.text("sentence"), expected[0, row, column], where)
        check.equal([site.state("row"), site.state("column")], [row, column], where)
        check.true(f"row {row}, column {column}" in site.text("back"), where + ", the way back")
        e = places[0, row, column][0]
        place = (e["address"] >> 7, e["address"] >> 4 & 7) if "address" in e else (32 * e.get("warp", 0) + e["lane"], e.get("register", 0))
        marked = site.browser.evaluate("[...document.querySelectorAll('#places .marked')].map(c => [Number(c.dataset.row), Number(c.dataset.column)])")
        check.true(list(place) in marked, f"{where}: its place is marked")
        site.browser.click(f"#places td[data-row='{place[0]}'][data-column='{place[1]}']")
        check.true(f"row {row}, column {column}" in site.text("sentence"), f"{where}: clicked at its place")


def check_all_forms(site):
    """Every form can be chosen and says how it is known; every layout that differs from others is drawn, with the first form that has it."""
    check = Check("forms and layouts shown")
    listed = site.tool("list", "--json")
    opcodes = site.browser.evaluate("tables.forms.map(form => form[0])")
    check.equal(opcodes, [form["opcode"] for form in listed], "the forms of warpmat list")
    shown = site.browser.evaluate(f"const every = {site.every};" + """(() => {
        const seen = new Set(), wrong = [];
        const layoutOf = number => tables.operands[number].layout;
        let count = 0;
        for (const [opcode, need, operands, lowering] of tables.forms.filter((_, i) => i % every === 0)) {
          Object.assign(state, {opcode, matrix: 0, operand: ""});
          layoutView.now = layoutView.settle();
          layoutView.showKnowledge();
          if (byId("opcode").value !== opcode || byId("operand").length !== operands.length || !byId("needs").textContent.startsWith(opcode)
              || byId("knowledge").tBodies[0].rows.length !== tables.lowerings[lowering].length) wrong.push(opcode);
          ++count;
          for (const number of operands.filter(o => !seen.has(layoutOf(o)))) {
            seen.add(layoutOf(number));
            state.operand = layoutView.operandName(tables.operands[number]);
            layoutView.show();
            const drawn = byId("elements").querySelectorAll("td[role=gridcell]").length, held = byId("places").querySelectorAll("td[style]").length;
            if (!drawn || !held || !byId("sentence").textContent) wrong.push(`${opcode} ${state.operand}`);
          }
        }
        return {count, wrong, layouts: seen.size};
    })()""")
    if site.every == 1:
        check.equal(shown["layouts"], site.browser.evaluate("tables.layouts.length"), "layouts shown")
    check.equal(shown["count"], len(listed[:: site.every]), "forms chosen")
    check.equal(shown["wrong"], [], "forms that were not shown")
    for form in random.Random(2).sample(listed, 20):
        site.browser.evaluate(f"state.opcode = {json.dumps(form['opcode'])}, layoutView.show()")
        rows = site.browser.evaluate("[...byId('knowledge').tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent))")
        expected = [[l["hardware"], l["machine"], l["evidence"], l["source"]] for l in form["lowerings"]]
        check.equal([[r[0], r[2], r[3].split(" ")[0], r[4]] for r in rows], expected, form["opcode"])
    return [check]


def check_controls(site):
    check, browser = Check("controls"), site.browser
    browser.open(site.url)
    browser.click("#filter")
    browser.call("Input.insertText", text="wgmma m64n24 sp")
    options = browser.evaluate("[...byId('opcode').options].map(o => o.value)")
    check.true(len(options) > 1 and all(o == site.state("opcode") or ("wgmma" in o and "m64n24" in o and "sp" in o) for o in options), "find")
    check.true(site.text("found").startswith(f"{len(options)} of "), "how many were found")
    site.choose("opcode", options[-1])
    check.true(site.text("needs").startswith(options[-1]), "one of them")
    browser.evaluate("byId('filter').value = '', byId('filter').dispatchEvent(new Event('input'))")
    site.choose("family", "mma.sp")
    check.true(site.state("opcode").startswith("mma.sp") and browser.evaluate("[...byId('opcode').options].every(o => o.value.startsWith('mma.sp'))"), "family")
    site.choose("types", "f32 bf16")
    check.true(browser.evaluate("[...byId('opcode').options].every(o => o.value.includes('.bf16.')) && byId('opcode').length > 1"), "types")
    site.choose("types", "")
    site.choose("opcode", "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32")
    check.true(site.text("needs").startswith("mma.sp.sync.aligned.m16n8k32"), "instruction")
    site.choose("target", "sm_75")
    check.true(site.text("needs").startswith("sm_75 has not got it"), "target that has not got it")
    site.choose("target", "sm_80")
    check.true("needs sm_80" in site.text("needs") and browser.evaluate("document.querySelector('#knowledge .chosen').cells[0].textContent") == "sm_80", "target")
    site.choose("operand", "e")
    check.true("code of the j-th group" in site.text("remark"), "operand")
    site.choose("matrix", "1")
    check.true(site.text("sentence").startswith("selector 1, row 0, column 0"), "which matrix")
    site.choose("operand", "a")
    before = browser.evaluate("document.querySelector('#elements td:nth-child(10)').style.backgroundColor")
    site.choose("colour", "register")
    check.true(before != browser.evaluate("document.querySelector('#elements td:nth-child(10)').style.backgroundColor"), "colour")
    site.choose("target", "")
    site.choose("family", "wgmma")
    site.choose("opcode", "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16")
    site.choose("operand", "d")
    site.choose("elements-from-column", "64")
    check.equal(browser.evaluate("byId('elements').rows[0].cells[1].textContent"), "64", "window of columns")
    site.choose("places-from-row", "96")
    check.equal(browser.evaluate("byId('places').rows[1].cells[0].textContent"), "w3 T0", "window of lanes")
    site.choose("operand", "b in shared memory")
    plain = site.text("descriptor")
    site.choose("major", "mn")
    site.choose("swizzle", "64")
    check.true("swizzle 64 bytes" in site.text("descriptor") and plain != site.text("descriptor"), "major and swizzle")
    browser.evaluate("document.querySelector('#notation summary').click()")
    return [check]


def check_keys(site):
    check, browser = Check("keys"), site.browser
    browser.open(site.url)
    browser.click("#elements td[data-row='2'][data-column='3']")
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=0, y=0)  # else cells that scroll below the mouse show themselves
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowLeft", "ArrowUp"):
        browser.press(key)
    check.equal([site.state("row"), site.state("column")], [3, 2], "arrows")
    check.equal(browser.evaluate("document.activeElement.getAttribute('aria-label')"), site.text("sentence"), "the cell with the focus")
    browser.press("End")
    check.equal(site.state("column"), 15, "End")
    browser.press("Tab")
    check.equal(browser.evaluate("document.activeElement.closest('table').id"), "places", "Tab leads to the registers")
    browser.press("ArrowDown")
    check.true(site.text("sentence").startswith("lane 16"), "the way back by keys")
    browser.hover("#elements td[data-row='0'][data-column='0']")
    check.true(site.text("sentence").startswith("row 0, column 0"), "the mouse shows")
    browser.hover("h1")
    check.true(not site.text("sentence").startswith("row 0, column 0:"), "and leaves the choice alone")
    return [check]


def check_link(site):
    check, browser = Check("a link"), site.browser
    chosen = [dict(opcode="mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", target="sm_90a", operand="e", matrix=1, colour="register", row=5, column=3),
              dict(opcode="wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16", operand="b in shared memory", major="mn", swizzle="32", row=7, column=200),
              dict(view="banks", rows=128, columns=32, store="st.64", load="ldmatrix.x4.trans", b=2, m=4, s=3, pad=16, shown="store", instruction=9)]
    seen = """[...document.querySelectorAll("main:not([hidden])")].map(m => m.innerText + m.querySelector("table").innerHTML).join("")
        + [...document.querySelectorAll("main:not([hidden]) :is(select, input:not([type=search]))")].map(e => e.value).join()"""
    for choice in chosen:
        browser.open(site.url)
        browser.evaluate(f"Object.assign(state, {json.dumps(choice)}), showPage()")
        browser.evaluate("new Promise(done => setTimeout(done, 500))")  # the address follows a moment later
        link, before = browser.evaluate("location.href"), browser.evaluate(seen)
        browser.open(link)
        check.equal({key: site.state(key) for key in choice}, choice, link)
        check.equal(browser.evaluate(seen), before, f"{link}: what is shown")
    browser.open(site.url + "#opcode=wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16&operand=b")
    check.equal(site.state("operand"), "b in shared memory", "b of wgmma")
    browser.open(site.url + "#operand=z&row=3")
    check.equal(site.text("replaced"), "There is no operand z here; d is shown.", "an operand that is not there is told")
    browser.open(site.url + "#operand=b")
    check.true(browser.evaluate("byId('replaced').hidden"), "nothing is told where all is there")
    for nonsense in ("#opcode=none&operand=z&row=99999&target=sm_1", "#view=banks&rows=7&b=99&store=x&instruction=77777", "#view=%F0&%%"):
        browser.open(site.url + nonsense)
        check.true(browser.evaluate("document.querySelector('main:not([hidden]) td[role=gridcell]') !== null || byId('bank-problem').textContent !== ''"), nonsense)
    return [check]


def check_banks(site):
    check, browser = Check("bank conflicts agree with warpmat swizzle --json"), site.browser
    browser.open(site.url)
    browser.click("#banks-link")
    check.true(browser.evaluate("!byId('banks-view').hidden && byId('layout-view').hidden"), "the view")
    for store, load in (("cp.async.16", "ldmatrix.x4"), ("st.32", "ld.128"), ("stmatrix.x2", "ld.64.column"), ("st.8.column", "ldmatrix.x1.trans"), ("cp.async.4", "ld.16")):
        for tile, rows, columns, width in TILES:
            here = dict(rows=rows, columns=columns, bits=width)
            if not browser.evaluate(f"[{json.dumps(store)}, {json.dumps(load)}].every((name, i) => banks.instructions({json.dumps(here)}, (i ? tables.loads : tables.stores).find(a => a.name === name)))"):
                continue
            expected = sorted(site.tool("swizzle", "--tile", tile, "--store", store, "--load", load, "--json"), key=lambda x: x["layout"])
            got = browser.evaluate(f"""(() => {{ const tile = {json.dumps(here)}, used = [tables.stores.find(a => a.name === {json.dumps(store)}), tables.loads.find(a => a.name === {json.dumps(load)})];
                return banks.candidates(tile, used).map(l => {{ const w = used.map(a => banks.wavefronts(tile, a, l));
                  return {{layout: banks.name(tile, l), wavefronts: w[0].taken + w[1].taken, least: w[0].least + w[1].least, formula: banks.formula(tile, l)}}; }}); }})()""")
            got.sort(key=lambda x: x["layout"])
            check.equal(got, [{key: e[key] for key in ("layout", "wavefronts", "least", "formula")} for e in expected], f"{tile} {store} {load}")
            for name, value in (("tile-rows", rows), ("tile-columns", columns), ("tile-bits", width), ("store", store), ("load", load)):
                site.choose(name, str(value))
            browser.click("#best")
            best = site.tool("swizzle", "--tile", tile, "--store", store, "--load", load, "--json")[0]
            check.true(f"Layout {best['layout']}: " in site.text("counts"), f"{tile} {store} {load}: the best, {best['layout']}: {site.text('counts')}")
            check.true(best["formula"] == site.text("formula") and tile.split(":")[0] in site.text("swizzle-command"), f"{tile} {store} {load}: formula")
    return [check]


def check_sliders(site):
    check, browser = Check("sliders"), site.browser
    browser.open(site.url + "#view=banks")
    for name in ("pad", "b", "m", "s"):
        before = site.state(name)
        browser.evaluate(f"byId('{name}').focus()")
        browser.press("ArrowLeft" if before else "ArrowRight")
        check.true(site.state(name) != before and site.text(name + "-value") == str(site.state(name)), name)
    check.true(site.text("bank-problem") != "" and browser.evaluate("byId('bank-result').hidden"), "a layout that is none is said to be none")
    browser.click("#best")
    check.equal(site.text("bank-problem"), "", "the best layout is one")
    browser.evaluate("byId('instruction').focus()")
    browser.press("End")
    check.true(site.state("instruction") == 15 and site.text("bank-sentence").startswith("Instruction 15 of ldmatrix.x4"), "instruction")
    site.choose("shown", "store")
    check.true("cp.async.16" in site.text("bank-sentence"), "store or load")
    browser.hover("#phases td[data-row='0'][data-column='5']")
    check.true(site.text("bank-sentence").startswith("lanes 0 to 7, bank 5: "), "a bank under the mouse")
    browser.click("#tile td[data-row='1'][data-column='1']")
    check.true(site.text("bank-sentence").startswith("row 1, bytes 16 to 31: offset 0x80, banks 0 to 3"), "a piece of the tile")
    browser.click("#layout-link")
    check.true(browser.evaluate("!byId('layout-view').hidden"), "back to the layouts")
    return [check]


def check_names(site):
    """Whatever can be used has a name for screen readers."""
    check = Check("names for screen readers")
    for view in ("", "#view=banks"):
        site.browser.open(site.url + view)
        for node in site.browser.call("Accessibility.getFullAXTree")["nodes"]:
            role = node.get("role", {}).get("value")
            if not node.get("ignored") and role in ("combobox", "listbox", "searchbox", "slider", "button", "link", "grid", "table", "gridcell", "main", "navigation", "textbox"):
                check.true(node.get("name", {}).get("value") or role in ("main", "table"), f"{view}: a {role} without a name")
    return [check]


def check_contrast(site):
    """Text on its ground in light and dark, 4.5 at least, and black on every colour of a cell, 7 at least (WCAG 2.1)."""
    check = Check("contrast")
    ratio = """(() => { const parts = c => c.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        const light = c => { const [r, g, b] = parts(c); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)/.test(c)) return c; } return "rgb(255,255,255)"; };
        return [...document.querySelectorAll("main:not([hidden]) :is(p, td, th, label, caption, pre, code, h2, span, option, a), h1, nav a")].filter(e => e.textContent.trim() && e.offsetParent)
          .map(e => { const [x, y] = [light(getComputedStyle(e).color), light(ground(e))].sort((a, b) => b - a);
            return [e.tagName + " " + e.textContent.slice(0, 30), (x + 0.05) / (y + 0.05), e.getAttribute("role") === "gridcell" && e.style.backgroundColor !== ""]; }); })()"""
    for scheme in ("light", "dark"):
        site.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        for view in ("", "#view=banks"):
            site.browser.open(site.url + view)
            for what, contrast, cell in site.browser.evaluate(ratio):
                check.true(contrast >= (7 if cell else 4.5), f"{scheme} {view} {what}: {contrast:.1f}")
    site.browser.call("Emulation.setEmulatedMedia", features=[])
    return [check]


def check_phone(site):
    """At 390 pixels tables scroll, and say so; the page itself does not."""
    check = Check("a phone")
    site.browser.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
    for view in ("", "#view=banks"):
        site.browser.open(site.url + view)
        check.equal(site.browser.evaluate("document.documentElement.scrollWidth"), 390, f"{view} width of the page")
        boxes = site.browser.evaluate("""new Promise(resolve => setTimeout(() => resolve([...document.querySelectorAll(".scroll")]
            .filter(e => e.offsetParent).map(e => [e.scrollWidth > e.clientWidth, getComputedStyle(e, "::before").content])), 200))""")
        check.true(any(wider for wider, _ in boxes), f"{view} has a table that is wider")
        for wider, hint in boxes:
            check.equal("sideways" in hint, wider, f"{view} the hint of a table")
    site.browser.call("Emulation.clearDeviceMetricsOverride")
    return [check]


def take_screenshots(site, directory):
    views = {"mma_a": "", "sparse_e": "#opcode=mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32&operand=e&row=9&column=3&target=sm_80",
             "wgmma_d": "#opcode=wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16&operand=d&row=17&column=9",
             "wgmma_b": "#opcode=wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16&operand=b+in+shared+memory&row=3&column=9",
             "ldmatrix_p": "#opcode=ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16&operand=p&row=3&column=2&matrix=1", "banks": "#view=banks", "banks_rows": "#view=banks&b=0"}
    for scheme in ("light", "dark"):
        site.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        for name, link in views.items():
            site.browser.open(site.url + link)
            site.browser.screenshot(directory / f"{name}_{scheme}.png")
    site.browser.call("Emulation.setEmulatedMedia", features=[])
    for deficiency in ("deuteranopia", "achromatopsia"):
        site.browser.call("Emulation.setEmulatedVisionDeficiency", type=deficiency)
        site.browser.open(site.url)
        site.browser.screenshot(directory / f"mma_a_{deficiency}.png")
    site.browser.call("Emulation.setEmulatedVisionDeficiency", type="none")
    site.browser.call("Emulation.setDeviceMetricsOverride", width=420, height=900, deviceScaleFactor=1, mobile=True)
    site.browser.open(site.url)
    site.browser.screenshot(directory / "mma_a_phone.png")
    site.browser.call("Emulation.clearDeviceMetricsOverride")


CHECKS = [check_all_forms, check_elements, check_controls, check_keys, check_link, check_banks, check_sliders, check_names, check_contrast, check_phone]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("--only", help="one check by the name of its function")
    parser.add_argument("--every", type=int, default=1, help="of the forms every N-th alone, as the suite's test does (default: all)")
    parser.add_argument("--seconds", type=float, default=900, help="after which the test fails")
    options = parser.parse_args()
    path = browsers.find()
    if path is None:
        print("skipped: no Chromium here (Debian's package is chromium; CHROMIUM may name one)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as directory:
        page = pathlib.Path(directory) / "page"
        subprocess.run([options.command, "site", "--out", str(page)], check=True, stdout=subprocess.DEVNULL)
        browser = browsers.Browser(path, time.monotonic() + options.seconds)
        try:
            site = Site(options.command, browser, (page / "index.html").as_uri(), options.every)
            browser.open(site.url)
            if options.screenshots:
                options.screenshots.mkdir(parents=True, exist_ok=True)
                take_screenshots(site, options.screenshots)
            fine = True
            for function in CHECKS:
                if options.only in (None, function.__name__):
                    for check in function(site):
                        fine = check.report() and fine
            quiet = Check("the console is silent, and nothing is asked of a network")
            quiet.equal(browser.complaints, [], "the console")
            quiet.equal(browser.requests, [], "the network")
            return 0 if quiet.report() and fine else 1
        finally:
            browser.close()


if __name__ == "__main__":
    sys.exit(main())
