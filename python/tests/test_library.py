"""The package against the C++ library and against what an H200 answered: every form, every class of operands."""

import gzip
import json

import numpy as np
import pytest

import warpmat
from conftest import ROOT, draw_cases
from warpmat import _core


def registers(drawn, form):
    """The operands as warpmat.registers.execute takes them: 64-bit registers joined."""
    operands = {o.name: o for o in form.operands}
    out = {}
    for name, words in drawn.operands.items():
        wide = operands[name].kind == "fragment" and operands[name].register_bits == 64
        if operands[name].kind == "address":
            words = words[:, :1] + np.uint32(drawn.offset)
        out[name] = words[:, 0::2].astype(np.uint64) | words[:, 1::2].astype(np.uint64) << np.uint64(32) if wide else words
    return out


def words_of(result):
    """uint32 words of a result, of 64-bit registers low and high halves."""
    if result.dtype != np.uint64:
        return result
    out = np.empty((len(result), 2 * result.shape[1], 32), np.uint32)
    out[:, 0::2], out[:, 1::2] = result.astype(np.uint32), result >> np.uint64(32)
    return out


def run_drawn(drawn, target):
    form = _core.find_form(drawn.opcode)
    memory = drawn.memory if any(o.kind == "address" for o in form.operands) else None
    return words_of(warpmat.registers.execute(drawn.opcode, target, registers(drawn, form), memory=memory))


def differing(drawn_cases, target):
    compared, wrong = 0, []
    for drawn in drawn_cases:
        result = run_drawn(drawn, target)
        compared += result.size
        if not np.array_equal(result, drawn.result):
            wrong.append((drawn.opcode, drawn.drawn))
    return compared, wrong


def test_every_form_and_class_of_sm_90_is_the_librarys(answers_of_sm_90):
    compared, wrong = differing(answers_of_sm_90, "sm_90a")
    assert {drawn.opcode for drawn in answers_of_sm_90} == set(warpmat.instructions.opcodes("sm_90a"))
    assert compared > 1_000_000 and wrong == []


def test_the_targets_of_these_tests_have_every_form_together():
    assert set().union(*(warpmat.instructions.opcodes(target) for target in ("sm_90a", "sm_70", "sm_120a"))) == set(warpmat.instructions.opcodes())


@pytest.mark.parametrize("target", ["sm_70", "sm_120a"])
def test_every_form_and_class_of_other_targets_is_the_librarys(target):
    cases = list(draw_cases(target, 7, 1))
    compared, wrong = differing(cases, target)
    assert {drawn.opcode for drawn in cases} == set(warpmat.instructions.opcodes(target))
    assert compared > 10_000 and wrong == []


def test_no_recorded_answer_of_an_h200_differs(answers_of_sm_90):
    drawn = {(case.opcode, case.drawn): case for case in answers_of_sm_90}
    compared, forms = 0, set()
    for path in sorted((ROOT / "tests/vectors/sm_90").glob("*.jsonl.gz")):
        header, *lines = map(json.loads, gzip.open(path, "rt").read().splitlines())
        assert (header["card"], header["target"], header["seed"]) == ("NVIDIA H200", "sm_90a", 1)
        for line in lines:
            case = drawn.get((line["form"], line["class"]))
            if case is None or not line["examples"] or "variant" in line:  # classes of other versions, digests alone
                continue
            expected = [[int(example[i : i + 8], 16) for i in range(0, len(example), 8)] for example in line["examples"]]
            warps = line.get("example_warps", range(len(expected)))
            found = run_drawn(case, "sm_90a").reshape(case.cases, -1)
            found = found.view(np.uint32) if found.dtype == np.uint8 else found
            for warp, example in zip(warps, expected):
                if warp < case.cases:
                    assert np.array_equal(found[warp], example), (line["form"], line["class"])
                    compared += len(example)
                    forms.add(line["form"])
    assert compared > 600_000 and forms == set(warpmat.instructions.opcodes("sm_90a"))


def test_products_on_matrices_are_those_on_registers(answers_of_sm_90):
    """mma on logical matrices, scattered and gathered, is execute on registers."""
    compared = 0
    for drawn in answers_of_sm_90:
        form = _core.find_form(drawn.opcode)
        if not form.multiplies or drawn.drawn not in ("random", "close", "integers"):
            continue
        regs = registers(drawn, form)
        selector = int(regs["selector"][0, 0, 0]) if "selector" in regs else 0
        matrices = {name: warpmat.registers.gather(drawn.opcode, name, regs[name], selector=selector) for name in ("a", "b", "c", "e") if name in regs}
        extra = {"metadata": matrices["e"], "selector": selector} if "e" in matrices else {}
        d = warpmat.mma(drawn.opcode, "sm_90a", matrices["a"], matrices["b"], matrices["c"], **extra)
        assert np.array_equal(words_of(warpmat.registers.scatter(drawn.opcode, "d", d)), drawn.result), (drawn.opcode, drawn.drawn)
        compared += d.size
    assert compared > 50_000


def test_block_scaled_products_take_scale_factors_where_ids_say():
    compared = 0
    for drawn in draw_cases("sm_120a", 3, 2, only="random"):
        form = _core.find_form(drawn.opcode)
        if form.scale_vector == 0:
            continue
        regs = registers(drawn, form)
        ids = {x: tuple(int(i) for i in regs[f"ids-{x}"][0, :, 0]) for x in "ab"}
        selector = int(regs["selector"][0, 0, 0]) if "selector" in regs else 0
        matrices = {name: warpmat.registers.gather(drawn.opcode, name, regs[name], selector=selector) for name in ("a", "b", "c", "e") if name in regs}
        factors = {x: warpmat.registers.gather(drawn.opcode, f"scale-{x}", regs[f"scale-{x}"], ids=ids[x]) for x in "ab"}
        extra = {"metadata": matrices["e"], "selector": selector} if "e" in matrices else {}
        d = warpmat.mma(drawn.opcode, "sm_120a", matrices["a"], matrices["b"], matrices["c"],
                        scale_a=factors["a"], scale_b=factors["b"], ids_a=ids["a"], ids_b=ids["b"], **extra)
        assert np.array_equal(warpmat.registers.scatter(drawn.opcode, "d", d), drawn.result), drawn.opcode
        compared += d.size
    assert compared > 1_000
