"""Which calls of attention that lab/libraries/ask_attention.py brought from a card are reproduced: lines for the table in python/warpmat/measured.

    python3 lab/libraries/table_attention.py results.npz...

A call is reproduced if both draws of its operands give the card's bits. The orders of "math" are looked for with a few rows of one draw, for up to
eight heads.
"""

import sys
import zlib
from itertools import chain, product

import numpy as np
from table import text_of

from warpmat._attention import math_attention
from warpmat._measured_operands import QUERIES_KEYS_VALUES, draw, sample, sample_heads
from warpmat.formats import array_of, codes_of
from warpmat.libraries import Attention, MeasuredAttention, _heads
from warpmat.summation import Summation, rounded, widened

FEW = 8
PLAIN = Summation("fma")
LIKELY = [Summation("fma", slices=slices, tile_k=tile) for slices, tile in ((4, 32), (8, 64), (16, 16))]
LIKELY += [Summation("fma", split_k=parts, tile_k=tile) for tile in (64, 32, 16, 8, 4) for parts in (2, 3, 4, 5, 6, 8)]


def drawn(format, shape, first):
    places = np.arange(int(np.prod(shape))).reshape(shape)[sample_heads(shape[0])]
    numbers = (array_of(draw(format, first + operand, places), format) for operand in QUERIES_KEYS_VALUES)
    return [codes_of(rounded(widened(each) / np.float32(8), format), format) for each in numbers]


def reproduced(answers, call, shape, orders):
    """The checksum of the table's operands, or None."""
    measured = MeasuredAttention(orders, None)
    for first in (0, 10):
        found = codes_of(_heads(call, measured, drawn(call.format, shape, first)), call.format)[:, sample(shape[1])]
        if not np.array_equal(found.view(np.uint16), answers[key(call, shape, first)].view(np.uint16)):
            return None
    return zlib.crc32(np.ascontiguousarray(answers[key(call, shape, 0)]).tobytes())


def key(call, shape, first):
    return f"{call.backend} {call.format} {'causal' if call.causal else 'all'} {'x'.join(map(str, shape))} {first}"


def orders_of(k):
    """Of sums of f32, as GEMMs were seen to have them."""
    yield from [PLAIN, *LIKELY[:3]]
    for tile in (64, 32, 16, 8, 4):
        for parts in range(2, 33):
            if -(-k // tile) >= parts:
                yield Summation("fma", split_k=parts, tile_k=tile)


def math_orders(answers, shape):
    """The orders of both products that give a few rows, and then all results of the four calls: those of f32 depend on no format and no mask."""
    call = Attention("math", "f16", False)
    q, k, v = (array_of(codes[0], "f16") for codes in drawn("f16", shape, 0))
    rows = sample(shape[1])[-FEW:]
    few, held = array_of(codes_of(q, "f16")[rows], "f16"), answers[key(call, shape, 0)][0, -FEW:].view(np.uint16)
    singles = [((one, PLAIN) for one in orders_of(shape[2])), ((PLAIN, other) for other in orders_of(shape[1]))]
    for orders in chain(*singles, product(LIKELY, LIKELY)):
        if np.array_equal(codes_of(math_attention(few, k, v, "f16", False, orders), "f16").view(np.uint16), held):
            if all(reproduced(answers, call._replace(format=format, causal=causal), shape, orders) for format in ("f16", "bf16") for causal in (False, True)):
                return orders
    return None


def main():
    answers = {name: array for path in sys.argv[1:] for name, array in np.load(path).items()}
    lines, orders = {}, {}
    for name in (name for name in answers if name.endswith(" 0")):
        backend, format, mask, size, _ = name.split()
        call, shape = Attention(backend, format, mask == "causal"), tuple(map(int, size.split("x")))
        if backend != "flash_attention" and shape[0] > 8:
            continue
        if backend == "math" and shape not in orders:
            orders[shape] = math_orders(answers, shape)
        of_call = orders.get(shape) if backend == "math" else None
        known = backend == "flash_attention" or of_call is not None
        checksum = reproduced(answers, call, shape, of_call) if known else None
        words = ["attention " + " ".join((backend, format, mask))] + ([text_of(each) for each in of_call] if checksum and of_call else [])
        lines.setdefault("|".join(words), []).append(f"{size}:{'unknown' if checksum is None else f'{checksum:08x}'}")
        print(name, words[1:], checksum, file=sys.stderr, flush=True)
    for call, shapes in lines.items():
        print(f"{call}|{' '.join(shapes)}")


if __name__ == "__main__":
    main()
