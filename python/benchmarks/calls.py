"""What calls cost: python3 python/benchmarks/calls.py [JOBS]

The overhead of one mma, and a product of 1024x1024x1024 f16 -> f32 as sm_90 does it: 524,288 instructions. Best of some rounds each.
"""

import sys
import time
from typing import Callable

import numpy as np

import warpmat

OPCODE = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


def best(call: Callable[[], object], calls: int, rounds: int) -> float:
    """Seconds of one call."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - begin) / calls)
    return min(times)


def main() -> None:
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else None
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((16, 16)).astype(np.float16), rng.standard_normal((16, 8)).astype(np.float16)
    c = np.zeros((16, 8), np.float32)
    print(f"mma: {1e6 * best(lambda: warpmat.mma(OPCODE, 'sm_90', a, b, c), 500, 20):.1f} us a call")
    x, y = rng.standard_normal((1024, 1024)).astype(np.float16), rng.standard_normal((1024, 1024)).astype(np.float16)
    seconds = best(lambda: warpmat.matmul(x, y, instruction=OPCODE, card="sm_90", jobs=jobs), 1, 7)
    print(f"matmul 1024x1024x1024: {1e3 * seconds:.1f} ms, {1e9 * seconds / 2**19:.1f} ns an instruction")


if __name__ == "__main__":
    main()
