"""Memory, threads, children and interpreters."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import warpmat
from warpmat import _core

F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


def operands():
    rng = np.random.default_rng(3)
    return rng.standard_normal((16, 16)).astype(np.float16), rng.standard_normal((16, 8)).astype(np.float16), np.ones((16, 8), np.float32)


def resident_bytes():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc/self/statm, which says how much memory is held")
def test_ten_thousand_calls_hold_no_more_memory():
    a, b, c = operands()
    batch = np.broadcast_to(a, (4, 16, 16)).copy()
    registers = {name: warpmat.registers.scatter(F16, name, m) for name, m in (("a", a), ("b", b), ("c", c))}

    def calls(count):
        for _ in range(count):
            warpmat.mma(F16, "sm_90", a, b, c)
            warpmat.mma(F16, "sm_90", batch, b)
            warpmat.registers.execute(F16, "sm_90", registers)
            with pytest.raises(ValueError):
                warpmat.mma(F16, "sm_90", a[:2], b)

    calls(500)
    before = resident_bytes()
    calls(2500)  # four calls each
    assert resident_bytes() - before < 1 << 20


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc/self/statm, which says how much memory is held")
def test_repeated_launches_programs_and_explanations_hold_no_more_memory():
    from test_kernels import ENDLESS, MMA, SCALE

    a, b, _ = operands()
    x = np.zeros(64, np.float32)
    endless = warpmat.Module(ENDLESS)

    def calls(count):
        for _ in range(count):
            SCALE.launch("scale", 2, 32, x, 2.0, jobs=1)
            warpmat.Module(SCALE.text).kernel()
            warpmat.run(MMA, "sm_90", {"mma.0.a": a}).operand("mma.0.d")
            warpmat.explain(F16, "sm_90", a, b, row=0, column=0, against="sm_80")
            with pytest.raises(warpmat.errors.KernelTrap):
                endless.launch("endless", 1, 32, limits=warpmat.Limits(10), jobs=1)

    calls(20)
    before = resident_bytes()
    calls(60)
    assert resident_bytes() - before < 1 << 20


def test_threads_compute_side_by_side():
    a, b, c = operands()
    expected = warpmat.mma(F16, "sm_90", a, b, c)
    results = [None] * 8

    def work(number):
        for _ in range(200):
            results[number] = warpmat.mma(F16, "sm_90", a, b, c)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        warpmat.testing.assert_bits_equal(result, expected)


def test_other_threads_run_during_a_long_call():
    big = np.zeros((192, 192), np.float16)
    seen = []
    stop = threading.Event()

    def count():
        while not stop.is_set():
            seen.append(None)
            stop.wait(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = len(seen)
    warpmat.matmul(big, big, instruction=F16, card="sm_90", path="reference", jobs=1)
    during = len(seen) - before
    stop.set()
    thread.join()
    assert during > 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_computes_after_its_parent_has_used_threads():
    a, b, c = operands()
    many = np.broadcast_to(a, (1000, 16, 16))
    expected = warpmat.mma(F16, "sm_90", many, b, c, jobs=2)
    child = os.fork()
    if child == 0:
        same = np.array_equal(warpmat.mma(F16, "sm_90", many, b, c, jobs=2), expected)
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_that_is_forked_while_threads_compute_launches_a_kernel():
    from test_kernels import SCALE

    big = np.zeros((96, 96), np.float16)
    stop = threading.Event()

    def work():
        while not stop.is_set():
            warpmat.matmul(big, big, instruction=F16, card="sm_90", jobs=2)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    x = np.ones(64, np.float32)
    statuses = []
    for _ in range(5):
        child = os.fork()
        if child == 0:
            SCALE.launch("scale", 2, 32, x, 2.0, jobs=2)
            os._exit(0 if (x == 2).all() else 1)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    stop.set()
    for thread in threads:
        thread.join()
    assert statuses == [0] * 5


def interrupted(call):
    """Calls, and sends this process a Ctrl-C after 80 ms."""
    sender = threading.Timer(0.08, os.kill, (os.getpid(), signal.SIGINT))
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        call()
    sender.join()


def test_ctrl_c_ends_cases_before_the_last():
    a, b, c = operands()
    cases = 100_000  # seconds of the reference
    many = np.broadcast_to(a, (cases, 16, 16))
    instruction = _core.Instruction(F16, "sm_90")
    for jobs in (1, 2):
        d = np.full((cases, 16, 8), -1, np.float32)
        interrupted(lambda: instruction.mma({"a": many, "b": b, "c": c}, d, 0, (0, 0), (0, 0), "trap", "reference", jobs))
        assert d[0, 0, 0] != -1 and (d[-1] == -1).all()
    registers = {name: np.broadcast_to(warpmat.registers.scatter(F16, name, m), (cases, n, 32)) for name, m, n in (("a", a, 4), ("b", b, 2), ("c", c, 4))}
    out = np.full((cases, 4, 32), 0xFFFFFFFF, np.uint32)
    interrupted(lambda: instruction.execute(cases, {**registers, "d": out}, None, "trap", "reference", 2))
    assert (out[0] != 0xFFFFFFFF).any() and (out[-1] == 0xFFFFFFFF).all()


def test_ctrl_c_ends_a_product_within_a_row_of_tiles():
    x = np.zeros((16, 4096), np.float16)
    y = np.broadcast_to(np.zeros((4096, 1), np.float16), (4096, 4096))
    d = np.full((16, 4096), -1, np.float32)
    steps = list(range(256))
    interrupted(lambda: _core.Product(F16, "sm_90").matmul(x, y, None, None, None, None, d, steps, 0, "trap", "reference", 2))
    assert (d == -1).all()  # the only row had not ended


def test_ctrl_c_ends_a_program_before_its_last_statement():
    text = F16 + " {d0, d1, d2, d3}, {a0, a0, a0, a0}, {a0, a0}, {d0, d1, d2, d3};\n"
    count = 25_000
    run = _core.ProgramRun(text * count, "sm_90", 0)
    run.set_register_words("a0", np.full((1, 32), 0x14001400, np.uint32))  # 2^-10: 2^-16 a statement
    interrupted(lambda: run.run("trap", "reference"))
    sum_ = run.register_words("d0").view(np.float32)[0, 0]
    assert 0 < sum_ * 2**16 < count


def test_a_subinterpreter_is_refused_with_a_sentence():
    script = """
import sys
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    try:
        import _interpreters as interpreters
    except ImportError:
        sys.exit(77)
import warpmat
warpmat.mma
number = interpreters.create()
code = "import sys; sys.path[:] = " + repr(sys.path) + '''
try:
    import warpmat
    warpmat.mma
except ImportError as e:
    print("refused:", e, flush=True)
else:
    print("imported", flush=True)
'''
interpreters.run_string(number, code)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    if run.returncode == 77:
        pytest.skip("this Python has no module for subinterpreters")
    assert "refused:" in run.stdout, run.stdout + run.stderr


def test_a_package_for_another_python_says_so(tmp_path):
    package = tmp_path / "warpmat"
    package.mkdir()
    for name in ("__init__.py", "_environment.py"):
        shutil.copy(Path(warpmat.__file__).parent / name, package)
    run = [sys.executable, "-c", "import warpmat; warpmat.__version__"]
    of_another = "_core.cpython-36m-x86_64-linux-gnu.so"
    for module, told in ((of_another, f"compiled for another Python: it has {of_another},"), ("other.txt", "cannot import name '_core'")):
        (package / module).touch()
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        refused = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
        assert refused.returncode == 1 and told in refused.stderr.splitlines()[-1]
        (package / module).unlink()
