"""tinygrad's Python emulator with the bits of a GPU: its WMMA of CUDA targets is computed by warpmat.

    import exact_tensor_cores
    exact_tensor_cores.install("sm_90")   # then run with DEV=PYTHON::sm_80 or sm_89

tinygrad sums a row's products in Python's doubles, one after the other, and rounds where the result is stored. A tensor core aligns the
products of a step, cuts bits and rounds toward zero. Programs that compare with a GPU bit for bit need the latter.
"""

import sys

import numpy as np
import warpmat
from tinygrad.dtype import dtypes
from tinygrad.runtime import ops_python

_formats = {dtypes.half: "f16", dtypes.bfloat16: "bf16", dtypes.float: "tf32", dtypes.fp8e4m3: "e4m3", dtypes.fp8e5m2: "e5m2"}


def encoded(rows, format):
    """Numbers that `format` holds; of tf32 the bits of f32, whose last 13 the instruction drops itself."""
    if format == "tf32":
        return np.array(rows, np.float32).view(np.uint32)
    return warpmat.encode(np.array(rows, np.float64), format)


def install(target):
    """Replaces the emulator's helper for CUDA's tensor cores; those of other devices stay as they are."""
    own = ops_python.generic_wmma_helper

    def exact(inputs, warp_size, threads, k, num_a, num_b, num_c, a_element, b_element, c_place):
        statement = sys._getframe(1).f_locals["u"]  # the helper is not told the types
        if statement.arg[2] != "CUDA":
            return own(inputs, warp_size, threads, k, num_a, num_b, num_c, a_element, b_element, c_place)
        format, sums = _formats[statement.src[0].dtype], "f16" if statement.src[2].dtype == dtypes.half else "f32"
        opcode = f"mma.sync.aligned.m16n8k{k}.row.col.{sums}.{format}.{format}.{sums}"
        out = [list(element) for element in inputs[2]]
        places = [(lane, i, *c_place(lane, i)) for lane in range(threads) for i in range(num_c)]
        for first in range(0, warp_size, threads):
            a = [[a_element(inputs[0], j, row, first) for j in range(k)] for row in range(16)]
            b = [[b_element(inputs[1], column, j, first) for column in range(8)] for j in range(k)]
            c = np.zeros((16, 8))
            for lane, i, column, row in places:
                c[row, column] = out[i][first + lane]
            d = warpmat.mma(opcode, target, encoded(a, format), encoded(b, format), encoded(c, sums))
            for lane, i, column, row in places:
                out[i][first + lane] = float(d[row, column])
        return out

    ops_python.generic_wmma_helper = exact
