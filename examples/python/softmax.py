"""A Triton kernel's .ptx and .json without a GPU: the softmax of the rows of a matrix, compared with NumPy's."""

from pathlib import Path

import numpy as np

import warpmat


def softmax(x: "np.ndarray[tuple[int, int], np.dtype[np.float32]]") -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    """As the kernel computes it on an H200, bit for bit: its ex2.approx and div.full are measured."""
    kernel = warpmat.kernels.TritonKernel(Path(__file__).with_name("softmax.ptx"))
    rows, columns = x.shape
    y = np.empty_like(x)
    kernel.launch(rows, y, x, columns, columns, columns)
    return y


def main() -> None:
    x = np.random.default_rng(0).standard_normal((64, 100)).astype(np.float32)
    y = softmax(x)
    exact = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    exact /= exact.sum(axis=1, keepdims=True)
    ulps = np.abs(y - exact) / np.spacing(exact.astype(np.float32))
    print(f"softmax of {x.shape[0]} rows: at most {ulps.max():.1f} ulp from the exact result")
    assert ulps.max() < 8


if __name__ == "__main__":
    main()
