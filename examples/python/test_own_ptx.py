"""Does my kernel give the bits of an H100? python3 -m pytest examples/python/test_own_ptx.py"""

from pathlib import Path

import numpy as np
import warpmat


def test_my_kernel_scales() -> None:
    x = np.arange(64, dtype=np.float32)
    warpmat.Module(Path(__file__).with_name("scale.ptx").read_text()).launch("scale", 2, 32, x, 2.0, target="sm_90a", checks="all")
    warpmat.testing.assert_bits_equal(x, 2 * np.arange(64, dtype=np.float32))
