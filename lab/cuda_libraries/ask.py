#!/usr/bin/env python3
"""Ask cuBLAS and cuRAND, whichever ones the loader finds, and keep their results in files that begin so: on a GPU those of NVIDIA, under `warpmat cuda` those of warpmat.

    lab/cuda_libraries/ask.py GPU            # on a GPU
    warpmat cuda python3 lab/cuda_libraries/ask.py WARPMAT
    lab/cuda_libraries/compare.py GPU WARPMAT

The two runs call the same functions with the same operands, which are made of a hash of their places.
"""

import ctypes
import sys

import numpy as np

void, size, integer = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
cuda, blas, random = (ctypes.CDLL(name) for name in ("libcudart.so.13", "libcublas.so.13", "libcurand.so.10"))
results = {}


def drawn(shape, seed, dtype, scale=1.0):
    """Numbers between -scale and scale, by SplitMix64 of their places."""
    z = np.arange(1, int(np.prod(shape)) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed * 7919)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    numbers = ((z >> np.uint64(40)).astype(np.float64) / 2.0**23 - 1.0) * scale
    if dtype == "bf16":
        return (numbers.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    if dtype == np.int8:
        return (numbers * 127).astype(np.int8)
    if np.dtype(dtype).kind == "c":
        half = numbers.astype(np.float32 if dtype == np.complex64 else np.float64)
        return (half + 1j * np.roll(half, 1)).astype(dtype)
    return numbers.astype(dtype)


def on_device(array):
    pointer = void()
    assert cuda.cudaMalloc(ctypes.byref(pointer), size(max(array.nbytes, 1))) == 0
    array = np.ascontiguousarray(array)
    assert cuda.cudaMemcpy(pointer, void(array.ctypes.data), size(array.nbytes), integer(1)) == 0
    return pointer


def on_host(pointer, like):
    array = np.empty_like(like)
    assert cuda.cudaMemcpy(void(array.ctypes.data), pointer, size(array.nbytes), integer(2)) == 0
    return array


def scalar(value, dtype):
    array = np.array([value], dtype)
    scalar.kept.append(array)
    return void(array.ctypes.data)


scalar.kept = []

handle = void()
assert blas.cublasCreate_v2(ctypes.byref(handle)) == 0


def kept(array, most=8192):
    """At most so many elements, all over the array."""
    return array[:: 1 if array.size <= most else array.size // most | 1]


def ask(name, function, arguments, output, host):
    status = getattr(blas, function)(handle, *arguments)
    cuda.cudaDeviceSynchronize()
    results[name] = np.array([status]) if status != 0 else kept(on_host(output, host)) if output is not None else host.copy()


letters = {np.float32: "S", np.float64: "D", np.complex64: "C", np.complex128: "Z"}
shapes = [(64, 64, 64), (128, 128, 128), (256, 256, 256), (512, 512, 512), (100, 100, 100), (33, 17, 65), (512, 64, 1024), (16, 16, 4096), (256, 128, 96)]


def operands(m, n, k, op_a, op_b, dtype):
    return drawn((m * k,), 1, dtype), drawn((k * n,), 2, dtype), (m if op_a == 0 else k), (k if op_b == 0 else n)


def products():
    for dtype, letter in letters.items():
        for m, n, k in shapes:
            for op_a, op_b in ((0, 0), (1, 0), (0, 1)):
                for alpha, beta in ((1, 0),) if (m, op_a, op_b) != (128, 0, 0) else ((1, 0), (1.5, 0), (1.5, 0.75), (1, 1)):
                    a, b, lda, ldb = operands(m, n, k, op_a, op_b, dtype)
                    c = drawn((m * n,), 3, dtype)
                    d = on_device(c)
                    ask(f"{letter}gemm {m}x{n}x{k} {op_a}{op_b} {alpha} {beta}", f"cublas{letter}gemm_v2",
                        (op_a, op_b, m, n, k, scalar(alpha, dtype), on_device(a), lda, on_device(b), ldb, scalar(beta, dtype), d, m), d, c)


def typed_products():
    rows = [("f16 f16", np.float16, 2, np.float16, 2, 68, np.float32), ("f16 f32", np.float16, 2, np.float32, 0, 68, np.float32),
            ("bf16 bf16", "bf16", 14, np.uint16, 14, 68, np.float32), ("bf16 f32", "bf16", 14, np.float32, 0, 68, np.float32),
            ("s8 s32", np.int8, 3, np.int32, 10, 72, np.int32), ("f32 tf32", np.float32, 0, np.float32, 0, 77, np.float32),
            ("f32 as f16", np.float32, 0, np.float32, 0, 74, np.float32), ("f32 as bf16", np.float32, 0, np.float32, 0, 75, np.float32),
            ("f16 sums of f16", np.float16, 2, np.float16, 2, 64, np.float16), ("s8 f32", np.int8, 3, np.float32, 0, 68, np.float32)]
    for name, dtype, type_a, out, type_c, compute, scale in rows:
        for m, n, k in shapes:
            for op_a, op_b in ((0, 0), (1, 0)):
                for alpha, beta in ((1, 0),) if (m, op_a) != (128, 0) or scale == np.int32 else ((1, 0), (1.5, 0), (1.5, 0.75), (1, 1)):
                    a, b, lda, ldb = operands(m, n, k, op_a, op_b, dtype)
                    c = drawn((m * n,), 3, "bf16") if name == "bf16 bf16" else drawn((m * n,), 3, np.float32).astype(out)
                    d = on_device(c)
                    ask(f"GemmEx {name} {m}x{n}x{k} {op_a}{op_b} {alpha} {beta}", "cublasGemmEx",
                        (op_a, op_b, m, n, k, scalar(alpha, scale), on_device(a), type_a, lda, on_device(b), type_a, ldb, scalar(beta, scale), d, type_c, m,
                         compute, -1), d, c)


def vectors():
    for dtype, letter in letters.items():
        for n in (7, 1000, 100000):
            x, y = drawn((n,), 4, dtype), drawn((n,), 5, dtype)
            real = np.zeros(1, np.float32 if letter in "SC" else np.float64)
            one, number = np.zeros(1, dtype), np.zeros(1, np.int32)
            dot = {"S": "Sdot", "D": "Ddot", "C": "Cdotc", "Z": "Zdotc"}[letter]
            at = on_device(x)
            ask(f"{dot} {n}", f"cublas{dot}_v2", (n, at, 1, on_device(y), 1, void(one.ctypes.data)), None, one)
            nrm2 = {"S": "Snrm2", "D": "Dnrm2", "C": "Scnrm2", "Z": "Dznrm2"}[letter]
            ask(f"{nrm2} {n}", f"cublas{nrm2}_v2", (n, at, 1, void(real.ctypes.data)), None, real)
            asum = {"S": "Sasum", "D": "Dasum", "C": "Scasum", "Z": "Dzasum"}[letter]
            ask(f"{asum} {n}", f"cublas{asum}_v2", (n, at, 1, void(real.ctypes.data)), None, real)
            ask(f"I{letter.lower()}amax {n}", f"cublasI{letter.lower()}amax_v2", (n, at, 1, void(number.ctypes.data)), None, number)
            d = on_device(y)
            ask(f"{letter}axpy {n}", f"cublas{letter}axpy_v2", (n, scalar(1.3, dtype), at, 1, d, 1), d, y)
            d = on_device(y)
            ask(f"{letter}scal {n}", f"cublas{letter}scal_v2", (n, scalar(1.3, dtype), d, 1), d, y)


def matrices():
    for dtype, letter in letters.items():
        m, n = 300, 200
        a, x = drawn((m * m,), 6, dtype, 0.01), drawn((m,), 7, dtype)
        triangle = (a.reshape(m, m) + np.eye(m)).astype(dtype).ravel()
        one, zero = scalar(1, dtype), scalar(0, dtype)
        for op in (0, 1):
            y = np.zeros(m if op == 0 else n, dtype)
            d = on_device(y)
            ask(f"{letter}gemv {op}", f"cublas{letter}gemv_v2", (op, m, n, one, on_device(a), m, on_device(x), 1, zero, d, 1), d, y)
        d = on_device(a)
        ger = {"S": "Sger", "D": "Dger", "C": "Cgeru", "Z": "Zgeru"}[letter]
        ask(ger, f"cublas{ger}_v2", (m, m, scalar(1.3, dtype), on_device(x), 1, on_device(x), 1, d, m), d, a)
        d = on_device(x)
        ask(f"{letter}trsv", f"cublas{letter}trsv_v2", (0, 0, 0, m, on_device(triangle), m, d, 1), d, x)
        d = on_device(x)
        ask(f"{letter}trmv", f"cublas{letter}trmv_v2", (0, 0, 0, m, on_device(triangle), m, d, 1), d, x)
        y = np.zeros(m, dtype)
        d = on_device(y)
        ask(f"{letter}symv", f"cublas{letter}symv_v2", (0, m, one, on_device(a), m, on_device(x), 1, zero, d, 1), d, y)
        b = drawn((m * n,), 8, dtype)
        d = on_device(b)
        ask(f"{letter}trsm", f"cublas{letter}trsm_v2", (0, 0, 0, 0, m, n, one, on_device(triangle), m, d, m), d, b)
        d = on_device(b)
        ask(f"{letter}trmm", f"cublas{letter}trmm_v2", (0, 0, 0, 0, m, n, one, on_device(triangle), m, on_device(b), m, d, m), d, b)
        c = np.zeros(m * m, dtype)
        d = on_device(c)
        ask(f"{letter}syrk", f"cublas{letter}syrk_v2", (0, 0, m, n, one, on_device(b), m, zero, d, m), d, c)
        d = on_device(b)
        ask(f"{letter}symm", f"cublas{letter}symm_v2", (0, 0, m, n, one, on_device(a), m, on_device(b), m, zero, d, m), d, b)


def lt_products():
    lt = ctypes.CDLL("libcublasLt.so.13")
    own = void()
    assert lt.cublasLtCreate(ctypes.byref(own)) == 0

    def layout(type_, rows, columns):
        made = void()
        assert lt.cublasLtMatrixLayoutCreate(ctypes.byref(made), type_, ctypes.c_uint64(rows), ctypes.c_uint64(columns), ctypes.c_int64(rows)) == 0
        return made

    def multiply(name, m, n, k, type_a, type_d, epilogue, a, b, d, attributes=(), aux=None):
        description, preference, found = void(), void(), integer()
        lt.cublasLtMatmulDescCreate(ctypes.byref(description), 68, 0)
        for number, value in ((3, ctypes.c_int32(1)), (7, ctypes.c_int32(epilogue)), *attributes):
            assert lt.cublasLtMatmulDescSetAttribute(description, number, ctypes.byref(value), size(ctypes.sizeof(value))) == 0
        layouts = layout(type_a, k, m), layout(type_a, k, n), layout(type_d, m, n)
        lt.cublasLtMatmulPreferenceCreate(ctypes.byref(preference))
        workspace = on_device(np.zeros(1 << 25, np.uint8))
        bytes_ = ctypes.c_uint64(1 << 25)
        lt.cublasLtMatmulPreferenceSetAttribute(preference, 1, ctypes.byref(bytes_), size(8))
        chosen = ctypes.create_string_buffer(4096)
        status = lt.cublasLtMatmulAlgoGetHeuristic(own, description, layouts[0], layouts[1], layouts[2], layouts[2], preference, 1, chosen, ctypes.byref(found))
        if status == 0:
            at = on_device(d)
            status = lt.cublasLtMatmul(own, description, scalar(1, np.float32), on_device(a), layouts[0], on_device(b), layouts[1], scalar(0, np.float32), at,
                                       layouts[2], at, layouts[2], chosen, workspace, size(1 << 25), void())
            cuda.cudaDeviceSynchronize()
        results[f"Lt {name}"] = np.array([status]) if status != 0 else kept(on_host(at, d))
        if status == 0 and aux is not None:
            results[f"Lt {name} aux"] = on_host(*aux)

    m, n, k = 128, 64, 128
    a, b = drawn((m * k,), 1, np.float16), drawn((k * n,), 2, np.float16)
    for type_d, dtype in ((2, np.float16), (0, np.float32)):
        bias = on_device(drawn((m,), 9, dtype))
        for epilogue in (1, 2, 4, 6, 32, 36, 2 | 128, 32 | 128, 36 | 128):
            host = np.zeros(m * n, dtype) if epilogue & 32 else np.zeros(m * n // 8, np.uint8)
            aux = on_device(host)
            attributes = [(8, ctypes.c_uint64(bias.value))] * bool(epilogue & 4)
            attributes += [(11, ctypes.c_uint64(aux.value)), (12, ctypes.c_int64(m))] * bool(epilogue & 128)
            multiply(f"{np.dtype(dtype).name} epilogue {epilogue}", m, n, k, 2, type_d, epilogue, a, b, np.zeros(m * n, dtype), attributes,
                     (aux, host) if epilogue & 128 else None)
    e4m3 = [(drawn((count,), seed, np.float64) * 126).astype(np.int8).view(np.uint8) for count, seed in ((m * 1024, 1), (n * 1024, 2))]
    scales = [on_device(np.array([x], np.float32)) for x in (0.37, 1.9, 0.11)]
    for k in (128, 1024):
        for fast in (0, 1):
            for type_d, dtype in ((14, np.uint16), (0, np.float32)):
                attributes = [(17, ctypes.c_uint64(scales[0].value)), (18, ctypes.c_uint64(scales[1].value)), (25, ctypes.c_int8(fast))]
                multiply(f"e4m3 {type_d} K {k} fast {fast}", m, n, k, 28, type_d, 1, e4m3[0][: m * k], e4m3[1][: n * k], np.zeros(m * n, dtype), attributes)


def random_numbers():
    float_, double = ctypes.c_float, ctypes.c_double
    calls = {"raw": ("curandGenerate", np.uint32, ()), "uniform": ("curandGenerateUniform", np.float32, ()),
             "uniform double": ("curandGenerateUniformDouble", np.float64, ()),
             "normal": ("curandGenerateNormal", np.float32, (float_(1.5), float_(2.25))),
             "normal double": ("curandGenerateNormalDouble", np.float64, (double(1.5), double(2.25))),
             "log-normal": ("curandGenerateLogNormal", np.float32, (float_(0.5), float_(0.75))),
             "log-normal double": ("curandGenerateLogNormalDouble", np.float64, (double(0.5), double(0.75))),
             **{f"Poisson {mean}": ("curandGeneratePoisson", np.uint32, (double(mean),)) for mean in (3, 50, 2500, 100000)},
             "64 bits": ("curandGenerateLongLong", np.uint64, ())}

    def generated(generator, kind, count):
        function, dtype, parameters = calls[kind]
        host = np.zeros(count, dtype)
        device = on_device(host)
        status = getattr(random, function)(generator, device, size(count), *parameters)
        return on_host(device, host) if status == 0 else np.array([status])

    def mixed(name, number):
        generator = void()
        random.curandCreateGenerator(ctypes.byref(generator), number)
        for i, (kind, count) in enumerate((("raw", 1000), ("normal", 3000), ("uniform double", 501), ("raw", 77), ("normal double", 1002), ("uniform", 5000),
                                           ("log-normal", 9000), ("raw", 5000))):
            results[f"{name} mixed {i} {kind}"] = generated(generator, kind, count)

    for name, number in (("XORWOW", 101), ("MRG32K3A", 121), ("PHILOX", 161), ("MTGP32", 141), ("MT19937", 142)):
        for ordering in (101, 103, 104) if number != 101 else (101, 102, 103, 104):
            for seed, offset in ((0, 0), (1234, 0), (0x123456789ABCDEF, 12345), (7, 10_000_000_019)):
                for kind in list(calls)[:-1] if ordering != 104 else ("raw", "normal"):
                    generator = void()
                    assert random.curandCreateGenerator(ctypes.byref(generator), number) == 0
                    random.curandSetGeneratorOrdering(generator, ordering)  # MT19937 has no dynamic one
                    random.curandSetPseudoRandomGeneratorSeed(generator, ctypes.c_ulonglong(seed))
                    random.curandSetGeneratorOffset(generator, ctypes.c_ulonglong(offset))
                    many = kind == "raw" and seed == 1234
                    results[f"{name} {ordering} {seed} {offset} {kind}"] = kept(generated(generator, kind, 400000 if many else 9000), 9000)
                    random.curandDestroyGenerator(generator)
        mixed(name, number)
    for name, number, raw in (("SOBOL32", 201, "raw"), ("SCRAMBLED32", 202, "raw"), ("SOBOL64", 203, "64 bits"), ("SCRAMBLED64", 204, "64 bits")):
        for dimensions, offset in ((1, 0), (3, 12345), (20, 0), (1111, 1))[: 3 if "SCRAMBLED" in name else 4]:
            for kind in (raw, *list(calls)[1:-1]):
                generator = void()
                assert random.curandCreateGenerator(ctypes.byref(generator), number) == 0
                random.curandSetQuasiRandomGeneratorDimensions(generator, dimensions)
                random.curandSetGeneratorOffset(generator, ctypes.c_ulonglong(offset))
                results[f"{name} {dimensions} {offset} {kind}"] = kept(generated(generator, kind, dimensions * (3000 // dimensions + 2)), 9000)
                random.curandDestroyGenerator(generator)


for part in (products, typed_products, vectors, matrices, lt_products, random_numbers):
    results.clear()
    part()
    np.savez_compressed(f"{sys.argv[1]}.{part.__name__}.npz", **results)
