"""DEV=PYTHON::sm_89 pytest test_exact_tensor_cores.py: where tinygrad is installed, its emulator has the bits of single mma instructions."""

import numpy as np
import pytest

pytest.importorskip("tinygrad")
pytest.importorskip("warpmat")

import exact_tensor_cores  # noqa: E402
import warpmat  # noqa: E402
from tinygrad import Device, Tensor, dtypes  # noqa: E402
from tinygrad.helpers import Context  # noqa: E402

cases = [
    ("f16", dtypes.half, 16, "f32"),
    ("f16", dtypes.half, 16, "f16"),
    ("bf16", dtypes.bfloat16, 16, "f32"),
    ("tf32", dtypes.float, 8, "f32"),
    ("e4m3", dtypes.fp8e4m3, 32, "f32"),
    ("e5m2", dtypes.fp8e5m2, 32, "f32"),
]


@pytest.mark.parametrize("format, dtype, k, sums", cases)
def test_one_step_is_one_mma(format, dtype, k, sums):
    if Device.DEFAULT != "PYTHON":
        pytest.skip("needs DEV=PYTHON::sm_89")
    if dtype not in Device[Device.DEFAULT].renderer.supported_dtypes():
        pytest.skip("tinygrad's emulator needs Python 3.12 for f16")
    exact_tensor_cores.install("sm_90")
    opcode = f"mma.sync.aligned.m16n8k{k}.row.col.{sums}.{format}.{format}.{sums}"
    for seed in range(5):
        random = np.random.default_rng(seed)
        a, b = random.standard_normal((16, k)).astype(np.float32), random.standard_normal((k, 8)).astype(np.float32)
        with Context(ALLOW_TF32=1, TC=1, TC_OPT=2):
            d = Tensor(a).cast(dtype).matmul(Tensor(b).cast(dtype), dtype=dtypes.half if sums == "f16" else dtypes.float).numpy()
        expected = warpmat.mma(opcode, "sm_90", exact_tensor_cores.encoded(a, format), exact_tensor_cores.encoded(b, format))
        assert (d == expected).all()
