"""The helpers for tests of kernels, and the pytest plugin."""

import numpy as np
import pytest
from conftest import run_plugin

import warpmat
from warpmat.testing import ulps

F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
F16_SUM = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"


def message(call, *arguments, **options):
    with pytest.raises(AssertionError) as error:
        call(*arguments, **options)
    return str(error.value)


def test_equal_bits_pass_and_others_are_named():
    x = np.zeros((16, 8), np.float32)
    warpmat.testing.assert_bits_equal(x, x.copy())
    y = x.copy()
    y[3, 5] = 1
    y[0, 0] = -0.0
    text = message(warpmat.testing.assert_bits_equal, y, x, opcode=F16)
    assert "2 of 128 elements differ" in text
    assert "[0, 0] is -0 (0x80000000), expected 0 (0x00000000), 0 ulp away; lane 0, register 0, bit 0" in text
    assert "[3, 5] is 1 (0x3f800000), expected 0 (0x00000000), 1065353216 ulp away; lane 14, register 1, bit 0" in text


def test_nans_are_compared_with_their_payload():
    x = np.array([0x7FC00000], np.uint32).view(np.float32)
    warpmat.testing.assert_bits_equal(x, x.copy())
    assert "nan (0x7fffffff)" in message(warpmat.testing.assert_bits_equal, np.array([0x7FFFFFFF], np.uint32).view(np.float32), x)


def test_shapes_and_dtypes_must_be_equal_too():
    assert "dtypes differ" in message(warpmat.testing.assert_bits_equal, np.zeros(2, np.float32), np.zeros(2))
    assert "shapes differ" in message(warpmat.testing.assert_bits_equal, np.zeros(2), np.zeros((2, 1)))
    x = warpmat.encode([1, 2], "bf16")
    assert "[1] is 2 (0x4000), expected 3 (0x4040), 64 ulp away" in message(warpmat.testing.assert_bits_equal, x, warpmat.encode([1, 3], "bf16"))


def test_distances_count_the_numbers_between():
    assert ulps(0x3F800000, 0x3F800001, "f32") == 1
    assert ulps(0x00000001, 0x80000001, "f32") == 2  # over zero
    assert ulps(0x7FC00000, 0, "f32") is None and ulps(1, 5, "s32") is None


def in_f32(a, b, row, column):
    """The element as a loop of f32 multiply-adds computes it."""
    return warpmat.explain(F16, "sm_90", a, b, row=row, column=column, against="f32").against


def test_a_wrong_result_is_explained_by_whose_bits_it_has():
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((16, 16)).astype(np.float16), rng.standard_normal((16, 8)).astype(np.float16)
    hopper, ampere = (warpmat.mma(F16, target, a, b) for target in ("sm_90", "sm_80"))
    assert not np.array_equal(hopper, ampere)
    warpmat.testing.assert_matches(hopper, opcode=F16, target="sm_90", a=a, b=b, require="measured")
    text = message(warpmat.testing.assert_matches, ampere, opcode=F16, target="sm_90", a=a, b=b)
    assert "elements differ" in text and "these are the bits of" in text and "sm_80" in text and "sm_90 (H100): " in text and ": measured (" in text
    other = next(line for line in text.splitlines() if line.startswith("these are")).split()[5].rstrip(",")
    row, column = np.argwhere(hopper != ampere)[0]
    assert f"[{row}, {column}]: sm_90 and {other} part after step 1 of 1 and step 2 of 2" in text
    many = np.stack([a, a])
    batch = warpmat.mma(F16, "sm_90", many, b)
    batch[1] = ampere
    text = message(warpmat.testing.assert_matches, batch, opcode=F16, target="sm_90", a=many, b=b)
    assert "these are the bits of" not in text and "part after" not in text  # not sm_80's as a whole, and no loop's
    loop = hopper.copy()
    row, column = next((i, j) for i in range(16) for j in range(8) if in_f32(a, b, i, j).value != hopper[i, j])
    loop[row, column] = in_f32(a, b, row, column).value
    text = message(warpmat.testing.assert_matches, loop, opcode=F16, target="sm_90", a=a, b=b)
    assert f"[{row}, {column}]: sm_90 and f32 on a CPU part after step" in text
    c = np.ones((16, 8), np.float32)
    text = message(warpmat.testing.assert_matches, hopper, opcode=F16, target="sm_90", a=a, b=b, c=c)
    assert "these are the bits without C" in text
    assert "not measured" in message(warpmat.testing.assert_matches, ampere, opcode=F16, target="sm_80", a=a, b=b, require="measured")


PLUGIN_TEST = """
    import numpy as np, pytest, warpmat
    SCALE = warpmat.Module({scale!r})
    F16 = {f16!r}

    @pytest.mark.warpmat(target="sm_90", require="measured")
    def test_good(on_warpmat):
        x = np.ones(64, np.float32)
        on_warpmat.launch(SCALE, "scale", 2, 32, x, 2.0)
        assert (x == 2).all()
        on_warpmat.mma(F16, np.zeros((16, 16), np.float16), np.zeros((16, 8), np.float16))

    @pytest.mark.warpmat(target="sm_80", require="measured")
    def test_weak(on_warpmat):
        on_warpmat.mma(F16, np.zeros((16, 16), np.float16), np.zeros((16, 8), np.float16))

    def test_unmarked(on_warpmat):
        pass
"""


def plugin_file(pytester):
    from test_kernels import SCALE

    pytester.makepyfile(PLUGIN_TEST.format(scale=SCALE.text, f16=F16))


def test_the_marker_chooses_target_and_label(pytester, monkeypatch):
    from warpmat import _pytest_launches

    monkeypatch.setattr(_pytest_launches, "reasons", {})
    monkeypatch.setattr(_pytest_launches._core, "gpu_hardware", no_gpu)
    plugin_file(pytester)
    result = run_plugin(pytester)
    result.assert_outcomes(passed=1, failed=1, errors=1)
    result.stdout.fnmatch_lines(["*the bits of mma.*on sm_80 are replayed; the test requires measured*"])
    result.stdout.fnmatch_lines(["*needs @pytest.mark.warpmat(target=*"])
    result.stdout.fnmatch_lines(["warpmat: 1 launch ran on the CPU alone: no GPU: none here"])


def no_gpu():
    raise warpmat.errors.NoGpu("no GPU: none here")


@pytest.mark.parametrize("fault", [0.0, 1.0])
def test_a_gpu_of_the_targets_hardware_is_compared(pytester, monkeypatch, fault):
    """With another launch in place of the GPU's: equal, and with one number wrong."""
    from warpmat import _pytest_launches

    def launch_on_gpu(kernel, grid, block, x, factor):
        kernel.launch(grid, block, x, factor)
        x[5] += fault
        return ""

    monkeypatch.setattr(_pytest_launches, "reasons", {})
    monkeypatch.setattr(_pytest_launches._core, "gpu_hardware", lambda: "sm_90")
    monkeypatch.setattr(warpmat.kernels.Kernel, "launch_on_gpu", launch_on_gpu)
    plugin_file(pytester)
    result = run_plugin(pytester)
    assert "ran on the CPU alone" not in result.stdout.str()
    if fault:
        result.assert_outcomes(failed=2, errors=1)
        result.stdout.fnmatch_lines(["*the GPU's x: 1 of 64 elements differ*"])
    else:
        result.assert_outcomes(passed=1, failed=1, errors=1)
