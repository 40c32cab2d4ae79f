"""Programs and whole kernels: arguments, results, reports, Triton's files."""

import json
import os
import pickle
import shutil
import signal
import threading
import time
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

import warpmat
from warpmat import Checks, Gemm, Limits

SCALE = warpmat.Module(
    """
.version 9.0
.target sm_90
.address_size 64
.entry scale(.param .u64 x, .param .f32 factor) {
  .reg .b32 %r<4>; .reg .b64 %d<3>; .reg .f32 %f<3>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r1, 32, %r2;
  ld.param.u64 %d1, [x];
  mul.wide.s32 %d2, %r3, 4;
  add.s64 %d1, %d1, %d2;
  ld.param.f32 %f1, [factor];
  ld.global.f32 %f2, [%d1];
  mul.f32 %f2, %f2, %f1;
  st.global.f32 [%d1], %f2;
  ret;
}
"""
)
ENDLESS = """
.version 9.0
.target sm_90
.address_size 64
.entry endless() {
  .reg .b32 %r<2>;
  mov.u32 %r1, 0;
again:
  add.u32 %r1, %r1, 1;
  bra again;
}
"""
MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3};"


def test_a_kernel_changes_the_arrays_that_it_is_given():
    x = np.arange(64, dtype=np.float32)
    result = SCALE.launch("scale", 2, 32, x, 2.0)
    assert np.array_equal(x, 2 * np.arange(64)) and result.operations == 26 and result.printed == "" and result.label == "specified"
    assert [p.name for p in SCALE.kernel().parameters] == ["x", "factor"] and SCALE.entries == ["scale"]
    assert SCALE.kernel().hardware == "sm_90" and SCALE.kernel(target="sm_90a").target == "sm_90a"


def test_what_a_kernel_would_do_to_an_array_in_vain_is_an_error():
    x = np.arange(64, dtype=np.float32)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="x, which is read-only"):
        SCALE.launch("scale", 2, 32, x, 2.0)
    SCALE.launch("scale", 2, 32, x, 1.0)  # stores what is there
    assert np.array_equal(x, np.arange(64))
    for big in (">f4", np.dtype([("value", ">f4")])):
        with pytest.raises(ValueError, match="big-endian"):
            SCALE.launch("scale", 2, 32, np.zeros(64, big), 2.0)
    with pytest.raises(ValueError, match="big-endian"):
        SCALE.launch("scale", 2, 32, np.zeros(64, np.float32), np.zeros(1, np.dtype([("value", ">f4")]))[0])


def test_an_array_is_not_resized_while_a_kernel_has_it():
    x = np.zeros(64, np.float32)
    spinning = warpmat.Module(ENDLESS.replace("endless()", "endless(.param .u64 x)"))
    refused = []

    def resize():
        time.sleep(0.3)
        try:
            x.resize(1 << 20, refcheck=False)
        except ValueError as error:
            refused.append(error)

    thread = threading.Thread(target=resize)
    thread.start()
    with pytest.raises(warpmat.errors.KernelTrap) as trap:
        spinning.launch("endless", 1, 1, x, limits=Limits(seconds=1))
    thread.join()
    assert len(refused) == 1 and trap.value.kind == "limit"


def test_a_launch_ends_after_its_seconds():
    start = time.monotonic()
    with pytest.raises(warpmat.errors.KernelTrap) as trap:
        warpmat.Module(ENDLESS).launch("endless", 1, 32, limits=Limits(seconds=0.2))
    assert trap.value.kind == "limit" and time.monotonic() - start < 20


def test_options_that_do_not_fit_are_named():
    endless = warpmat.Module(ENDLESS)
    for wrong in ({"limits": Limits(10, seconds=-1)}, {"limits": Limits(10, seconds=float("nan"))}, {"jobs": -1}, {"checks": "rases"}):
        with pytest.raises(ValueError):
            endless.launch("endless", 1, 32, **{"limits": Limits(10), **wrong})
    for name, wrong in (
        ("jobs", {"jobs": 1.5}),
        ("jobs", {"jobs": 1 << 40}),
        ("schedule", {"schedule": -1}),
        ("memory", {"limits": Limits(memory=-1)}),
        ("operations", {"limits": Limits(operations="x")}),
        ("gemm", {"gemm": Gemm(1)}),
        ("why", {"gemm": Gemm("", why=None)}),
        ("races", {"checks": Checks(races="yes")}),
    ):
        with pytest.raises(TypeError, match=name):
            endless.launch("endless", 1, 32, **wrong)


def test_what_has_no_memory_of_its_own_is_no_array():
    spinning = warpmat.Module(ENDLESS.replace("endless()", "endless(.param .u64 x)"))
    for value in (range(4), [1], "abcd", {1: 2}, object()):
        with pytest.raises(TypeError, match=f"x is a {type(value).__name__}"):
            spinning.launch("endless", 1, 1, value)


def test_a_launch_takes_no_more_memory_than_it_may():
    x = np.zeros(1000, np.uint8)
    with pytest.raises(MemoryError, match="1000 bytes"):
        warpmat.Module(ENDLESS.replace("endless()", "endless(.param .u64 x)")).launch("endless", 1, 1, x, limits=Limits(memory=999))


def test_a_launch_that_is_asked_tells_where_its_time_goes():
    x = np.arange(64, dtype=np.float32)
    profile = SCALE.launch("scale", 2, 32, x, 2.0, profile=True).profile
    statements = {s["opcode"]: s for s in profile["kernels"][0]["statements"]}
    assert profile["executed"] == 22 and profile["kernels"][0]["kernel"] == "scale" and profile["kernels"][0]["launches"] == 1
    assert statements["mul.f32"]["executed"] == 2 and statements["mul.f32"]["lanes"] == 64 and statements["mul.f32"]["line"] == 15
    assert profile["seconds"] > 0 and np.array_equal(x, 2 * np.arange(64))
    assert SCALE.launch("scale", 2, 32, x, 2.0).profile is None
    with pytest.raises(warpmat.errors.KernelTrap):
        SCALE.launch("scale", 3, 32, x, 2.0, profile=True)


FUSED = warpmat.Module(
    """
.version 8.0
.target sm_90
.address_size 64
.entry fused(.param .u64 x) {
  .reg .b64 %d<2>; .reg .f32 %f<5>;
  ld.param.u64 %d1, [x];
  ld.global.f32 %f1, [%d1];
  mul.f32 %f2, %f1, %f1;
  add.f32 %f3, %f2, 0fBF800000;
  rsqrt.approx.ftz.f32 %f4, 0f43000000;
  st.global.f32 [%d1], %f3;
  st.global.f32 [%d1+4], %f4;
  ret;
}
"""
)


def test_the_toolkits_assembler_says_which_sums_are_fused():
    x = np.array([1 + 2**-23, 0], np.float32)
    one_rounding = np.float32(2**-22 + 2**-46)  # of the square minus 1
    expected = np.array([one_rounding.view(np.uint32), 0x3DB504F3], np.uint32)  # and the immediate for rsqrt(128)
    by_rule = x.copy()
    FUSED.launch("fused", 1, 1, by_rule)
    assert np.array_equal(by_rule.view(np.uint32), expected) and FUSED.kernel().assembler == ""
    if shutil.which("ptxas") or os.path.exists("/usr/local/cuda/bin/ptxas") or os.environ.get("CUDA_HOME"):
        by_code = x.copy()
        FUSED.launch("fused", 1, 1, by_code, assembler="ptxas")
        assert np.array_equal(by_code.view(np.uint32), expected)
        assert FUSED.kernel(assembler="ptxas").assembler.startswith("ptxas ")
        assert FUSED.kernel(assembler="ptxas").evidence.endswith("; nothing weaker")
    with pytest.raises(ValueError, match="there are 'rule' and 'ptxas'"):
        FUSED.kernel(assembler="nvcc")


def test_without_the_assembler_a_warning_says_that_the_rule_decides(tmp_path, monkeypatch):
    for name in ("CUDA_HOME", "CUDA_PATH", "PATH"):
        monkeypatch.setenv(name, str(tmp_path))
    if os.path.exists("/usr/local/cuda/bin/ptxas"):
        pytest.skip("ptxas is installed where it is looked for last")
    with pytest.warns(UserWarning, match="no ptxas"):
        kernel = warpmat.Module(FUSED.text).kernel(assembler="ptxas")
    assert kernel.assembler == ""


def test_a_shuffle_that_reads_absent_lanes_weakens_the_label_and_is_reported_where_that_is_asked():
    text = """
.version 9.0
.target sm_80
.address_size 64
.entry next_one(.param .u64 x, .param .u32 count) {
  .reg .b32 %r<5>; .reg .b64 %d<4>; .reg .pred %p<2>;
  ld.param.u64 %d1, [x];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 bra $end;
  add.u32 %r3, %r2, 100;
  shfl.sync.down.b32 %r3, %r3, 1, 31, -1;
  mul.wide.u32 %d2, %r2, 4;
  add.s64 %d1, %d1, %d2;
  st.global.u32 [%d1], %r3;
$end:
  ret;
}
"""
    module = warpmat.Module(text)
    x = np.full(32, 7, np.uint32)
    result = module.launch("next_one", 1, 32, x, 3)
    assert list(x[:4]) == [101, 102, 0, 7]
    assert result.label == "assumed" and "lanes that take no part, line 13 (shfl.sync.down.b32)" in result.evidence
    assert module.kernel("next_one").label == "specified" == module.launch("next_one", 1, 32, x, 32).label
    assert module.launch("next_one", 1, 32, x, 3, target="sm_90").label == "specified"
    with pytest.raises(warpmat.errors.KernelTrap, match="reads lane 3, which has exited") as trap:
        module.launch("next_one", 1, 32, x, 3, checks=Checks(lanes=True))
    assert trap.value.lane == 2 and trap.value.kind == "undefined"


def test_checks_are_those_of_the_library_and_do_not_change():
    checks = Checks(races=True)
    assert (checks.races, checks.copies, checks.lanes, checks.global_) == (True, True, False, False)
    assert checks == Checks(races=True) != Checks() and hash(Checks()) == hash(Checks(races=False))
    assert Checks.of("all").by_name() == dict.fromkeys(checks.by_name(), True) and "global" in checks.by_name()
    assert repr(Checks()).startswith("Checks(uninitialised=True, copies=True, races=False, ")
    assert "races: two warps access a byte" in Checks.__doc__
    assert replace(checks, races=False) == Checks() == pickle.loads(pickle.dumps(Checks()))
    with pytest.raises(TypeError, match="race"):
        Checks(race=True)
    with pytest.raises(FrozenInstanceError):
        checks.races = False


def test_storing_an_uninitialised_value_ends_a_launch_or_is_a_warning():
    text = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry store(.param .u64 to) {
  .shared .align 4 .b8 tile[4];
  .reg .u64 %address; .reg .u32 %value;
  ld.param.u64 %address, [to];
  ld.shared.u32 %value, [tile];
  st.global.u32 [%address], %value;
  ret;
}
"""
    module = warpmat.Module(text)
    x = np.full(1, 7, np.uint32)
    with pytest.raises(warpmat.errors.KernelTrap, match="what is stored in global memory comes from uninitialised shared memory") as trap:
        module.launch("store", 1, 1, x)
    assert trap.value.headline in str(trap.value)
    assert [(note.line, note.statement) for note in trap.value.notes if note.line] == [(9, "ld.shared.u32")]
    warnings = module.launch("store", 1, 1, x, checks=Checks(stores=False)).warnings
    assert len(warnings) == 1 and "what is stored in global memory comes from uninitialised shared memory" in warnings[0]


def test_what_a_kernel_does_wrong_is_an_exception_with_fields():
    x = np.full(64, 1.5, np.float32)
    with pytest.raises(warpmat.errors.KernelTrap, match="0 bytes beyond the end of buffer 'x' of 256 bytes") as trap:
        SCALE.launch("scale", (3, 1), [32], x, 2.0)
    error = trap.value
    assert (error.kind, error.kernel, error.block, error.warp, error.lane) == ("out_of_range", "scale", (2, 0, 0), 0, 0)
    assert error.statement == "ld.global.f32" and error.line == 14 and error.address % 256 == 0
    assert np.all(x == 3)  # what it had written until then


@pytest.mark.parametrize(
    "arguments, error, text",
    [
        ((1,), ValueError, r"has 2 parameters: x \(u64\), factor \(f32\); 1 given"),
        ((np.zeros(4, np.float32)[::2], 1.0), ValueError, "is not contiguous"),
        ((np.zeros(4, np.float32), np.zeros(4)), ValueError, "factor is f32 of 4 bytes; an array's address has 8"),
        ((1.5, 1.0), ValueError, "x is u64; 1.5 is no whole number"),
        ((-(1 << 64), 1.0), ValueError, "does not hold"),
        ((0, np.float64(1)), ValueError, "factor is f32 of 4 bytes; float64 has 8"),
        ((0, b"123"), ValueError, "factor has 4 bytes; 3 given"),
    ],
)
def test_arguments_that_do_not_fit(arguments, error, text):
    with pytest.raises(error, match=text):
        SCALE.launch("scale", 1, 32, *arguments)


MANGLED = """.version 9.0
.target sm_90
.address_size 64
.visible .entry _Z4fillPfi(.param .u64 _Z4fillPfi_param_0, .param .u32 _Z4fillPfi_param_1)
{
  .reg .b64 %d<2>; .reg .b32 %r<2>;
  ld.param.u64 %d0, [_Z4fillPfi_param_0]; ld.param.u32 %r0, [_Z4fillPfi_param_1];
  st.global.u32 [%d0], %r0;
  ret;
}
.visible .entry _Z5otherPf(.param .align 64 .b8 _Z5otherPf_param_0[128]) { ret; }
"""


def test_names_as_in_cuda():
    module = warpmat.Module(MANGLED)
    x = np.zeros(1, np.int32)
    module.launch("fill", 1, 1, x, 7)
    assert x[0] == 7 and module.kernel("fill(float*, int)").name == "fill"
    assert [p.name for p in module.kernel("fill").parameters] == ["fill_param_0", "fill_param_1"]
    with pytest.raises(ValueError, match=r"kernels fill\(float\*, int\), other\(float\*\): name one"):
        module.kernel()
    with pytest.raises(ValueError, match=r"other_param_0 is a struct of 128 bytes, as CUtensorMap is: pass warpmat.kernels.TensorMap"):
        module.launch("other", 1, 1, x)


def test_a_modules_file(tmp_path):
    path = tmp_path / "fill.ptx"
    path.write_text(MANGLED)
    assert warpmat.Module.from_file(path).entries == warpmat.Module.from_file(str(path)).entries == ["_Z4fillPfi", "_Z5otherPf"]
    for name in ("gemm.ptx", path, "kernel.cu"):
        with pytest.raises(ValueError, match="is a file's name, and Module takes the text of PTX: warpmat.Module.from_file"):
            warpmat.Module(name)
    (tmp_path / "a.o").write_bytes(b"\x7fELF" + bytes(100))
    with pytest.raises(RuntimeError, match="is an executable without CUDA code"):
        warpmat.Module.from_file(tmp_path / "a.o")
    with pytest.raises(RuntimeError, match="cannot read .*none.ptx: there is no such file"):
        warpmat.Module.from_file(tmp_path / "none.ptx")


def test_sizes_targets_and_names_that_are_wrong():
    x = np.zeros(32, np.float32)
    for grid, text in ((0, "no size"), ((1, 1, 1, 1), "no size"), ((1 << 32), "no size")):
        with pytest.raises(ValueError, match=text):
            SCALE.launch("scale", grid, 32, x, 1.0)
    with pytest.raises(ValueError):
        SCALE.launch("stale", 1, 32, x, 1.0)
    with pytest.raises(ValueError):
        SCALE.kernel(target="sm_1")
    with pytest.raises(ValueError, match="overlap"):
        _Two.launch(None, 1, 1, x[:20], x[10:])


_Two = warpmat.Module(".version 9.0\n.target sm_90\n.address_size 64\n.entry two(.param .u64 a, .param .u64 b) { ret; }")


def test_the_same_array_twice_is_one_buffer_and_none_is_null():
    x = np.zeros(32, np.float32)
    _Two.launch("two", 1, 32, x, x)
    _Two.launch("two", 1, 32, x, None)


def test_text_that_is_no_ptx_names_every_place():
    with pytest.raises(warpmat.errors.PtxError) as error:
        warpmat.Module(".version 9.0\n.target sm_90\n.entry f() { add.s32 %r1 }\n")
    assert error.value.errors[0].line == 3 and "^" in error.value.errors[0].excerpt
    with pytest.raises(warpmat.errors.PtxError) as error:
        warpmat.run("foo;\nbar;", "sm_90")
    assert [e.line for e in error.value.errors] == [1, 2]


def test_printed_text_comes_back():
    module = warpmat.Module(
        """
.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[9] = {98, 108, 111, 99, 107, 32, 37, 100, 0};
.entry say() {
  .local .align 8 .b8 buffer[8];
  .reg .b32 %r<3>; .reg .b64 %d<4>;
  mov.u32 %r1, %ctaid.x;
  mov.u64 %d1, buffer;
  cvta.local.u64 %d2, %d1;
  st.local.u32 [%d1], %r1;
  mov.u64 %d3, text;
  cvta.global.u64 %d3, %d3;
  { .param .b64 p0; .param .b64 p1; .param .b32 q;
    st.param.b64 [p0], %d3; st.param.b64 [p1], %d2;
    call.uni (q), vprintf, (p0, p1); }
  ret;
}
"""
    )
    assert module.launch("say", 3, 1).printed == "block 0block 1block 2"


def test_triton_files_launch_as_triton_would(tmp_path):
    text = SCALE.text.replace(".param .f32 factor)", ".param .f32 factor, .param .u64 scratch, .param .u64 profile)")
    (tmp_path / "scale.ptx").write_text(text)
    (tmp_path / "scale.json").write_text(json.dumps({"name": "scale", "num_warps": 1, "shared": 0, "num_ctas": 1}))
    x = np.ones(64, np.float32)
    kernel = warpmat.kernels.TritonKernel(tmp_path / "scale.ptx", target="sm_90a")
    kernel.launch(2, x, 3.0)
    assert np.all(x == 3) and kernel.block == 32
    (tmp_path / "scale.json").write_text("{}")
    with pytest.raises(ValueError, match="not of Triton"):
        warpmat.kernels.TritonKernel(tmp_path / "scale.ptx")


def test_ctrl_c_ends_a_launch_and_a_product():
    def interrupted(call):
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        before = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            call()
        assert time.monotonic() - before < 60

    interrupted(lambda: warpmat.Module(ENDLESS).launch("endless", 4, 64))
    big = np.zeros((8192, 8192), np.float16)
    interrupted(lambda: warpmat.matmul(big, big, instruction=MMA.split()[0], card="sm_90", path="reference"))


def test_a_limit_ends_a_launch():
    with pytest.raises(warpmat.errors.KernelTrap) as trap:
        warpmat.Module(ENDLESS).launch("endless", 1, 32, limits=Limits(operations=1000))
    assert trap.value.kind == "limit"


def test_programs_run_on_one_warp():
    rng = np.random.default_rng(1)
    a, b, c = rng.standard_normal((16, 16)).astype(np.float16), rng.standard_normal((16, 8)).astype(np.float16), np.ones((16, 8), np.float32)
    result = warpmat.run(MMA, "sm_90a", {"mma.0.a": a, "mma.0.b": b, "mma.0.c": c})
    warpmat.testing.assert_bits_equal(result.operand("mma.0.d"), warpmat.mma(MMA.split()[0], "sm_90a", a, b, c))
    assert np.array_equal(result.register("d0"), warpmat.registers.scatter(MMA.split()[0], "d", result.operand("mma.0.d"))[0])
    assert result.target == "sm_90a" and "measured" in result.evidence and "mma.0" in result._repr_html_()


def test_programs_take_registers_and_variables():
    text = """
.shared .align 16 .b8 tile[128];
mov.u32 p, tile;
shl.b32 o, lane, 4;
add.u32 p, p, o;
ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r}, [p];
"""
    rows = np.arange(64, dtype=np.uint16).reshape(8, 8)
    result = warpmat.run(text, "sm_90", {"tile": rows, "lane": np.arange(32, dtype=np.uint32) % 8})
    assert np.array_equal(result.operand("ldmatrix.0.r"), rows)
    assert np.array_equal(result.operand("ldmatrix.0.r", format="f16"), rows.view(np.float16))
    assert np.array_equal(result.variable("tile"), rows.view(np.uint8).ravel()) and "tile" in result.variables
    with pytest.raises(warpmat.errors.Trap, match="line 6"):
        warpmat.run(text, "sm_90", {"lane": 100})
    with pytest.raises(ValueError, match="no register"):
        result.register("q")


def test_no_gpu_is_an_exception_of_its_own():
    try:
        warpmat._core.gpu_hardware()
    except warpmat.errors.NoGpu:
        with pytest.raises(warpmat.errors.NoGpu, match="no GPU"):
            SCALE.kernel().launch_on_gpu(1, 32, np.zeros(32, np.float32), 1.0)
    else:
        x = np.ones(32, np.float32)
        SCALE.kernel().launch_on_gpu(1, 32, x, 2.0)
        assert np.all(x == 2)


def product_kernel(a1):
    """C = A B^T of 16 x 8 x 16 by one block a copy of the matrices; a1: the byte of A's row 8 in a lane's second register."""
    return """
.version 9.0
.target sm_80
.address_size 64
.entry product(.param .u64 A, .param .u64 B, .param .u64 C) {
  .reg .b32 %%r<9>, %%a<4>, %%b<2>; .reg .b64 %%d<5>; .reg .f32 %%c<4>;
  ld.param.u64 %%d1, [A]; ld.param.u64 %%d2, [B]; ld.param.u64 %%d3, [C];
  mov.u32 %%r1, %%tid.x; shr.u32 %%r2, %%r1, 2; and.b32 %%r3, %%r1, 3;
  shl.b32 %%r4, %%r2, 5; shl.b32 %%r5, %%r3, 2; add.u32 %%r4, %%r4, %%r5; cvt.u64.u32 %%d4, %%r4;
  add.s64 %%d1, %%d1, %%d4; add.s64 %%d2, %%d2, %%d4;
  shl.b32 %%r4, %%r2, 5; shl.b32 %%r5, %%r3, 3; add.u32 %%r4, %%r4, %%r5; cvt.u64.u32 %%d4, %%r4; add.s64 %%d3, %%d3, %%d4;
  ld.global.b32 %%a0, [%%d1]; ld.global.b32 %%a1, [%%d1+%d]; ld.global.b32 %%a2, [%%d1+16]; ld.global.b32 %%a3, [%%d1+272];
  ld.global.b32 %%b0, [%%d2]; ld.global.b32 %%b1, [%%d2+16];
  mov.f32 %%c0, 0f00000000; mov.f32 %%c1, %%c0; mov.f32 %%c2, %%c0; mov.f32 %%c3, %%c0;
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%%c0, %%c1, %%c2, %%c3}, {%%a0, %%a1, %%a2, %%a3}, {%%b0, %%b1}, {%%c0, %%c1, %%c2, %%c3};
  mov.u32 %%r6, %%ctaid.x; setp.ne.u32 %%p, %%r6, 0; @%%p ret;
  st.global.v2.f32 [%%d3], {%%c0, %%c1}; st.global.v2.f32 [%%d3+256], {%%c2, %%c3};
  ret;
}
""".replace(".reg .b64", ".reg .pred %%p; .reg .b64", 1) % a1


def test_a_product_is_held_against_the_one_that_is_told():
    a, b = np.arange(256, dtype=np.float16).reshape(16, 16), np.eye(8, 16, dtype=np.float16)
    c = np.zeros((16, 8), np.float32)
    right, wrong = warpmat.Module(product_kernel(256)), warpmat.Module(product_kernel(32))
    told = dict(target="sm_90")
    product = "C=A*B^T:16x8x16"
    result = right.launch("product", 1, 32, a, b, c, gemm=Gemm(product, why="C[8,1]"), **told)
    assert np.array_equal(c, a[:, :8]) and result.why[0].startswith("C[8,1] is stored by block (0, 0, 0), warp 0, lane 0")
    assert "A[8,8] to A[8,15]: line 12" in result.why[0] and right.launch("product", 1, 32, a, b, c, gemm=product, **told).why == []
    with pytest.raises(warpmat.errors.KernelTrap, match=r"it adds row . to row .") as trap:
        wrong.launch("product", 2, 32, a, b, c, gemm=product, **told)
    assert trap.value.kind == "mispaired" and trap.value.statement.startswith("mma.sync") and trap.value.block == (0, 0, 0)
    with pytest.raises(warpmat.errors.KernelTrap) as trap:
        wrong.launch("product", 2, 32, a, b, c, gemm=Gemm(product, blocks=[1]), **told)
    assert trap.value.block == (1, 0, 0)
    with pytest.raises(ValueError, match=r"there is no block \(2, 0, 0\) in a grid of 2x1x1"):
        wrong.launch("product", 2, 32, a, b, c, gemm=Gemm(product, blocks=[(2, 0)]), **told)
    with pytest.raises(ValueError, match="is no matrix product"):
        right.launch("product", 1, 32, a, b, c, gemm="C=A")
    with pytest.raises(warpmat.errors.KernelTrap, match=r"multiplies x\[0,0\]|x\[8,|row"):
        wrong.launch("product", 1, 32, a, b, c, gemm=Gemm("y=x*w^T:16x8x16", ["x", "w", "y"]), target="sm_90")
    with pytest.raises(ValueError, match="no buffer 'Z'"):
        right.launch("product", 1, 32, a, b, c, gemm=Gemm("Z=x*w^T:16x8x16", ["x", "w", "y"]))
    with pytest.raises(ValueError, match="names are a list, of up to 3 parameters"):
        right.launch("product", 1, 32, a, b, c, gemm=Gemm("", ["x", "w", "y", "z"]))
