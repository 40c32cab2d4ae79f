"""The same transformer block with the arithmetic of several GPUs: how far its logits differ, and with one arithmetic not at all.

A block of attention and an MLP, and a projection to a vocabulary. Every matrix product is warpmat.matmul, of which the GPU decides the bits;
with --gpu it is warpmat.cuda.matmul, on this machine's GPU. All else is f32 in elementary operations whose bits are the same everywhere.
"""

import hashlib
import sys
from typing import Any, Callable, Dict, NamedTuple, Tuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Matmul = Callable[..., Any]

TOKENS, WIDTH, HEADS, VOCABULARY = 256, 256, 4, 4096

WMMA = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"
F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
BF16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
E4M3 = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"


class Arithmetic(NamedTuple):
    """What a product of matrices is computed with."""

    format: str
    target: str
    opcode: str


ARITHMETICS = [
    *(Arithmetic("f16", target, opcode) for target, opcode in (("sm_70", WMMA), ("sm_80", F16), ("sm_89", F16), ("sm_90", F16), ("sm_100a", F16))),
    *(Arithmetic("bf16", target, BF16) for target in ("sm_80", "sm_89", "sm_90", "sm_100a")),
    *(Arithmetic("e4m3", target, E4M3) for target in ("sm_89", "sm_90", "sm_100a")),
]


def draw(seed: int, rows: int, columns: int) -> Array:
    """Numbers that look normally distributed: sums of bytes of a counter's hash."""
    z = (np.arange(rows * columns, dtype=np.uint64) + np.uint64(seed << 32)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    drawn: Array = np.zeros(rows * columns)
    for i in range(8):
        drawn += ((z >> np.uint64(8 * i)) & np.uint64(255)).astype(np.float64) - 127.5
    return (drawn / 209.0).astype(np.float32).reshape(rows, columns)


def bf16(x: Array) -> Array:
    u = x.astype(np.float32).view(np.uint32)
    codes: Array = ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)
    return codes


def e4m3(x: Array) -> Array:
    """To nearest even, beyond 448 to 448."""
    magnitude = np.minimum(np.abs(x.astype(np.float64)), 448.0)
    exponent = np.maximum(np.frexp(magnitude)[1] - 1, -6)
    step = np.ldexp(1.0, exponent - 3)
    eighths = np.rint(magnitude / step)  # 16 carries into the exponent by itself
    codes: Array = (eighths + np.where(eighths >= 8, 8.0 * (exponent + 6), 0.0)).astype(np.uint8)
    codes[np.signbit(x)] |= 128
    return codes


def product(matmul: Matmul, arithmetic: Arithmetic, a: Array, b: Array) -> Array:
    """A B with operands rounded to the format. Operands of e4m3 are scaled by powers of two to at most 448."""
    if arithmetic.format == "e4m3":
        scales = [8 - int(np.frexp(np.abs(x).max())[1]) for x in (a, b)]
        operands = [e4m3(np.ldexp(x, scale)) for x, scale in zip((a, b), scales)]
    else:
        scales = [0, 0]
        operands = [bf16(x) if arithmetic.format == "bf16" else x.astype(np.float16) for x in (a, b)]
    d = matmul(*operands, instruction=arithmetic.opcode, card=arithmetic.target)
    result: Array = np.ldexp(d, -sum(scales)).astype(np.float32)
    return result


def total(x: Array) -> Array:
    """The sum of each row, from left to right."""
    sums: Array = np.add.accumulate(x, axis=-1)[..., -1:]
    return sums


def exponential(x: Array) -> Array:
    """e to the x in f64, by elementary operations."""
    wide = x.astype(np.float64)
    k = np.rint(wide * 1.4426950408889634)
    r = (wide - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10
    result: Array = np.ones_like(r)
    for n in range(14, 0, -1):
        result = 1.0 + result * r / n
    result = np.ldexp(result, k.astype(np.int32))
    return result


def normalised(x: Array) -> Array:
    centered = x - total(x) / np.float32(x.shape[-1])
    result: Array = centered / np.sqrt(total(centered * centered) / np.float32(x.shape[-1]) + np.float32(1e-5))
    return result


def softmax(x: Array) -> Array:
    powers = exponential(x - x.max(axis=-1, keepdims=True))
    shares: Array = (powers / total(powers)).astype(np.float32)
    return shares


def gelu(x: Array) -> Array:
    result: Array = (x / (1.0 + exponential(-1.702 * x.astype(np.float64)))).astype(np.float32)
    return result


def weights() -> Dict[str, Array]:
    shapes = {"q": WIDTH, "k": WIDTH, "v": WIDTH, "out": WIDTH, "up": 4 * WIDTH, "down": WIDTH, "vocabulary": VOCABULARY}
    rows = {name: 4 * WIDTH if name == "down" else WIDTH for name in shapes}
    return {name: draw(2 + i, rows[name], n) / np.float32(rows[name] ** 0.5) for i, (name, n) in enumerate(shapes.items())}


def logits(matmul: Matmul, arithmetic: Arithmetic) -> Array:
    w = weights()

    def times(a: Array, b: Array) -> Array:
        return product(matmul, arithmetic, a, b)

    def heads(x: Array) -> Array:
        return np.ascontiguousarray(x.reshape(TOKENS, HEADS, -1).transpose(1, 0, 2))

    x = draw(1, TOKENS, WIDTH)
    y = normalised(x)
    q, k, v = (heads(times(y, w[name])) for name in "qkv")
    scores = times(q, np.ascontiguousarray(k.transpose(0, 2, 1))) * np.float32((WIDTH // HEADS) ** -0.5)
    mixed = times(softmax(scores), v).transpose(1, 0, 2).reshape(TOKENS, WIDTH)
    x = x + times(mixed, w["out"])
    x = x + times(gelu(times(normalised(x), w["up"])), w["down"])
    return times(normalised(x), w["vocabulary"])


def compared(x: Array, y: Array) -> Tuple[int, int, float, int]:
    """Logits that differ, the median distance of these in units in the last place of an f32, the greatest difference, and tokens whose
    greatest logit is another one."""
    ordered = [np.where(z.view(np.int32) < 0, -(z.view(np.int32).astype(np.int64) & 0x7FFFFFFF), z.view(np.int32).astype(np.int64)) for z in (x, y)]
    ulps = np.abs(ordered[0] - ordered[1])
    median = int(np.median(ulps[ulps != 0])) if ulps.any() else 0
    return int((ulps != 0).sum()), median, float(np.abs(x - y).max()), int((x.argmax(axis=-1) != y.argmax(axis=-1)).sum())


def on_gpu() -> Matmul:
    cupy = __import__("cupy")
    from warpmat import cuda

    def matmul(a: Array, b: Array, *, opcode: str, target: str) -> Array:
        result: Array = cupy.asnumpy(cuda.matmul(cupy.asarray(a), cupy.asarray(b), instruction=opcode, card=target))
        return result

    return matmul


def on_cpu() -> Matmul:
    import warpmat

    return warpmat.matmul


def main() -> None:
    matmul = on_gpu() if "--gpu" in sys.argv[1:] else on_cpu()
    found = {arithmetic: logits(matmul, arithmetic) for arithmetic in ARITHMETICS}
    print(f"{TOKENS} tokens, {TOKENS * VOCABULARY} logits; each line against the arithmetic of the line above it of the same format")
    before = None
    for arithmetic, values in found.items():
        digest = hashlib.sha256(values.tobytes()).hexdigest()[:16]
        line = f"{arithmetic.format:5} {arithmetic.target:8} sha256 {digest}  largest logit {np.abs(values).max():.3f}"
        if before is not None and before.format == arithmetic.format:
            count, median, difference, tokens = compared(found[before], values)
            line += f"  {count} differ from {before.target}: {median} ulp in the median, {difference:.2e} at most; another argmax for {tokens} tokens"
        print(line)
        before = arithmetic
    again = logits(matmul, ARITHMETICS[1])
    print(f"the same arithmetic again: {compared(found[ARITHMETICS[1]], again)[0]} differ")


if __name__ == "__main__":
    main()
