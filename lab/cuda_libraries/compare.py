#!/usr/bin/env python3
"""Compare what lab/cuda_libraries/ask.py kept of two runs: for each function how many results have the same bits, and the largest difference.

    lab/cuda_libraries/compare.py GPU WARPMAT [--all]
"""

import pathlib
import sys

import numpy as np


def read(prefix):
    """All results of a run."""
    path = pathlib.Path(prefix)
    return {name: array for file in sorted(path.parent.glob(path.name + ".*.npz")) for name, array in np.load(file).items()}


def group_of(name):
    """Its name without sizes and seeds, unless all are wanted."""
    return name if "--all" in sys.argv else " ".join(word for word in name.split() if not word[0].isdigit())


first, second = (read(prefix) for prefix in sys.argv[1:3])
groups = {}
for name, a in first.items():
    if name not in second:
        continue
    b = second[name]
    if a.shape != b.shape or a.dtype != b.dtype:
        print(f"{name}: {a.dtype}{a.shape} and {b.dtype}{b.shape}: {a[:1]} {b[:1]}")
        continue
    same = int((a.view(np.uint8).reshape(a.size, -1) == b.view(np.uint8).reshape(a.size, -1)).all(1).sum())
    if "bf16 bf16" in name:
        a, b = ((each.astype(np.uint32) << np.uint32(16)).view(np.float32) for each in (a, b))
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    worst = float(np.abs(a.astype(wide) - b.astype(wide)).max() / (np.abs(a.astype(wide)).max() or 1.0))
    total = groups.setdefault(group_of(name), [0, 0, 0, 0, 0.0])
    total[0] += same == a.size
    total[1] += 1
    total[2] += same
    total[3] += a.size
    total[4] = max(total[4], worst)
for key, (whole, count, same, elements, worst) in groups.items():
    print(f"| {key} | {whole} of {count} | {same:,} of {elements:,} | {worst:.1e} |")
