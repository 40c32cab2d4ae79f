"""The orders of sums that give what lab/libraries/ask.py brought from a card: a table for python/warpmat/measured.

    python3 lab/libraries/table.py results.npz "torch 2.11, H200" sm_90a > python/warpmat/measured/torch-2.11-h200.txt

Results of 16 bits say little of an order, so that the order of the same product in f32 is tried first.
"""

import json
import sys
import zlib
from dataclasses import fields

import numpy as np

import warpmat
from warpmat._ordered_sums import sums_of
from warpmat.libraries import Operation, array_in, operands
from warpmat.summation import Summation, stored


def sibling(operation):
    """The operation whose results in f32 are sums of the same products."""
    call = operation.call.replace("_rows", "").replace("_full", "").replace("addmm", "mm")
    return operation._replace(call=call, out="f32") if operation.out in ("f16", "bf16") else None


def order_of(operation, shape, result, likely, target):
    codes = result.view(f"u{result.itemsize}")
    held = array_in(operation.out, codes.view(np.int32) if operation.out == "s32" else codes)
    a, b, bias = operands(operation, shape)
    if likely is not None and warpmat.testing.difference(stored(sums_of(a, b, likely, target), bias, operation.out), held) == "":
        return likely
    matches = warpmat.identify(held, a, b, bias=bias, cards=[target]).matches
    return matches[0].summation if matches else None


def text_of(order):
    if order is None:
        return "unknown"
    words = [".".join(dict.fromkeys(order.instruction.split(".")))]  # of two equal formats one
    for field in fields(Summation)[1:]:
        value = getattr(order, field.name)
        if value != field.default:
            words.append(field.name if value is True else f"{field.name}={value}")
    return " ".join(words)


def main():
    path, name, target = sys.argv[1:]
    answers = np.load(path)
    print(f"# name: {name}", f"# target: {target}", f"# versions: {json.loads(str(answers['versions']))}", sep="\n")
    print("# operation: call, A, B, result, layout | order of sums | m x n x k : CRC-32 of the sampled elements. _measured_operands.py has the operands.")
    print("# orders: found by identify() from the results alone; unknown where none gives all bits.")
    orders, lines = {}, {}
    for key in sorted(set(answers.files) - {"versions", "refused"}, key=lambda key: key.split()[3] != "f32"):
        *words, sizes = key.split()
        operation, shape = Operation(*words), tuple(map(int, sizes.split("x")))
        order = order_of(operation, shape, answers[key], orders.get((sibling(operation), shape)), target)
        orders[operation, shape] = order
        lines.setdefault((operation, text_of(order)), []).append(f"{sizes}:{zlib.crc32(answers[key].tobytes()):08x}")
        print(key, text_of(order), file=sys.stderr)
    for (operation, order), shapes in lines.items():
        print(" ".join(operation), "|", order, "|", " ".join(shapes))


if __name__ == "__main__":
    main()
