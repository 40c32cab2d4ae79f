"""What torch's scaled_dot_product_attention gives on the card at hand, by each backend, for operands that python/warpmat/_measured_operands.py draws.

    python3 lab/libraries/ask_attention.py results.npz

Needs torch, NumPy and a GPU; not warpmat. Every shape (heads, length, depth) is asked twice: with the operands of the table, and with others, by
which a rule that was found can be judged. Of every result it keeps up to 64 rows of up to eight heads.
"""

import json
import runpy
import sys
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

ROOT = Path(__file__).resolve().parents[2]
OPERANDS = runpy.run_path(str(ROOT / "python/warpmat/_measured_operands.py"))
DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16}
BACKENDS = ["math", "flash_attention", "efficient_attention", "cudnn_attention"]
SHAPES = [(1, 16, 64), (1, 64, 64), (2, 128, 64), (1, 200, 64), (1, 256, 64), (1, 128, 128), (1, 512, 128), (2, 1024, 64)]
SHAPES += [(1, 17, 64), (1, 32, 64), (1, 48, 64), (1, 96, 64), (1, 100, 64), (4, 128, 64), (1, 160, 64), (3, 192, 64), (1, 224, 64), (8, 256, 64)]
SHAPES += [(1, 16, 128), (3, 33, 128), (1, 64, 128), (2, 96, 128), (4, 128, 128), (1, 192, 128), (1, 200, 128), (1, 256, 128), (8, 256, 128)]
SHAPES += [(64, 384, 64), (64, 512, 64), (128, 1024, 64), (64, 512, 128)]


@lru_cache(maxsize=None)
def codes(format, operand, count):
    return torch.from_numpy(OPERANDS["draw"](format, operand, np.arange(count)).view("i2")).cuda()


def drawn(format, operand, shape):
    """Numbers of the format, by eight: scores of a useful size. Every shape takes the beginning of one long array."""
    count = max(int(np.prod(each)) for each in SHAPES)
    return codes(format, operand, count)[: int(np.prod(shape))].reshape((1,) + shape).view(DTYPES[format]) * 0.125


def answer(backend, format, causal, shape, first):
    q, k, v = (drawn(format, first + operand, shape) for operand in OPERANDS["QUERIES_KEYS_VALUES"])
    with sdpa_kernel(getattr(SDPBackend, backend.upper())):
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)[0]
    heads, rows = (torch.from_numpy(places).cuda() for places in (OPERANDS["sample_heads"](shape[0]), OPERANDS["sample"](shape[1])))
    return out[heads][:, rows].contiguous().view(torch.int16).cpu().numpy()


def main():
    results, refused = {}, {}
    for backend in BACKENDS:
        for format in DTYPES:
            for causal in (False, True):
                for shape in SHAPES:
                    for first in (0, 10):
                        name = f"{backend} {format} {'causal' if causal else 'all'} {'x'.join(map(str, shape))} {first}"
                        try:
                            results[name] = answer(backend, format, causal, shape, first)
                        except RuntimeError as error:  # this backend has no such shape
                            refused[name] = str(error).split("\n")[0]
        print(backend, len(results), flush=True)
    versions = f"torch {torch.__version__} (CUDA {torch.version.cuda}), one {torch.cuda.get_device_name()}"
    np.savez(sys.argv[1], versions=json.dumps(versions), refused=json.dumps(refused), **results)


if __name__ == "__main__":
    main()
