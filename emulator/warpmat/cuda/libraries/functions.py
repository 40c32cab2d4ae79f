#!/usr/bin/env python3
"""Write the tables of functions of cuBLAS, cuBLASLt and cuRAND from the CUDA Toolkit's headers.

    emulator/warpmat/cuda/libraries/functions.py [--toolkit DIRECTORY] [--check]

A row of a function that is supported has its result, its name, the routine in the library's .cpp files that implements it, its parameters, and what it
hands on. Names of one routine for several types and sizes share that routine. --check writes nothing, and fails if a file differs.
"""

import argparse
import pathlib
import re
import subprocess
import sys

folder = pathlib.Path(__file__).resolve().parent

# What the parameters are here. Enumerations are ints.
types = {"cublasHandle_t": "Blas*", "cublasLtHandle_t": "Blas*", "cudaStream_t": "Stream*", "cuComplex": "std::complex<float>",
         "cuDoubleComplex": "std::complex<double>", "__half": "Half", "__nv_bfloat16": "BrainHalf", "long long int": "long long",
         "int64_t": "std::int64_t", "uint64_t": "std::uint64_t", "size_t": "std::size_t", "curandGenerator_t": "Random*",
         "curandDiscreteDistribution_t": "Discrete*", "curandDirectionVectors32_t": "Directions32", "curandDirectionVectors64_t": "Directions64",
         "cublasLtMatmulDesc_t": "Descriptor*", "cublasLtMatrixLayout_t": "Descriptor*", "cublasLtMatmulPreference_t": "Descriptor*",
         "cublasLtMatrixTransformDesc_t": "Descriptor*", "cublasLtEmulationDesc_t": "Descriptor*", "cublasLtMatmulAlgo_t": "Algorithm", "cublasLtMatmulHeuristicResult_t": "Heuristic",
         "FILE": "void", "cublasLogCallback": "void*", "cublasLtLoggerCallback_t": "void*"}
plain = {"int", "float", "double", "void", "char", "unsigned char", "unsigned int", "unsigned long long", "long long"}

# The letters of types in the names of BLAS.
letters = "HSH HSS TST TSS Sc Dz Cs Zd Is Id Ic Iz S D C Z H".split()
blas = """nrm2 dot dotu dotc scal axpy copy swap amax amin asum rot rotg rotm rotmg gemv gbmv trmv tbmv tpmv trsv tpsv tbsv symv hemv sbmv hbmv spmv
hpmv ger geru gerc syr her spr hpr syr2 her2 spr2 hpr2 gemvBatched gemvStridedBatched gemm gemm3m syrk herk syr2k her2k syrkx herkx symm hemm trsm
trmm gemmBatched gemmStridedBatched gemm3mBatched gemm3mStridedBatched gemmGroupedBatched geam trsmBatched dgmm matinvBatched tpttr trttp getrfBatched
getriBatched getrsBatched""".split()

# Library: header, what begins its names, the type of its status, and the routines that are supported.
libraries = {
    "blas": (["cublas_v2.h"], "cublas", "cublasStatus_t", blas + """Create Destroy GetVersion GetProperty GetCudartVersion SetWorkspace SetStream
             GetStream GetPointerMode SetPointerMode GetAtomicsMode SetAtomicsMode GetMathMode SetMathMode GetSmCountTarget SetSmCountTarget
             GetEmulationStrategy SetEmulationStrategy GetEmulationSpecialValuesSupport SetEmulationSpecialValuesSupport
             GetFixedPointEmulationMantissaControl SetFixedPointEmulationMantissaControl GetFixedPointEmulationMaxMantissaBitCount
             SetFixedPointEmulationMaxMantissaBitCount GetFixedPointEmulationMantissaBitOffset SetFixedPointEmulationMantissaBitOffset
             GetFixedPointEmulationMantissaBitCountPointer SetFixedPointEmulationMantissaBitCountPointer
             GetStatusName
             GetStatusString LoggerConfigure SetLoggerCallback GetLoggerCallback SetVector GetVector SetMatrix GetMatrix SetVectorAsync GetVectorAsync
             SetMatrixAsync GetMatrixAsync Xerbla Nrm2Ex DotEx DotcEx ScalEx AxpyEx CopyEx SwapEx IamaxEx IaminEx AsumEx RotEx
             GemmEx SgemmEx CgemmEx Cgemm3mEx GemmBatchedEx GemmStridedBatchedEx GemmGroupedBatchedEx CsyrkEx Csyrk3mEx CherkEx Cherk3mEx""".split()),
    "blas_lt": (["cublasLt.h"], "cublasLt", "cublasStatus_t", """Create Destroy GetStatusName GetStatusString GetVersion GetCudartVersion GetProperty
                HeuristicsCacheGetCapacity HeuristicsCacheSetCapacity Matmul MatrixTransform MatrixLayoutInit_internal MatrixLayoutCreate
                MatrixLayoutDestroy MatrixLayoutSetAttribute MatrixLayoutGetAttribute MatmulDescInit_internal MatmulDescCreate MatmulDescDestroy
                MatmulDescSetAttribute MatmulDescGetAttribute MatrixTransformDescInit_internal MatrixTransformDescCreate MatrixTransformDescDestroy
                MatrixTransformDescSetAttribute MatrixTransformDescGetAttribute MatmulPreferenceInit_internal MatmulPreferenceCreate
                MatmulPreferenceDestroy MatmulPreferenceSetAttribute MatmulPreferenceGetAttribute MatmulAlgoGetHeuristic MatmulAlgoGetIds MatmulAlgoInit
                MatmulAlgoCheck MatmulAlgoConfigSetAttribute MatmulAlgoConfigGetAttribute LoggerSetCallback LoggerSetFile LoggerOpenFile LoggerSetLevel
                LoggerSetMask LoggerForceDisable MatmulAlgoCapGetAttribute EmulationDescInit_internal EmulationDescCreate
                EmulationDescDestroy EmulationDescSetAttribute EmulationDescGetAttribute""".split()),
    "random": (["curand.h"], "curand", "curandStatus_t", """CreateGenerator CreateGeneratorHost DestroyGenerator GetVersion GetProperty SetStream
               SetPseudoRandomGeneratorSeed SetGeneratorOffset SetGeneratorOrdering SetQuasiRandomGeneratorDimensions Generate GenerateLongLong
               GenerateUniform GenerateUniformDouble GenerateNormal GenerateNormalDouble GenerateLogNormal GenerateLogNormalDouble GeneratePoisson
               GenerateSeeds GetDirectionVectors32 GetDirectionVectors64 GetScrambleConstants32 GetScrambleConstants64
               CreatePoissonDistribution DestroyDistribution""".split()),
}
# Headers whose functions are names alone here.
others = {"blas": ["cublas.h", "cublasXt.h"]}


def declared(toolkit, header, prefix):
    """Result, name and parameters of each function that the header declares."""
    command = ["g++", "-E", "-P", "-x", "c++", "-I", toolkit / "include", "-"]
    text = subprocess.run(command, input=f"#include <{header}>\n", check=True, capture_output=True, text=True).stdout
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)\s*", "", text)
    found = {}
    for result, name, parameters in re.findall(rf"([\w\s]+[\w*]\s*)\b({prefix}[A-Z]\w*)\s*\(([^;{{}}]*)\)\s*;", text):
        words = re.sub(r"\b(extern|static|inline|return)\b", "", result).split()
        if words and words[0] not in ("typedef", "else"):
            found[name] = " ".join(words).replace(" *", "*"), re.sub(r"\s+", " ", parameters).strip()
    return found


def type_of(text):
    """A parameter's type here, of its declaration."""
    text = re.sub(r"\s+", " ", text.replace("*", " * ")).strip()
    array = text.endswith("]")
    text = re.sub(r"\[.*?\]$", "", text).strip()
    text = re.sub(r"\b\w+$", "", text).strip() if not text.endswith("*") and len(text.replace("const", "").split()) > 1 and not is_type(text) else text
    words = text.split()
    base = " ".join(word for word in words if word not in ("const", "*", "struct", "enum"))
    known = types.get(base, base if base in plain else "int")
    stars = "".join(" const" if word == "const" else "*" for word in words[words.index("*"):]) if "*" in words else ""
    const = "const " if "const" in (words[: words.index("*")] if "*" in words else words) and (stars or array) else ""
    if known.endswith("*") and const:
        known, const = known, ""  # a handle that is not changed
    return f"{const}{known}{stars}{'*' if array else ''}".replace("* const*", "* const*")


def is_type(text):
    base = " ".join(word for word in text.split() if word != "const")
    return base in plain or base in types


def routine_of(name, prefix, known):
    short = re.sub(r"_v2(_64)?$|_64$", "", name[len(prefix):])
    if short in known:
        return short[0].lower() + short[1:]
    routines = [short[len(each):] for each in letters if short.startswith(each)]
    return next((each for each in routines if each in blas and each in known), None)


def rows_of(library, toolkit):
    headers, prefix, status, known = libraries[library]
    rows = {}
    for header in headers:
        for name, (result, parameters) in declared(toolkit, header, prefix).items():
            routine = routine_of(name, prefix, known)
            if library == "blas" and name.startswith("cublasLt"):
                continue
            if routine is None:
                rows[name] = f"WARPMAT_LIBRARY_UNSUPPORTED({name})"
                continue
            kinds = [type_of(each) for each in split(parameters) if each not in ("", "void")]
            names = [f"p{i}" for i in range(len(kinds))]
            declaration = ", ".join(f"{kind} {each}" for kind, each in zip(kinds, names))
            returned = {status: "int"}.get(result, result.replace("size_t", "std::size_t"))
            rows[name] = f"WARPMAT_LIBRARY_SUPPORTED({returned}, {name}, {routine}, ({declaration}), ({', '.join(names)}))"
    for header in others.get(library, []):
        for name in declared(toolkit, header, prefix):
            rows.setdefault(name, f"WARPMAT_LIBRARY_UNSUPPORTED({name})")
    return [rows[name] for name in sorted(rows)]


def split(parameters):
    return [each.strip() for each in parameters.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--toolkit", type=pathlib.Path, default=pathlib.Path("/usr/local/cuda"))
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    for library in libraries:
        path = folder / f"{library}_functions.inc"
        text = f"// Written by functions.py from the toolkit's {', '.join(libraries[library][0] + others.get(library, []))}, in the order of the names.\n"
        text += "\n".join(rows_of(library, options.toolkit)) + "\n"
        if not options.check:
            path.write_text(text)
        elif path.read_text() != text:
            sys.exit(f"functions.py: {path} is not what the toolkit says")


if __name__ == "__main__":
    main()
