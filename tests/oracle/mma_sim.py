#!/usr/bin/env python3
"""Compares tcgen05.mma with MMA-Sim, which its authors compared with a B200.

    git clone https://github.com/microsoft/MMA-Sim
    tests/oracle/mma_sim.py MMA-Sim --warpmat build/release/warpmat --outputs 1000000

MMA-Sim's own classes compute, unchanged. They call a few functions of PyTorch, element by element; the class Tensor here stands in for it, so
that PyTorch is not needed and a million outputs take minutes. warpmat computes with `warpmat exec`. Every output is compared in every bit.

One rule is known to differ and is counted by itself. MMA-Sim gives zero terms an exponent (its source says "TODO: handle zero"), so a group of
4-bit products that add up to zero takes part in the alignment by its scale factors, and a C of zero as 2^-126; in warpmat they are no terms
(docs/reference/numerics.md).
"""

import argparse
import math
import pathlib
import subprocess
import sys
import tempfile
import types

import numpy as np

# ---- What MMA-Sim uses of PyTorch ------------------------------------------------------------------------------------------------------


class Tensor:
    """Numbers of a dtype: a NumPy array, or a float for one number. Integers where the elements are bits."""

    __slots__ = ("data", "dtype", "parts", "bits")

    def __init__(self, data, dtype, bits=None):
        self.data, self.dtype, self.parts, self.bits = data, dtype, {}, bits

    shape = property(lambda self: self.data.shape)

    def numel(self):
        return self.data.size if isinstance(self.data, np.ndarray) else 1

    def item(self):
        return self.data.item() if isinstance(self.data, np.ndarray) else self.data

    def cpu(self):
        return self

    def double(self):
        return self

    def abs(self):
        return Tensor(abs(self.data), self.dtype)

    def any(self):
        return bool(np.any(self.data))

    def sum(self):
        return Tensor(float(np.sum(self.data)), self.dtype)

    def to(self, dtype):
        assert dtype == self.dtype
        return self

    def view(self, dtype):
        if isinstance(self.data, int):  # tensor(bits, dtype=...).view(float)
            return Tensor(math.nan, dtype, self.data)
        if dtype == "int32":
            return Tensor(self.data.astype(np.float32).view(np.int32), dtype)
        return Tensor(self.data.view(np.float32).astype(np.float64), dtype)

    def __getitem__(self, key):
        key = tuple(":" if isinstance(k, slice) and k == slice(None) else k for k in key) if isinstance(key, tuple) else key
        if isinstance(key, slice):
            return Tensor(self.data[key], self.dtype)
        if key not in self.parts:
            at = tuple(slice(None) if k == ":" else k for k in key) if isinstance(key, tuple) else key
            data = self.data[at]
            self.parts[key] = Tensor(np.ascontiguousarray(data) if isinstance(data, np.ndarray) and data.ndim else data.item(), self.dtype)
        return self.parts[key]

    def __setitem__(self, key, value):
        self.data[key] = value.item() if isinstance(value, Tensor) else value

    def with_data(self, data):
        return Tensor(data, self.dtype)

    __mul__ = lambda self, other: self.with_data(self.data * other.data)
    __add__ = lambda self, other: self.with_data(self.data + other.data)
    __rshift__ = lambda self, count: self.with_data(self.data >> count)
    __lshift__ = lambda self, count: self.with_data(self.data << count)
    __and__ = lambda self, mask: self.with_data(self.data & mask)


class Result:
    """The D that MMA-Sim fills: bits."""

    def __init__(self, shape, dtype):
        self.dtype, self.bits = dtype, np.zeros(shape, np.uint16 if dtype == "float16" else np.uint32)
        self.row = 0

    def __getitem__(self, row):
        self.row = row
        return self

    def __setitem__(self, column, value):
        if value.bits is not None:
            bits = value.bits
        else:
            with np.errstate(over="ignore"):
                bits = np.float16(value.data).view(np.uint16) if self.dtype == "float16" else np.float32(value.data).view(np.uint32)
        self.bits[self.row, column] = bits


def stand_in():
    """A module `torch` whose dtypes are their names."""
    torch = types.ModuleType("torch")
    torch.__getattr__ = lambda name: name  # float32, float8_e4m3fn, ...
    torch.Tensor, torch.dtype = Tensor, str
    torch.tensor = lambda value, dtype="float32": Tensor(value, dtype)
    torch.isnan = lambda t: Tensor(np.isnan(t.data), "bool")
    torch.isinf = lambda t: Tensor(np.isinf(t.data), "bool")
    torch.zeros = lambda shape, dtype="float32": Result(shape, dtype) if isinstance(shape, tuple) else Tensor(np.zeros(shape), dtype)
    return torch


# ---- Formats ---------------------------------------------------------------------------------------------------------------------------


def small_float(exponent_bits, fraction_bits, infinities):
    """The values of all bit patterns of a format with a sign bit."""
    bias = 2 ** (exponent_bits - 1) - 1
    values = []
    for bits in range(2 ** (1 + exponent_bits + fraction_bits)):
        stored, fraction = bits >> fraction_bits & 2**exponent_bits - 1, bits & 2**fraction_bits - 1
        value = math.ldexp(fraction + (2**fraction_bits if stored else 0), max(stored, 1) - bias - fraction_bits)
        if infinities and stored == 2**exponent_bits - 1:
            value = math.nan if fraction else math.inf
        elif (exponent_bits, fraction_bits) == (4, 3) and bits & 0x7F == 0x7F:
            value = math.nan
        values.append(-value if bits >> (exponent_bits + fraction_bits) else value)
    return np.array(values)


def of_table(table):
    return lambda bits: table[bits]


E4M3, E2M1 = small_float(4, 3, False), small_float(2, 1, False)
FORMATS = {  # bits, their values
    "f16": (np.uint16, lambda bits: bits.view(np.float16).astype(np.float64)),
    "bf16": (np.uint16, lambda bits: (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)),
    "tf32": (np.uint32, lambda bits: bits.view(np.float32).astype(np.float64)),
    "f32": (np.uint32, lambda bits: bits.view(np.float32).astype(np.float64)),
    "e4m3": (np.uint8, of_table(E4M3)),
    "e5m2": (np.uint8, of_table(small_float(5, 2, True))),
    "e2m1": (np.uint8, of_table(E2M1)),
    "ue8m0": (np.uint8, of_table(np.array([math.ldexp(1, i - 127) for i in range(255)] + [math.nan]))),
    "ue4m3": (np.uint8, of_table(np.abs(E4M3))),
}
CODES = {"f16": 0, "bf16": 1, "tf32": 2, "e4m3": 0, "e5m2": 1}


def draw(random, name, shape, spread):
    """Random bits; where the format has many exponents, most of them `spread` about 1, and some of everything."""
    dtype = FORMATS[name][0]
    bits = random.integers(0, 256 ** np.dtype(dtype).itemsize, shape, dtype=dtype)
    if name == "e2m1":
        return bits & 15
    if name == "ue4m3":
        return bits & 127
    first, width, one = {"f16": (10, 5, 15), "bf16": (7, 8, 127), "tf32": (23, 8, 127), "f32": (23, 8, 127), "ue8m0": (0, 8, 127)}.get(
        name, (0, 0, 0)
    )
    if width:
        exponents = one + random.integers(-spread, spread + 1, shape)
        near = (bits & ~dtype((2**width - 1) << first)) | (exponents << first).astype(dtype)
        bits = np.where(random.random(shape) < 0.002, bits, near.astype(dtype))
    keep = random.random(shape) >= 0.05
    return bits if name == "ue8m0" else np.where(keep, bits, 0).astype(dtype)


# ---- The comparison --------------------------------------------------------------------------------------------------------------------

PRODUCTS = [  # kind, qualifier of MMA-Sim, types of D, A, B and scales
    ("f16", "m128n{n}k16.f32.f16.f16", "f32", "f16", None),
    ("f16", "m128n{n}k16.f32.bf16.bf16", "f32", "bf16", None),
    ("f16", "m128n{n}k16.f16.f16.f16", "f16", "f16", None),
    ("tf32", "m128n{n}k8.f32.tf32.tf32", "f32", "tf32", None),
    ("f8f6f4", "m128n{n}k32.f32.e4m3.e4m3", "f32", "e4m3", None),
    ("f8f6f4", "m128n{n}k32.f32.e5m2.e5m2", "f32", "e5m2", None),
    ("f8f6f4", "m128n{n}k32.f16.e4m3.e4m3", "f16", "e4m3", None),
    ("mxf8f6f4", "m128n{n}k32.block32.f32.e4m3.e4m3.ue8m0", "f32", "e4m3", "ue8m0"),
    ("mxf8f6f4", "m128n{n}k32.block32.f32.e5m2.e5m2.ue8m0", "f32", "e5m2", "ue8m0"),
    ("mxf4", "m128n{n}k64.block32.f32.e2m1.e2m1.ue8m0", "f32", "e2m1", "ue8m0"),
    ("mxf4nvf4", "m128n{n}k64.block16.f32.e2m1.e2m1.ue4m3", "f32", "e2m1", "ue4m3"),
    ("mxf4nvf4", "m128n{n}k64.block16.f32.e2m1.e2m1.ue8m0", "f32", "e2m1", "ue8m0"),
]


def statement(kind, d, element, scale, n, vector):
    """The opcode and the instruction descriptor (PTX ISA 9.1 tables 42 to 44)."""
    code = 1 if element == "e2m1" else CODES[element]
    bits = code << 7 | code << 10 | (n // 8) << 17 | 8 << 24
    if scale is None:
        return f"tcgen05.mma.cta_group::1.kind::{kind}", bits | (d == "f32") << 4
    return f"tcgen05.mma.cta_group::1.kind::{kind}.block_scale.scale_vec::{vector}X", bits | (scale == "ue8m0") << 23


def exponents_of(values, least):
    """As MMA-Sim has them: none is below `least`, and a zero has -126."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(values == 0, -126, np.maximum(np.floor(np.log2(np.abs(values))), least))


def zero_term_decides(a, b, scale_a, scale_b, least, c):
    """For each output whether a term that is zero, among others that are not, has the largest exponent in MMA-Sim. `least`: of a scale."""
    m, k = a.shape
    groups = k // 16
    sums = np.einsum("igk,gkj->gij", a.reshape(m, groups, 16), b.reshape(groups, 16, -1))
    repeat = groups // scale_a.shape[1]
    scale_a, scale_b = np.repeat(scale_a, repeat, 1).T[:, :, None], np.repeat(scale_b, repeat, 0)[:, None, :]
    is_zero = np.concatenate([(sums == 0) | (scale_a == 0) | (scale_b == 0), (c == 0)[None]])
    exponents = np.concatenate([exponents_of(scale_a, least) + exponents_of(scale_b, least) + 0 * sums, exponents_of(c, -126)[None]])
    largest = np.where(is_zero, -np.inf, exponents).max(0)
    return (np.where(is_zero, exponents, -np.inf).max(0) > largest) & ~is_zero.all(0)


def compare(simulator, warpmat, product, n, random, directory):
    """One product of 128 rows and n columns: outputs, those that differ, those of them that a zero term decides."""
    kind, qualifier, d, element, scale = product
    of_simulator = (simulator.tcgen05mma if scale is None else simulator.tcgen05mma_block_scale)("Blackwell", qualifier.format(n=n))
    m, k = 128, of_simulator.k
    spread = int(random.choice([1, 4, 12]))
    bits = {"a": draw(random, element, (m, k), spread), "b": draw(random, element, (k, n), spread), "c": draw(random, d, (m, n), spread + 4)}
    vector = 0
    if scale is not None:
        vector = k // of_simulator.block_size
        bits["scale-a"], bits["scale-b"] = draw(random, scale, (m, vector), spread), draw(random, scale, (vector, n), spread)
    types_of = {"a": element, "b": element, "c": d, "scale-a": scale, "scale-b": scale}
    values = {name: FORMATS[types_of[name]][1](array) for name, array in bits.items()}
    opcode, descriptor = statement(kind, d, element, scale, n, vector)
    command = [warpmat, "exec", opcode, "--descriptor", hex(descriptor), "--target", "sm_100a", "--as", "bits", "--quiet", "--jobs", "1"]
    for name, array in bits.items():
        np.save(directory / f"{name}.npy", array[None])
        command += [f"--{name}", f"{directory / name}.npy:bits"]
    subprocess.run(command + ["--d", str(directory / "d.npy")], check=True)
    got = np.load(directory / "d.npy")[0]
    tensors = {name: Tensor(array, getattr(of_simulator, {"a": "a_type", "b": "b_type", "c": "c_type"}.get(name, "s_type")))
               for name, array in values.items()}
    if element == "e2m1":  # two in a byte along K, the lower one first
        tensors["a"] = Tensor(bits["a"][:, 0::2] | bits["a"][:, 1::2] << 4, tensors["a"].dtype)
        tensors["b"] = Tensor(bits["b"][0::2] | bits["b"][1::2] << 4, tensors["b"].dtype)
    expected = of_simulator(*tensors.values()).bits
    differs = got != expected
    known = np.zeros_like(differs)
    if element == "e2m1":
        least = -6 if scale == "ue4m3" else -127
        known = differs & zero_term_decides(values["a"], values["b"], values["scale-a"], values["scale-b"], least, values["c"])
    for row, column in np.argwhere(differs & ~known)[:3]:
        print(f"  {qualifier.format(n=n)}: row {row}, column {column}: warpmat {got[row, column]:#x}, MMA-Sim {expected[row, column]:#x}")
    return differs.size, int((differs & ~known).sum()), int(known.sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=pathlib.Path, help="of MMA-Sim")
    parser.add_argument("--warpmat", default="build/release/warpmat")
    parser.add_argument("--outputs", type=int, default=10000, help="of each kind, at least")
    parser.add_argument("--columns", type=int, default=64, help="N of each product")
    parser.add_argument("--kind", default="", help="f16, tf32, f8f6f4, mxf8f6f4, mxf4 or mxf4nvf4 (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    sys.path.insert(0, str(options.checkout))
    sys.modules["torch"] = stand_in()
    from mmasim.simulator import nv_ptx as simulator

    unpack, unpacked = simulator.unpack_fp4_tensor, {}  # once for each row and column, not for each output

    def unpack_once(packed):
        if id(packed) not in unpacked:
            unpacked[id(packed)] = (packed, unpack(packed))  # which keeps the row, so that no other has its id
        return unpacked[id(packed)][1]

    simulator.unpack_fp4_tensor = unpack_once
    wrong = 0
    random = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory() as directory:
        for product in [product for product in PRODUCTS if options.kind in ("", product[0])]:
            unpacked.clear()
            of_kind = sum(other[0] == product[0] for other in PRODUCTS)
            counts = np.zeros(3, int)
            while counts[0] * of_kind < options.outputs:
                counts += compare(simulator, options.warpmat, product, options.columns, random, pathlib.Path(directory))
            print(f"kind::{product[0]} {product[1].format(n=options.columns)}: {counts[0]} outputs, {counts[1]} differ, "
                  f"{counts[2]} besides, where a term of zero decides", flush=True)
            wrong += counts[1]
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
