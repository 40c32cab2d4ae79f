"""Whether identify() names the card of results that the emulator made, of drawn cards, formats, shapes and orders: right, wrong, unknown.

    python3 lab/libraries/simulate.py SEED COUNT

A result is right if its card and instruction are among the matches, whose orders are computed again; unknown if nothing matches; else wrong.
"""

import sys
from collections import Counter
from dataclasses import replace

import numpy as np

import warpmat
from warpmat._ordered_sums import sums_of
from warpmat.summation import Summation, rounded

CARDS = ["sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_120a"]
FORMATS = ["f16", "bf16", "tf32", "e4m3", "e5m2", "e2m1", "s8"]
UNITS = ["", "mma"]


def drawn(rng, shape, format):
    numbers = rng.standard_normal(shape) * np.exp2(rng.integers(-3, 3, shape))
    if format == "s8":
        return rng.integers(-128, 128, shape, np.int8)
    return numbers.astype(np.float32) if format == "tf32" else warpmat.encode(numbers, format)


def multiplies(card, format, unit):
    """Whether the card has such a product."""
    try:
        return warpmat.product(card, format, instruction=unit or None)
    except ValueError:
        return None


def order_of(rng, found, k):
    """One of the orders that libraries were seen to have."""
    tile, parts = int(rng.choice([32, 64, 128])), int(rng.integers(2, 6))
    orders = [{}, {"split_k": parts, "tile_k": tile}]
    if k % tile:
        orders.append({"tile_k": tile, "residue_first": True})
    if found.a in ("e4m3", "e5m2") and found.out == "f32":
        orders.append({"promote_every": 128 // found.shape[2]})
    return orders[rng.integers(len(orders))]


def question(rng, card, format):
    found = None
    while found is None:
        unit = str(rng.choice(UNITS))
        found = multiplies(card, format, unit) or multiplies(card, format, "")
        unit = unit if multiplies(card, format, unit) else ""
    words = ".".join(word for word in (unit, format) if word)
    m, n, k = int(rng.integers(8, 64)), int(rng.integers(8, 64)), int(rng.choice([64, 128, 200, 256, 512, 768, 1000, 1024, 2048, 4096]))
    a, b = drawn(rng, (m, k), format), drawn(rng, (k, n), format)
    order = Summation(words, rounded=format == "tf32", **order_of(rng, found, k))
    store = "s32" if format == "s8" else str(rng.choice(["f32", "f32", "f16", "bf16"]))
    return rounded(sums_of(a, b, order, found.target), store), a, b, order, found, store


def verdict(result, a, b, found, store):
    matches = warpmat.identify(result, a, b).matches
    for match in matches:
        for owner in match.owners or [""]:
            order = match.summation_of(owner) if owner else match.summation
            again = rounded(sums_of(a, b, replace(order, workspace=match.summation.workspace), owner), store)
            if warpmat.testing.difference(again, result):
                return "wrong"
    if not matches:
        return "unknown"
    named = [match.owners[found.target].opcode for match in matches if found.target in match.owners]
    return "right" if named else "wrong"


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    pairs = [(card, format) for card in CARDS for format in FORMATS if multiplies(card, format, "")]
    tally = Counter()
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        card, format = pairs[number % len(pairs)]
        result, a, b, order, found, store = question(rng, card, format)
        answer = verdict(result, a, b, found, store)
        tally[card, answer] += 1
        print(number, card, found.opcode, f"{result.shape[0]}x{result.shape[1]}x{np.shape(b)[0]}", order, store, answer, sep=" | ", flush=True)
    for card in CARDS:
        print(card, {answer: tally[card, answer] for answer in ("right", "wrong", "unknown")})
    print({answer: sum(tally[card, answer] for card in CARDS) for answer in ("right", "wrong", "unknown")}, "of", count)


if __name__ == "__main__":
    main()
