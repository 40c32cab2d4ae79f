"""Computes a product by the Python module and by NumPy: use.py DIRECTORY ends well if they agree and the module lies under DIRECTORY."""

import sys
from importlib.metadata import entry_points, version

import numpy as np

import warpmat

assert warpmat.__file__.startswith(sys.argv[1]), warpmat.__file__
assert version("warpmat") == warpmat.__version__
assert [point.value for point in entry_points(group="pytest11") if point.name == "warpmat"] == ["warpmat.pytest_plugin"]

# Products of small integers are exact.
random = np.random.default_rng(1)
a = random.integers(-8, 8, (16, 16)).astype(np.float16)
b = random.integers(-8, 8, (16, 8)).astype(np.float16)
c = np.zeros((16, 8), np.float32)
d = warpmat.mma("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_90", a, b, c)
assert np.array_equal(d, a.astype(np.float32) @ b.astype(np.float32))
print("warpmat", warpmat.__version__, "from", warpmat.__file__)
