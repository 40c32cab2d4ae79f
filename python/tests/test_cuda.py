"""warpmat.cuda without a GPU: what it refuses, what NVRTC compiles; with one, the bits of warpmat.matmul."""

import ctypes

import numpy as np
import pytest

import warpmat
from warpmat import _core, cuda

F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
E4M3 = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"
SPARSE = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"


class OnGpu:
    """NumPy's array that says it lies on a GPU."""

    def __init__(self, array, kind=2, number=0):
        self.array, self.device = array, (kind, number)

    def __dlpack__(self, stream=None):
        assert stream == 1  # the legacy default stream
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.device


def on_gpu(shape, dtype=np.float16, **device):
    return OnGpu(np.zeros(shape, dtype), **device)


def refused(error, match, *arguments, opcode=F16, target="sm_80", **options):
    with pytest.raises(error, match=match):
        cuda.matmul(*arguments, instruction=opcode, card=target, **options)


def test_refusals_say_what_is_wrong():
    a, b, out = on_gpu((16, 16)), on_gpu((16, 8)), on_gpu((16, 8), np.float32)
    refused(TypeError, "a has no __dlpack__", [[1.0]], b)
    refused(TypeError, "a lies on DLPack's device of kind 1, .*: warpmat.matmul multiplies on the CPU", np.zeros((16, 16), np.float16), b)
    refused(TypeError, "b has elements of DLPack's type 2 with 32 bits; f16 or u16 is needed", a, on_gpu((16, 8), np.float32))
    refused(TypeError, "a is of test_cuda, of which no result can be made: pass out=", a, b)
    refused(TypeError, "out has elements of DLPack's type 2 with 16 bits; f32 or u32 is needed", a, b, out=on_gpu((16, 8)))
    refused(ValueError, r"a \(16, 16\) and b \(8, 8\) cannot be multiplied", a, on_gpu((8, 8)))
    refused(ValueError, r"c has the shape \(8,\); it must end with \(16, 8\)", a, b, on_gpu((8,), np.float32))
    refused(ValueError, r"the leading dimensions \(2,\), \(3,\) cannot be broadcast", on_gpu((2, 16, 16)), on_gpu((3, 16, 8)), out=out)
    refused(ValueError, r"out has the shape \(16, 8\); the product has \(3, 16, 8\)", on_gpu((3, 16, 16)), b, out=out)
    refused(ValueError, "the arrays lie on several GPUs: a on 0, b on 1, out on 0", a, on_gpu((16, 8), number=1), out=out)
    refused(ValueError, "at most 1048560 at once", OnGpu(np.broadcast_to(np.zeros(1, np.uint16), (1048561, 1)).copy()), on_gpu((1, 8)), out=out)
    refused(ValueError, "needs a dense mma", a, b, opcode=SPARSE, target="sm_90")
    refused(ValueError, "promote_every is a number of steps", a, b, promote_every=0)
    refused(ValueError, "sm_70", a, b, target="sm_70")


def has_gpu():
    try:
        cuda._driver()
    except warpmat.errors.NoGpu:
        return False
    return True


def test_without_a_gpu_it_says_so():
    if has_gpu():
        pytest.skip("this machine has a GPU")
    refused(warpmat.errors.NoGpu, "no GPU", on_gpu((16, 16)), on_gpu((16, 8)), out=on_gpu((16, 8), np.float32))


def test_bit_patterns_pass_for_every_format():
    tensor = cuda._Tensor(on_gpu((2, 3, 4), np.uint8), "a", "e4m3")
    assert (tensor.shape, tensor.strides, tensor.bytes) == ((2, 3, 4), (12, 4, 1), 1)
    x = np.zeros((5, 7, 4), np.uint16)
    tensor = cuda._Tensor(OnGpu(x[1:, ::2].transpose(0, 2, 1)), "a", "bf16")
    assert (tensor.shape, tensor.strides) == ((4, 4, 4), (28, 1, 8))
    assert tensor.address == x.ctypes.data + 56


def test_views_of_broadcast_batches():
    x = np.zeros((3, 1, 5, 7), np.uint16)
    tensor = cuda._Tensor(OnGpu(x), "a", "f16")
    view = cuda._view(tensor, (4, 3, 6), (2, 1))
    assert view.data == x.ctypes.data + 35 * 2
    assert (view.rows, view.columns, view.row_stride, view.column_stride, view.batch_stride) == (5, 7, 7, 1, 0)
    assert ctypes.sizeof(cuda._Operands) == 4 * 48 + 8
    assert cuda._broadcast([(3, 1), (2,), ()]) == (3, 2)


def test_the_module_has_the_headers():
    headers = _core.device_headers()
    assert {"gemm.h", "mma.h", "tables.h", "types.h"} <= set(headers)
    assert all(text.startswith("#pragma once") for text in headers.values())


@pytest.mark.parametrize("opcode, hardware", [(F16, "sm_80"), (E4M3, "sm_120"), ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "sm_90")])
def test_nvrtc_compiles_the_kernel(opcode, hardware):
    try:
        cuda._nvrtc()
    except warpmat.errors.NoGpu as error:
        pytest.skip(str(error))
    code = cuda.compiled(opcode, hardware, "sm_80")
    assert code.startswith(b"\x7fELF") and b"warpmat_gemm" in code
    with pytest.raises(RuntimeError, match="NVRTC does not compile"):
        cuda.compiled(opcode, "sm_1", "sm_80")


def test_a_gpu_has_the_bits_of_the_cpu():
    cupy = pytest.importorskip("cupy", reason="no CuPy: warpmat.cuda on a GPU is not tested")
    if not has_gpu():
        pytest.skip("no GPU: warpmat.cuda on a GPU is not tested")
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 77, 131)).astype(np.float16), rng.standard_normal((45, 131)).astype(np.float16).T
    for target in ("sm_80", "sm_90a"):
        found = cuda.matmul(cupy.asarray(a), cupy.asarray(b), instruction=F16, card=target)
        warpmat.testing.assert_bits_equal(cupy.asnumpy(found), warpmat.matmul(a, b, instruction=F16, card=target))
