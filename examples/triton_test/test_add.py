"""A Triton kernel that is tested without a GPU: python3 -m pytest -p warpmat.pytest_plugin."""

import numpy as np
import pytest

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, inside) + tl.load(y + i, inside), inside)


@pytest.mark.warpmat(target="h100", checks="all")
@pytest.mark.parametrize("n", [1, 1000, 4096])
def test_add(n):
    x, y = np.random.default_rng(n).standard_normal((2, n)).astype(np.float32)
    out = np.zeros(n, np.float32)
    add[(triton.cdiv(n, 128),)](x, y, out, n, BLOCK=128)
    assert (out == x + y).all()
