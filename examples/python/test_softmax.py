"""A pytest file for a kernel, without a GPU; with one, every launch is compared with it: pytest examples/python/test_softmax.py"""

from pathlib import Path

import numpy as np
import pytest

import warpmat
from warpmat.pytest_plugin import OnWarpmat

MODULE = warpmat.Module(Path(__file__).with_name("softmax.ptx").read_text())
PRODUCT = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"


@pytest.mark.warpmat(target="sm_90a")
@pytest.mark.parametrize("columns", [1, 31, 32, 100, 128])
def test_rows_add_up_to_one(on_warpmat: OnWarpmat, columns: int) -> None:
    x = np.random.default_rng(columns).standard_normal((4, columns)).astype(np.float32)
    y = np.zeros_like(x)
    on_warpmat.launch(MODULE, "softmax_kernel", 4, 128, y, x, columns, columns, columns, None, None, shared=16)
    np.testing.assert_allclose(y.sum(axis=1), 1, rtol=1e-6)


@pytest.mark.warpmat(target="sm_90a")
def test_a_row_too_many_is_reported(on_warpmat: OnWarpmat) -> None:
    x, y = np.zeros((4, 32), np.float32), np.zeros((4, 32), np.float32)
    with pytest.raises(warpmat.errors.KernelTrap, match="outside of any buffer") as trap:
        on_warpmat.launch(MODULE, "softmax_kernel", 5, 128, y, x, 32, 32, 32, None, None, shared=16)
    assert trap.value.block == (4, 0, 0)


@pytest.mark.warpmat(target="sm_90a", require="measured")
def test_my_tile_is_the_product_of_my_fragments(on_warpmat: OnWarpmat) -> None:
    a, b = warpmat.encode(np.eye(16), "bf16"), warpmat.encode(np.arange(128).reshape(16, 8), "bf16")
    d = on_warpmat.mma(PRODUCT, a, b)
    warpmat.testing.assert_bits_equal(d, np.arange(128, dtype=np.float32).reshape(16, 8), opcode=PRODUCT)
