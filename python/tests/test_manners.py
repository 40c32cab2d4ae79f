"""Memory, threads, children and interpreters."""

import os
import resource
import subprocess
import sys
import threading

import numpy as np
import pytest

import warpmat

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
    registers = {name: warpmat.scatter(F16, name, m) for name, m in (("a", a), ("b", b), ("c", c))}

    def calls(count):
        for _ in range(count):
            warpmat.mma(F16, "sm_90", a, b, c)
            warpmat.mma(F16, "sm_90", batch, b)
            warpmat.execute(F16, "sm_90", registers)
            with pytest.raises(ValueError):
                warpmat.mma(F16, "sm_90", a[:2], b)

    calls(500)
    before = resident_bytes()
    calls(2500)  # four calls each
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
        warpmat.assert_bits_equal(result, expected)


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
    warpmat.matmul(big, big, opcode=F16, target="sm_90", path="reference", jobs=1)
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
number = interpreters.create()
code = "import sys; sys.path[:] = " + repr(sys.path) + '''
try:
    import warpmat
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
