"""What torch's GEMMs give on the card at hand, for operands that python/warpmat/_measured_operands.py draws.

    python3 lab/libraries/ask.py results.npz [CALL...]

Needs torch, NumPy and a GPU; not warpmat. Of every product it keeps up to 64 rows and columns. lab/libraries/table.py makes a table of them.
"""

import json
import runpy
import sys
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[2]
OPERANDS = runpy.run_path(str(ROOT / "python/warpmat/_measured_operands.py"))
DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "tf32": torch.float32, "f64": torch.float64}
DTYPES.update(e4m3=torch.float8_e4m3fn, e5m2=torch.float8_e5m2, s8=torch.int8, s32=torch.int32)
BYTES = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}

SQUARES = [(n, n, k) for n, ks in {
    16: (16, 64, 256, 1024, 4096), 32: (128, 512, 2048), 64: (64, 256, 1024, 4096), 128: (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192),
    256: (256, 1024, 4096), 512: (512, 1024, 4096), 1024: (256, 1024, 4096), 2048: (512, 2048), 4096: (1024, 4096)}.items() for k in ks]  # fmt: skip
DECODING = [(1, 4096, 4096), (2, 1024, 4096), (8, 4096, 4096), (16, 4096, 4096), (32, 4096, 4096), (64, 4096, 4096), (128, 4096, 4096)]
WIDE = [(1, 11008, 4096), (32, 4096, 11008), (256, 4096, 1024), (4096, 64, 4096), (4096, 256, 512)]
UNEVEN = [(104, 104, 104), (72, 72, 72), (200, 304, 504), (1000, 1000, 1000), (128, 256, 96), (48, 80, 112), (320, 192, 640), (96, 1536, 384)]
ODD = [(24, 40, 2000), (144, 1024, 1536), (33, 65, 129), (100, 100, 100), (127, 127, 127), (17, 31, 1001)]
SHAPES = SQUARES + DECODING + WIDE + UNEVEN + ODD


def operations():
    """Call, formats of A, B and the result, layout."""
    for a in ("f16", "bf16"):
        for layout in ("nn", "nt"):
            yield "mm", a, a, a, layout
            yield "mm", a, a, "f32", layout
        yield "mm_full", a, a, a, "nt"
        yield "addmm", a, a, a, "nt"
    for layout in ("nn", "nt"):
        yield "mm", "tf32", "tf32", "f32", layout
        yield "mm", "f32", "f32", "f32", layout
        yield "int_mm", "s8", "s8", "s32", layout
    yield "mm", "f64", "f64", "f64", "nn"
    for fast in ("_fast", ""):
        for a, b in (("e4m3", "e4m3"), ("e5m2", "e4m3"), ("e4m3", "e5m2")):
            yield "scaled_mm" + fast, a, b, "f32", "nt"
        yield "scaled_mm" + fast, "e4m3", "e4m3", "bf16", "nt"
        yield "scaled_mm_rows" + fast, "e4m3", "e4m3", "bf16", "nt"


def drawn(format, operand, count, made={}):
    """One long array of every format and operand: the products take its beginning."""
    if (format, operand) not in made:
        codes = OPERANDS["draw"](format, operand, np.arange(max(m * k if operand == 1 else n * k for m, n, k in SHAPES)))
        made[format, operand] = torch.from_numpy(codes.view(f"i{codes.itemsize}")).cuda().view(DTYPES[format])
    return made[format, operand][:count]


def multiply(call, a, b, out, bias):
    full = call == "mm_full"
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = not full
    if call == "addmm":
        return torch.addmm(bias, a, b)
    if call == "int_mm":
        return torch._int_mm(a, b)
    if call.startswith("scaled_mm"):
        rows, columns = ((a.shape[0], 1), (1, b.shape[1])) if "rows" in call else ((), ())
        scales = torch.ones(rows, device="cuda"), torch.ones(columns, device="cuda")
        return torch._scaled_mm(a, b, scale_a=scales[0], scale_b=scales[1], out_dtype=out, use_fast_accum=call.endswith("fast"))
    return torch.mm(a, b) if a.dtype == out else torch.mm(a, b, out_dtype=out)


def answer(operation, shape):
    call, of_a, of_b, out, layout = operation
    m, n, k = shape
    torch.backends.cuda.matmul.allow_tf32 = of_a == "tf32"
    a = drawn(of_a, OPERANDS["FIRST"], m * k).reshape(m, k)
    b = drawn(of_b, OPERANDS["SECOND"], n * k)
    bias = drawn(of_a, OPERANDS["BIAS"], n) if call == "addmm" else None
    d = multiply(call, a, b.reshape(n, k).t() if layout == "nt" else b.reshape(k, n), DTYPES[out], bias)
    rows, columns = (torch.from_numpy(OPERANDS["sample"](size)).cuda() for size in (m, n))
    return d[rows][:, columns].contiguous().view(BYTES[d.element_size()]).cpu().numpy()


def main():
    path, calls = sys.argv[1], sys.argv[2:]
    results, refused = {}, {}
    for operation in operations():
        for shape in SHAPES:
            name = " ".join(operation) + " " + "x".join(map(str, shape))
            if not calls or operation[0] in calls:
                try:
                    results[name] = answer(operation, shape)
                except RuntimeError as error:  # this call has no such shape
                    refused[name] = str(error).split("\n")[0]
        print(*operation, len(results), flush=True)
    versions = f"torch {torch.__version__} (CUDA {torch.version.cuda}, its cuBLAS), one {torch.cuda.get_device_name()}"
    np.savez(path, versions=json.dumps(versions), refused=json.dumps(refused), **results)


if __name__ == "__main__":
    main()
