#!/usr/bin/env python3
"""Write tests/cuda/signatures.inc from the CUDA Toolkit's headers: what each function of the runtime and the driver that is supported takes.

    tests/cuda/signatures.py [--toolkit DIRECTORY] [--check]

A row has the function and a letter for each of its parameters. --check writes nothing, and fails if the file differs.
"""

import argparse
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
table = root / "tests/cuda/signatures.inc"

head = """// What the functions of the runtime and the driver take: WARPMAT_SIGNATURE(NAME, PARAMETERS), from the toolkit's cuda_runtime_api.h and cuda.h,
// written by tests/cuda/signatures.py. The letters are those of `kinds` in that script. NAME_ptsz and
// NAME_ptds, where there are such, take what NAME takes.
"""

# By the type of a parameter, without its const: a letter.
kinds = {"cudaStream_t": "s", "CUstream": "s", "cudaEvent_t": "e", "CUevent": "e", "cudaGraph_t": "g", "CUgraph": "g", "cudaGraphNode_t": "n",
         "CUgraphNode": "n", "cudaGraphExec_t": "x", "CUgraphExec": "x", "cudaArray_t": "a", "cudaArray_const_t": "a", "CUarray": "a",
         "cudaMipmappedArray_t": "m", "cudaMipmappedArray_const_t": "m", "CUmipmappedArray": "m", "cudaMemPool_t": "o", "CUmemoryPool": "o",
         "CUfunction": "f", "CUkernel": "f", "cudaFunction_t": "f", "cudaKernel_t": "f", "CUmodule": "l", "CUlibrary": "l", "CUlinkState": "k",
         "CUcontext": "c", "CUdeviceptr": "d", "cudaTextureObject_t": "t", "CUtexObject": "t", "cudaSurfaceObject_t": "t", "CUsurfObject": "t",
         "CUmemGenericAllocationHandle": "r", "CUdevice": "v", "cudaUserObject_t": "p", "CUuserObject": "p",
         "size_t": "z", "unsigned long long": "z", "cuuint64_t": "z", "int": "i", "unsigned int": "i", "cuuint32_t": "i", "unsigned char": "i",
         "unsigned short": "i", "dim3": "3", "cudaExtent": "X", "cudaPitchedPtr": "P", "cudaMemLocation": "L", "cudaIpcMemHandle_t": "I",
         "cudaIpcEventHandle_t": "I", "CUipcMemHandle": "I", "CUipcEventHandle": "I",
         "cudaStreamCallback_t": "F", "cudaHostFn_t": "F", "CUstreamCallback": "F", "CUhostFn": "F", "CUoccupancyB2DSize": "F"}


def preprocessed(toolkit, headers, *options):
    text = "".join(f"#include <{header}>\n" for header in headers)
    command = ["g++", "-E", "-P", "-x", "c++", "-I", toolkit / "include", *options, "-"]
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout


def declared(text, result, name):
    return dict(re.findall(rf"\b{result}\s+(?:CUDAAPI\s+)?({name})\s*\(([^;{{}}]*)\)\s*;", text))


def letter(parameter):
    parameter = re.sub(r"__attribute__\(\(.*?\)\)|=.*", "", parameter)
    if re.search(r"size_t\s*\*\s*(\w*_out|p?[nN]um\w+)$", parameter):
        return "q"  # the number of places, which the call changes
    if "*" in parameter or "[" in parameter:
        return "p"
    words = [word for word in parameter.split() if word not in ("const", "struct", "enum")]
    kind, name = " ".join(words[:-1]), words[-1]
    if kind == "int" and re.fullmatch(r"\w*[dD]evice", name):
        return "v"
    if kind.startswith(("unsigned", "cuuint")) and re.fullmatch(r"flags|Flags", name):
        return "G" if kind == "unsigned int" else "H"
    return kinds.get(kind, "E")  # all others are enumerations


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--toolkit", type=pathlib.Path, default=pathlib.Path("/usr/local/cuda"))
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    functions = declared(preprocessed(options.toolkit, ["cuda_runtime_api.h", "cuda_profiler_api.h"]), "cudaError_t", r"cuda[A-Z]\w*")
    functions |= declared(preprocessed(options.toolkit, ["cuda.h", "cudaProfiler.h"], "-D__CUDA_API_VERSION_INTERNAL"), "CUresult", r"cu[A-Z]\w*")
    supported = set()
    for name in ("runtime_functions.inc", "driver_functions.inc"):
        supported |= set(re.findall(r"^WARPMAT_CUDA_SUPPORTED\((\w+)", (root / "emulator/warpmat/cuda" / name).read_text(), re.M))
    rows = []
    for name in sorted(name for name in supported & set(functions) if not name.endswith(("_ptsz", "_ptds"))):
        parameters = [each.strip() for each in re.sub(r"\([^()]*\)", "*", functions[name]).split(",")]
        rows.append(f'WARPMAT_SIGNATURE({name}, "{"".join(letter(each) for each in parameters if each not in ("", "void"))}")\n')
    text = head + "".join(rows)
    if options.check:
        sys.exit(0 if table.read_text() == text else f"signatures.py: {table} is not what the toolkit says")
    table.write_text(text)


if __name__ == "__main__":
    main()
