#!/usr/bin/env python3
"""Compiles the listings of documents on ldmatrix, mma and movmatrix, runs them under `warpmat cuda` and compares what they print with the documents.

    WARPMAT_DOCUMENTS=FOLDER tests/cuda/listings.py --command build/release/warpmat [--cutlass cutlass/include]

FOLDER has the documents as text with listings in ``` (000_*.txt ldmatrix, 001_*.txt ldmatrix by PTX and by CuTe, 002_*.txt mma, 004_*.txt movmatrix);
they are not part of warpmat. A listing is compiled as it is; includes, and a main where the document shows none, are added. Needs nvcc, and CUTLASS's
headers for the second document. Ends with 77 where the folder or nvcc is missing: the demo then shows the same programs as recorded PTX.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HALF = "#include <cstdint>\n#include <cstdio>\n#include <cuda_fp16.h>\n"

LDMATRIX_MAIN = r"""
void show(const char* title, const half* numbers, int rows, int columns) {
  printf("%%s:\n", title);
  for (int i = 0; i < rows * columns; ++i) printf("%%5.1f%%s", (float)numbers[i], i %% columns == columns - 1 ? "\n" : " ");
}
int main() {
  const int rows = %d, columns = %d, count = rows * columns;
  half numbers[count], *from, *to;
  for (int i = 0; i < count; ++i) numbers[i] = (half)(float)i;
  cudaMalloc(&from, sizeof numbers);
  cudaMalloc(&to, sizeof numbers);
  cudaMemcpy(from, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  show("Source Matrix", numbers, rows, columns);
  ldmatrix_test_kernel<<<1, 32>>>(to, from, count);
  cudaMemcpy(numbers, to, sizeof numbers, cudaMemcpyDeviceToHost);
  show("Result Matrix", numbers, rows, columns);
}
"""

MMA_MAIN = r"""
int main() {
  half a[16 * 16], b[16 * 8], c[16 * 8], *on_gpu[3];
  for (int i = 0; i < 256; ++i) a[i] = (half)(i * 0.01f);
  for (int i = 0; i < 128; ++i) b[i] = (half)(i * 0.01f);
  for (half*& matrix : on_gpu) cudaMalloc(&matrix, sizeof a);
  cudaMemcpy(on_gpu[0], a, sizeof a, cudaMemcpyHostToDevice);
  cudaMemcpy(on_gpu[1], b, sizeof b, cudaMemcpyHostToDevice);
  mma_m16n8k16_fp16_kernel<<<1, 32>>>(on_gpu[0], on_gpu[1], on_gpu[2], 16, 8, 16);
  cudaMemcpy(c, on_gpu[2], sizeof c, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 128; ++i) printf("%7.4f%s", (float)c[i], i % 8 == 7 ? "\n" : " ");
}
"""

MOVMATRIX_MAIN = r"""
int main() {
  const int rows = 64, columns = 48, count = rows * columns;
  static half before[count], after[count];
  half *from, *to;
  for (int i = 0; i < count; ++i) before[i] = __ushort_as_half(i);
  cudaMalloc(&from, sizeof before);
  cudaMalloc(&to, sizeof before);
  cudaMemcpy(from, before, sizeof before, cudaMemcpyHostToDevice);
  transpose_naive(from, to, rows, columns);
  cudaMemcpy(after, to, sizeof after, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += __half_as_ushort(after[i % columns * rows + i / columns]) != __half_as_ushort(before[i]);
  printf("%d wrong\n", wrong);
}
"""


def listings(text):
    return re.findall(r"```[a-z+]*\n(.*?)```", text, re.S)


def first(found, part):
    return next(listing for listing in found if part in listing)


def between(text, begin, end):
    start = text.index(begin)
    return text[start : text.index(end, start)]


def ldmatrix(text):
    found = listings(text)
    kernels = [listing for listing in found if "ldmatrix_test_kernel" in listing]
    printed = [listing for listing in found if listing.startswith("Source Matrix")]
    # The document describes the transposed variants: .trans in the same kernel.
    programs = [(f"x{1 << i}{trans}", i, trans) for i in range(3) for trans in ("", ".trans")][: len(printed)]
    for (name, i, trans), expected in zip(programs, printed):
        kernel = kernels[i].replace(".shared.b16", trans + ".shared.b16")
        yield "ldmatrix " + name, HALF + kernel + LDMATRIX_MAIN % ((8, 8), (8, 16), (16, 16))[i], expected


def ldmatrix_by_cute(text):
    includes = "#include <cstdio>\n#include <iostream>\n#include <cute/tensor.hpp>\nusing cutlass::half_t;\n"
    ptx = between(text, "template<typename DataType>\n__device__ static void copy", "Here's the output")
    yield "ldmatrix by PTX", includes + "using cute::thread0;\n" + ptx, between(text, "Thread 0, row 0", "You can see that in our")
    cute = between(text, "template<size_t smem_rows = 64, size_t smem_columns = 64>\n__global__ void ldmatrix_x1_cutlass", "Now Let's break it down")
    printed = text[text.rindex("Finally, we see that we get the same result") :]
    lines = "\n".join(line for line in printed.split("\n") if line.startswith("Thread "))
    yield "ldmatrix by CuTe", includes + "using namespace cute;\n" + cute + "int main() { runner(); }\n", lines


def mma(text):
    found = listings(text)
    source = HALF + first(found, "void mma_m16n8k16_fp16(") + first(found, "mma_m16n8k16_fp16_kernel(") + MMA_MAIN
    yield "mma", source, first(found, "Device Results").split("Device Results:")[1]


def movmatrix(text):
    yield "movmatrix", HALF + first(listings(text), "mov_kernel") + MOVMATRIX_MAIN, "0 wrong"


DOCUMENTS = {"000": ldmatrix, "001": ldmatrix_by_cute, "002": mma, "004": movmatrix}  # 003 has no program


def words(text):
    return [line.split() for line in text.split("\n") if line.strip()]


def run(command, source, includes, folder):
    """What the program prints, or raises CalledProcessError."""
    (folder / "listing.cu").write_text(source)
    nvcc = ["nvcc", "-w", "-std=c++17", "--expt-relaxed-constexpr", "-arch=sm_90", "-cudart", "shared", "-o", "listing", "listing.cu", *includes]
    subprocess.run(nvcc, cwd=folder, check=True)
    return subprocess.run([command, "cuda", "./listing"], cwd=folder, check=True, capture_output=True, text=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", required=True, type=pathlib.Path)
    parser.add_argument("--cutlass", default=os.environ.get("WARPMAT_CUTLASS"), help="CUTLASS's include folder; default: WARPMAT_CUTLASS")
    options = parser.parse_args()
    folder = os.environ.get("WARPMAT_DOCUMENTS")
    if folder is None or shutil.which("nvcc") is None:
        print("not run: set WARPMAT_DOCUMENTS to the folder of the documents" if folder is None else "not run: no nvcc in PATH")
        return 77
    includes = ["-I" + str(pathlib.Path(options.cutlass).resolve())] if options.cutlass else []
    failed = 0
    for number, programs in DOCUMENTS.items():
        (document,) = pathlib.Path(folder).glob(number + "_*")
        if programs is ldmatrix_by_cute and not includes:
            print(f"{number}: not run: set WARPMAT_CUTLASS to CUTLASS's include folder")
            continue
        for name, source, expected in programs(document.read_text()):
            with tempfile.TemporaryDirectory() as scratch:
                same = words(run(options.command.resolve(), source, includes, pathlib.Path(scratch))) == words(expected)
            print(f"{number}: {name}: {'as the document prints' if same else 'DIFFERS'}", flush=True)
            failed += not same
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
