"""Whole-number matrices in the formats of kernels, .npy files of them, and plain products to compare with: the oracle of tests/planted/run.

Nothing here calls warpmat. A matrix is a list of rows of numbers.
"""

import ast
import math
import random
import re
import struct

NPY = {"f16": "<f2", "bf16": "<u2", "f32": "<f4", "s8": "|i1", "s32": "<i4", "u16": "<u2", "e4m3": "|u1", "ue8m0": "|u1"}
LARGEST = {"f16": 3, "bf16": 3, "f32": 3, "s8": 7, "e4m3": 3}  # of a random element; small enough that every sum is exact


def _minifloat(value, exponent_bits, fraction_bits):
    """The code of a number that the format has exactly."""
    if value == 0:
        return 0
    fraction, exponent = math.frexp(abs(value))  # value = fraction * 2**exponent, fraction in [0.5, 1)
    bias = 2 ** (exponent_bits - 1) - 1
    code = int((2 * fraction - 1) * 2**fraction_bits) | (exponent - 1 + bias) << fraction_bits
    return code | (value < 0) << (exponent_bits + fraction_bits)


def _bytes_of(value, format):
    if format == "bf16":
        return struct.pack("<f", value)[2:]
    if format == "e4m3":
        return bytes([_minifloat(value, 4, 3)])
    if format == "ue8m0":
        return bytes([127 + int(math.log2(value))])
    return struct.pack({"f16": "<e", "f32": "<f", "s8": "<b", "s32": "<i", "u16": "<H"}[format], value)


def shape_of(description):
    """("f16", (64, 32)) of "f16:64x32"."""
    format, shape = description.split(":")
    return format, tuple(map(int, shape.split("x")))


def write_npy(path, matrix, format):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }" % (NPY[format], len(matrix), len(matrix[0]))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(b"".join(_bytes_of(value, format) for row in matrix for value in row))


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10 : 10 + length].decode())
    rows, columns = header["shape"]
    values = struct.unpack("<%d%s" % (rows * columns, {"<f2": "e", "<f4": "f", "<i4": "i"}[header["descr"]]), data[10 + length :])
    return [list(values[r * columns : (r + 1) * columns]) for r in range(rows)]


def random_matrix(description, seed, positive=False):
    format, (rows, columns) = shape_of(description)
    draw = random.Random(seed)
    if format == "ue8m0":
        return [[2.0 ** draw.randint(-1, 2) for _ in range(columns)] for _ in range(rows)]
    if format == "u16":  # ordered metadata: four groups, in each of them two different positions of 2 bits, the lower one first
        pairs = [first | second << 2 for first in range(4) for second in range(first + 1, 4)]
        return [[sum(draw.choice(pairs) << 4 * group for group in range(4)) for _ in range(columns)] for _ in range(rows)]
    return [[draw.randint(1 if positive else -LARGEST[format], LARGEST[format]) for _ in range(columns)] for _ in range(rows)]


def transposed(matrix):
    return [list(row) for row in zip(*matrix)]


def product(a, b):
    columns = transposed(b)
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def _gemm(kernel, data):
    """By the kernel's "gemm", "C=A*B^T:64x64x32": A, B as they are stored, ^T for a factor that is stored transposed."""
    c, a, a_transposed, b, b_transposed, shape = re.fullmatch(r"(\w+)=(\w+)(\^T)?\*(\w+)(\^T)?:(.+)", kernel["gemm"]).groups()
    left = transposed(data[a]) if a_transposed else data[a]
    right = transposed(data[b]) if b_transposed else data[b]
    m, n, k = map(int, shape.split("x"))
    assert (len(left), len(left[0]), len(right), len(right[0])) == (m, k, k, n), kernel["name"]
    return {c: product(left, right)}


def _scaled(matrix, scales):
    return [[value * row_scales[k // 32] for k, value in enumerate(row)] for row, row_scales in zip(matrix, scales)]


def _block_scaled(kernel, data):
    return {"C": product(_scaled(data["A"], data["SA"]), transposed(_scaled(data["B"], data["SB"])))}


def _sparse(kernel, data):
    whole = [[0] * (2 * len(row)) for row in data["A"]]
    for row, words, to in zip(data["A"], data["E"], whole):
        for i, value in enumerate(row):
            position = words[i // 8] >> 4 * (i // 2 % 4) + 2 * (i % 2) & 3
            to[i // 2 * 4 + position] = value
    return {"C": product(whole, transposed(data["B"]))}


def _attention(kernel, data):
    weights = []
    for row in product(data["Q"], transposed(data["K"])):
        exponentials = [math.exp((x - max(row)) / 8) for x in row]
        weights.append([x / sum(exponentials) for x in exponentials])
    return {"O": product(weights, data["V"])}


def _convolution(kernel, data):
    """3 x 3 taps with padding 1, over images of 8 x 8: X by pixels, F by filters, Y by outputs."""
    height = width = 8
    result = []
    for m in range(len(data["X"])):
        n, p, q = m // (height * width), m // width % height, m % width
        window = []
        for h in (p - 1, p, p + 1):
            for w in (q - 1, q, q + 1):
                inside = 0 <= h < height and 0 <= w < width
                window += data["X"][(n * height + h) * width + w] if inside else [0] * len(data["X"][0])
        result.append([sum(x * f for x, f in zip(window, filter)) for filter in data["F"]])
    return {"Y": result}


REFERENCES = {"conv_f16": _convolution, "mxf8_scales": _block_scaled, "sparse_f16": _sparse, "attention": _attention}


def reference(kernel, data):
    """What the kernel's outputs must hold."""
    return REFERENCES.get(kernel["name"], _gemm)(kernel, data)


def differing(got, expected, tolerance):
    """How many elements are further apart than the tolerance allows, a part of what is expected; a NaN is."""
    return sum(not abs(x - y) <= tolerance * abs(y) for a, b in zip(got, expected) for x, y in zip(a, b))
