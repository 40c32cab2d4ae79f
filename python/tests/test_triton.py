"""warpmat.triton over a stand-in for Triton: the driver below is the real one."""

import os
import shutil
import subprocess
import sys
import types
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import triton_stand_in as stand_in
from conftest import run_plugin

import warpmat.triton

try:
    warpmat.triton.libraries()
except FileNotFoundError as none:
    pytest.skip(str(none), allow_module_level=True)

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"

# out[i] = x[i] + n for 32 threads a block.
ADD = HEAD + """
.visible .entry add(.param .u64 x, .param .u64 out, .param .u32 n) {
  .reg .b64 %d<6>; .reg .b32 %r<6>; .reg .f32 %f<4>;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r2, %r3, 32, %r2; mul.wide.u32 %d3, %r2, 4;
  add.s64 %d1, %d1, %d3; add.s64 %d2, %d2, %d3;
  .loc 1 7 3
  ld.global.f32 %f1, [%d1];
  cvt.rn.f32.u32 %f2, %r1; add.f32 %f1, %f1, %f2;
  .loc 1 8 3
  st.global.f32 [%d2], %f1;
  ret;
}
.file 1 "/kernels/mine.py"
"""

# out[i] = x[i] * x[i] + 1: one rounding or two.
FUSE = HEAD + """
.visible .entry fuse(.param .u64 x, .param .u64 out) {
  .reg .b64 %d<6>; .reg .b32 %r<6>; .reg .f32 %f<4>;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [out];
  mov.u32 %r2, %tid.x; mul.wide.u32 %d3, %r2, 4; add.s64 %d1, %d1, %d3; add.s64 %d2, %d2, %d3;
  ld.global.f32 %f1, [%d1]; mul.f32 %f2, %f1, %f1; add.f32 %f2, %f2, 0f3F800000; st.global.f32 [%d2], %f2;
  ret;
}
"""


TESTS = os.pathsep.join([os.path.dirname(os.path.realpath(__file__)), *sys.path])

# The module of what a process runs asks for the active driver when it is imported, as tests do that are skipped without a GPU.
CHILD = """
import sys
import numpy as np
from test_triton import add, floats

arch = sys.modules["triton.runtime"].driver.active.get_current_target().arch

def wrong(queue):
    try:
        add()[3, 1, 1](floats(), np.zeros(64, np.float32), 1)
    except Exception as error:
        queue.put((arch, error))
"""
PARENT = """
import multiprocessing
import pytest, triton_stand_in
triton_stand_in.install(pytest.MonkeyPatch())
import warpmat.triton

def is_outside(queue):
    queue.put(warpmat.triton._active is None)

def run(function):
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=function, args=(queue,))
    process.start()
    result = queue.get(timeout=60)
    process.join()
    return result

if __name__ == "__main__":
    with warpmat.triton.use("a100"):
        import child
        arch, error = run(child.wrong)
    print(arch, type(error).__name__, error.reports[0]["kind"], error.fault, run(is_outside))
"""


@pytest.fixture
def triton(monkeypatch):
    yield stand_in.install(monkeypatch)
    warpmat.triton._active = None


def add():
    return stand_in.JITFunction(ADD, "add", ["x", "out", "n"])


def floats(count=64, seed=0):
    return np.random.default_rng(seed).standard_normal(count).astype(np.float32)


def test_the_import_needs_neither_the_compiled_module_nor_numpy():
    script = "import sys, warpmat.triton; sys.exit('warpmat._core' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], timeout=60).returncode == 0


def test_numpy_arrays_views_and_tuples_of_memory_are_arguments(triton):
    warpmat.triton.use("h100")
    x, out = floats(), np.zeros(64, np.float32)
    add()[2, 1, 1](x, out, 3)
    assert (out == x + 3).all()
    add()[1, 1, 1](x[32:], out[:32], 1)  # parts of one allocation
    assert (out[:32] == x[32:] + 1).all()


def test_an_error_names_line_parameter_and_lane_and_the_next_launch_runs(triton):
    warpmat.triton.use("h100")
    kernel, x, out = add(), floats(), np.zeros(64, np.float32)
    with pytest.raises(warpmat.triton.KernelError) as error:
        kernel[3, 1, 1](x, out, 1)
    text = str(error.value)
    assert "/kernels/mine.py:7" in text and "'x' of 256 bytes" in text and "block (2,0,0)" in text
    assert "CUDA error: an illegal memory access" in text
    assert error.value.fault == "cudaErrorIllegalAddress" and error.value.reports[0]["kind"] == "out_of_range"
    kernel[2, 1, 1](x, out, 1)
    assert (out == x + 1).all()


def test_memory_of_one_launch_is_unknown_to_the_next(triton):
    warpmat.triton.use("h100")
    kernel, x, out = add(), floats(), np.zeros(64, np.float32)
    kernel[2, 1, 1](x, out, 1)
    with pytest.raises(warpmat.triton.KernelError, match="'out'"):
        kernel[4, 1, 1](floats(128), out, 1)


def test_a_kernel_that_is_refused_says_why(triton):
    warpmat.triton.use("h100")
    kernel = stand_in.JITFunction(HEAD + ".visible .entry k() { nonsense; ret; }\n", "k", [])
    with pytest.raises(warpmat.triton.KernelError, match="nonsense"):
        kernel[1, 1, 1]()


def test_each_target_compiles_a_kernel_of_its_own_and_with_ends_it(triton):
    warpmat.triton.use("h100")
    kernel, x, out = add(), floats(), np.zeros(64, np.float32)
    kernel[2, 1, 1](x, out, 1)
    with warpmat.triton.use("a100"):
        assert triton.driver.active.get_current_target().arch == 80
        kernel[2, 1, 1](x, out, 2)
    assert triton.driver.active.get_current_target().arch == 90
    assert len(kernel.device_caches) == 2
    with pytest.raises(ValueError, match="no_card"):
        warpmat.triton.use("no_card")
    warpmat.triton.stop()
    assert triton.driver.active is None


def test_to_programs_the_device_of_use_is_number_0_and_a_gpu_keeps_its_own_kernels(triton):
    of_gpu = add()  # from before use(), as those of modules are
    of_gpu.device_caches[0]["key"] = "of the GPU"
    with warpmat.triton.use("h100"):
        for kernel in (of_gpu, add()):
            kernel[1, 1, 1](floats(), np.zeros(64, np.float32), 1)
            assert kernel.device_caches[0] is kernel.device_caches[triton.driver.active.get_current_device()] != {}
            kernel.device_caches[0].clear()
    assert of_gpu.device_caches[0] == {"key": "of the GPU"}


def test_processes_that_start_inside_of_use_are_inside_of_it(tmp_path):
    (tmp_path / "parent.py").write_text(PARENT)
    (tmp_path / "child.py").write_text(CHILD)
    environment = {**os.environ, "PYTHONPATH": TESTS}
    run = subprocess.run([sys.executable, str(tmp_path / "parent.py")], capture_output=True, text=True, timeout=120, env=environment)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["80", "KernelError", "out_of_range", "cudaErrorIllegalAddress", "True"]


def test_a_gpu_of_this_machine_gets_kernels_and_a_ptxas_of_its_own(triton, monkeypatch):
    monkeypatch.setitem(warpmat.triton._ptxas_of_user, "TRITON_PTXAS_PATH", "/usr/bin/of_the_user")
    with warpmat.triton.use("h100"):
        assert triton.driver.active.get_current_device() not in range(64)
        assert os.environ["TRITON_PTXAS_PATH"].startswith(warpmat.triton.libraries())
    assert os.environ["TRITON_PTXAS_PATH"] == "/usr/bin/of_the_user" and "TRITON_PTXAS_BLACKWELL_PATH" not in os.environ


def test_torchs_device_cuda_is_the_cpu_inside_of_use(triton):
    torch = pytest.importorskip("torch")
    functions = torch.cuda.is_available, torch.cuda.get_device_capability
    with warpmat.triton.use("h100", torch_cuda=True):
        x, out = torch.arange(32, dtype=torch.float32, device="cuda"), torch.zeros(32).cuda()
        assert x.device.type == "cpu" and x.is_cuda and torch.cuda.get_device_capability() == (9, 0)
        add()[1, 1, 1](x, out, 3)
        copied = out.cpu()
        add()[1, 1, 1](x, out, 4)
        assert (copied == x + 3).all() and (out == x + 4).all()
    assert functions == (torch.cuda.is_available, torch.cuda.get_device_capability)
    assert not torch.zeros(1).is_cuda


def test_options_hold_inside_of_with_alone(triton):
    warpmat.triton.use("h100")
    kernel, x, out = add(), floats(), np.zeros(64, np.float32)
    with warpmat.triton.options(profile=True) as seen:
        kernel[2, 1, 1](x, out, 1)
    assert {row["line"] for row in seen.profile if "line" in row} == {7, 8}
    assert all(row["executed"] == 2 for row in seen.profile)
    with warpmat.triton.options() as nothing:
        kernel[2, 1, 1](x, out, 1)
    assert nothing.profile == []
    with pytest.raises(TypeError, match="colour"):
        with warpmat.triton.options(colour=1):
            pass
    with pytest.raises(ValueError, match="NAMES|names"):
        with warpmat.triton.options(checks="names"):
            pass
    assert "WARPMAT_CUDA_CHECK" not in os.environ


def test_banks_labels_and_guesses_are_of_each_launch(triton, monkeypatch, tmp_path):
    in_build = os.path.join(warpmat.triton.libraries(), "..", "..", "..", "warpmat")
    if not (shutil.which("warpmat") or os.path.exists(in_build)):
        pytest.skip("there is no command warpmat")
    warpmat.triton.use("h100")
    kernel, x, out = add(), floats(), np.zeros(64, np.float32)
    with warpmat.triton.options(banks=True, labels=True, guess=True) as seen:
        kernel[2, 1, 1](x, out, 1)
        kernel[1, 1, 1](x, out, 1)
    assert len(seen.banks) == len(seen.labels) == len(seen.guesses) == 2
    assert {row["source"] for row in seen.banks[0]["global"]} == {"/kernels/mine.py:7", "/kernels/mine.py:8"}
    (sums,) = [row for row in seen.labels[0] if row["opcode"] == "add.f32"]
    assert sums["executed"] == 2 and sums["label"] == "measured"  # on an H200, which is the target
    assert "out" in seen.guesses[0]
    with warpmat.triton.options(banks=True, save=str(tmp_path / "kept")) as seen:
        kernel[2, 1, 1](x, out, 1)
    assert len(seen.banks) == 1 and (tmp_path / "kept" / "1" / "module.ptx").exists()  # the folder needs no other one
    assert "WARPMAT_CUDA_SAVE" not in os.environ


def test_a_launch_that_never_ends_has_a_limit(triton):
    warpmat.triton.use("h100")
    kernel = stand_in.JITFunction(HEAD + ".visible .entry k() { L: bra L; ret; }\n", "k", [])
    with warpmat.triton.options(seconds=0.2), pytest.raises(warpmat.triton.KernelError, match="limit|longer|seconds"):
        kernel[1, 1, 1]()


def test_warnings_are_python_warnings_and_kept(triton):
    warpmat.triton.use("h100")
    unwritten = HEAD + """
.visible .entry k(.param .u64 out) {
  .shared .b32 here; .reg .b64 %d; .reg .b32 %r;
  ld.param.u64 %d, [out]; ld.shared.u32 %r, [here]; st.global.u32 [%d], %r; ret;
}
"""
    out = np.zeros(1, np.uint32)
    with warpmat.triton.options(checks="uses") as seen, pytest.warns(warpmat.triton.KernelWarning, match="uninitialised"):
        stand_in.JITFunction(unwritten, "k", ["out"])[1, 1, 1](out)
    assert seen.warnings[0]["level"] == "warning"


def test_scratch_memory_of_a_launch_comes_from_the_user_or_from_here(triton):
    warpmat.triton.use("h100")
    text = HEAD + """
.visible .entry k(.param .u64 out, .param .u64 scratch) {
  .reg .b64 %d<4>; .reg .b32 %r;
  ld.param.u64 %d1, [out]; ld.param.u64 %d2, [scratch]; mov.b32 %r, 7; st.global.u32 [%d2+252], %r; ld.global.u32 %r, [%d2+252]; st.global.u32 [%d1], %r;
  and.b64 %d3, %d2, 127; st.global.u64 [%d1+8], %d3; ret;
}
"""
    out = np.full(4, 9, np.uint32)
    kernel = stand_in.JITFunction(text, "k", ["out"], scratch=256)
    kernel[1, 1, 1](out)
    assert out[0] == 7 and out[2] == 0
    asked = []

    def of_user(size, alignment, stream):
        asked.append(size)
        return warpmat.triton.Array(np.zeros(size, np.uint8))

    token = stand_in.allocation._allocator.set(of_user)
    kernel[1, 1, 1](out)
    stand_in.allocation._allocator.reset(token)
    assert asked == [256]


def test_an_autotuner_takes_the_first_configuration_that_works(triton):
    warpmat.triton.use("h100")
    ran = []

    def function(config):
        ran.append(config)
        if config == "bad":
            raise ValueError
        return config

    assert stand_in.Autotuner(["bad", "first", "second"], function).run() == "first"
    assert ran == ["bad", "first", "first"]


def test_torch_compile_takes_first_configurations_if_asked(monkeypatch):
    class CachingAutotuner:
        launchers = ["first", "second"]

        def benchmark_all_configs(self, *arguments, **keywords):
            raise AssertionError("it compares times")

    class TritonTemplateCaller(str):
        pass

    class AlgorithmSelectorCache:
        def __call__(self, name, choices, inputs, layout=None):
            (choice,) = choices  # more are compared
            return choice, inputs, layout

    heuristics, selection = "torch._inductor.runtime.triton_heuristics", "torch._inductor.select_algorithm"
    for name in ("torch", "torch._inductor", "torch._inductor.runtime", heuristics, selection):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    sys.modules[heuristics].CachingAutotuner = CachingAutotuner
    sys.modules[selection].AlgorithmSelectorCache = AlgorithmSelectorCache
    sys.modules[selection].TritonTemplateCaller = TritonTemplateCaller
    warpmat.triton.take_first_configurations()
    times = CachingAutotuner().benchmark_all_configs(1, grid=2)
    assert min(times, key=times.get) == "first" and len(times) == 2
    templates = [TritonTemplateCaller("mm_0"), TritonTemplateCaller("mm_1")]
    assert AlgorithmSelectorCache()("mm", ["of torch", *templates], "inputs", layout=3) == ("mm_0", "inputs", 3)
    assert AlgorithmSelectorCache()("mm", ["of torch", "of another library"], "inputs") == ("of torch", "inputs", None)


def test_many_threads_launch(triton):
    warpmat.triton.use("h100")
    kernel = add()

    def work(number):
        x, out = floats(seed=number), np.zeros(64, np.float32)
        for i in range(20):
            kernel[2, 1, 1](x, out, i)
            assert (out == x + np.float32(i)).all()
        return number

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(work, range(8))) == list(range(8))


def test_do_bench_is_told_that_its_times_are_the_emulators(triton):
    warpmat.triton.use("h100")
    with pytest.warns(warpmat.triton.KernelWarning, match="GPU"):
        device = triton.driver.active.get_device_interface()
    first, second = device.Event(enable_timing=True), device.Event(enable_timing=True)
    first.record()
    second.record()
    assert first.elapsed_time(second) >= 0


def assembled(tmp_path, text, *words):
    ptxas = os.path.join(warpmat.triton.libraries(), "bin", "ptxas")
    source, result = tmp_path / "k.ptx", tmp_path / "k.cubin"
    source.write_text(text)
    subprocess.run([ptxas, *words, "--gpu-name=sm_90a", str(source), "-o", str(result)], check=True)
    return result.read_bytes()


def test_the_stand_in_for_ptxas_passes_on_whether_products_and_sums_are_apart(triton, tmp_path):
    warpmat.triton.use("h100")
    x = floats(32)
    fused = np.float32(x.astype(np.float64) * x + 1)
    apart = x * x + np.float32(1)
    assert (fused != apart).any()
    for words, expected in (((), fused), (("--fmad=false",), apart), (("--fmad", "false"), apart)):
        kernel, out = stand_in.JITFunction("", "fuse", ["x", "out"]), np.zeros(32, np.float32)
        kernel.ptx = assembled(tmp_path, FUSE, "-v", *words).rstrip(b"\0").decode()
        kernel[1, 1, 1](x, out)
        assert (out == expected).all()


def test_the_stand_in_for_ptxas_tells_its_version_and_refuses_what_is_no_file(tmp_path):
    ptxas = os.path.join(warpmat.triton.libraries(), "bin", "ptxas")
    assert "release 13.0" in subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout
    run = subprocess.run([ptxas, str(tmp_path / "none.ptx"), "-o", str(tmp_path / "out")], capture_output=True, text=True)
    assert run.returncode != 0 and not (tmp_path / "out").exists()


MARKED = '''
import sys

import numpy as np, pytest, triton_stand_in
import warpmat.triton
from test_triton import ADD

@pytest.mark.warpmat(target="{target}", checks="all")
def test_marked():
    runtime = sys.modules["triton.runtime"]
    assert runtime.driver.active.get_current_target().arch == {arch}
    x, out = np.ones(32, np.float32), np.zeros(32, np.float32)
    triton_stand_in.JITFunction(ADD, "add", ["x", "out", "n"])[1, 1, 1](x, out, 1)
    assert (out == 2).all()

def test_unmarked():
    assert warpmat.triton._active is None
'''


def test_marked_tests_run_on_their_target(triton, pytester):
    pytester.makepyfile(MARKED.format(target="a100", arch=80))
    run = run_plugin(pytester)
    run.assert_outcomes(passed=2)
    run.stdout.fnmatch_lines("*1 launch ran on the CPU alone: *")  # there is no GPU, or no torch
