"""How fp8 products lose bits with K: Ada's units (sm_89) keep 13 fraction bits of a sum, and promotion to f32 every few steps mends that.
Hopper's mma converts fp8 to f16 and keeps more; it is wgmma that has such units there.

    python3 fp8_accumulation.py [PLOT.png]
"""

import sys
from typing import Dict, List

import numpy as np

import warpmat

OPCODE = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"
SIZES = [128, 512, 2048, 8192]


def errors() -> Dict[str, List[float]]:
    """The relative error of a product's sums, by way of adding and by K: the root of the mean square over that of the exact sums."""
    rng = np.random.default_rng(1)
    out: Dict[str, List[float]] = {"sm_89": [], "sm_89, promoted every 4 steps": [], "sm_90": []}
    for k in SIZES:
        a, b = (warpmat.encode(rng.random(shape), "e4m3") for shape in ((32, k), (k, 32)))
        exact = a.values() @ b.values()
        sums = {
            "sm_89": warpmat.matmul(a, b, instruction=OPCODE, card="sm_89"),
            "sm_89, promoted every 4 steps": warpmat.matmul(a, b, instruction=OPCODE, card="sm_89", promote_every=4),
            "sm_90": warpmat.matmul(a, b, instruction=OPCODE, card="sm_90"),
        }
        for name, result in sums.items():
            out[name].append(float(np.sqrt(((result - exact) ** 2).mean() / (exact**2).mean())))
    return out


def plot(found: Dict[str, List[float]], path: str) -> None:
    from matplotlib import pyplot

    for name, values in found.items():
        pyplot.loglog(SIZES, values, marker="o", label=name)
    pyplot.xlabel("K")
    pyplot.ylabel("relative error")
    pyplot.legend()
    pyplot.savefig(path)


def main() -> None:
    found = errors()
    print(f"{'K':30}" + "".join(f"{k:>10}" for k in SIZES))
    for name, values in found.items():
        print(f"{name:30}" + "".join(f"{value:10.1e}" for value in values))
    for target in ("sm_89", "sm_90"):
        print(warpmat.evidence.of(OPCODE, target))
    assert found["sm_89"][-1] > 10 * found["sm_89, promoted every 4 steps"][-1]
    if len(sys.argv) > 1:
        plot(found, sys.argv[1])


if __name__ == "__main__":
    main()
