"""`python3 -m warpmat`, and the command `warpmat` of a wheel: identify, which says whose bits a result has; all else is the package's command."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import List, Optional, Union

import numpy as np

from . import Bits, identify
from .formats import Array, find_format, numpy_dtype

_COMMAND = Path(__file__).resolve().parent / "bin" / "warpmat"


def _command() -> Optional[Path]:
    """The package's command; else one that is installed, which the script of a wheel without a command would hide."""
    if _COMMAND.exists():
        return _COMMAND
    for folder in os.get_exec_path():
        found = shutil.which("warpmat", path=folder)
        if found is not None and Path(found).read_bytes()[:2] != b"#!":  # scripts are this one, and those of other wheels
            return Path(found)
    return None


_EXAMPLES = """examples:
  warpmat identify d.npy a.npy b.npy
  warpmat identify d.npy a.npy b.npy --formats bf16,e4m3,e4m3 --cards H100,B200
"""


def _read(path: str, format: Optional[str]) -> Union[Array, Bits]:
    array: Array = np.load(path, allow_pickle=False)
    if format is None:
        return array
    dtype = find_format(format).codes if array.dtype.kind == "u" else numpy_dtype(format)
    if array.dtype != dtype:
        raise ValueError(f"{path} holds {array.dtype}; elements of {format} are {find_format(format).codes}, their bits")
    return Bits(array, format) if array.dtype.kind == "u" else array


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="warpmat", description="This package has no other command: it was built without WARPMAT_BUILD_TOOLS, and PATH has none.")
    commands = parser.add_subparsers(dest="command", required=True)
    text = "which card's arithmetic, instruction and order of K give D = A B exactly"
    command = commands.add_parser("identify", help=text, description=text, epilog=_EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, shape in (("D", "m x n, as it was stored"), ("A", "m x k"), ("B", "k x n")):
        command.add_argument(name, help=f".npy, {shape}")
    command.add_argument("--bias", metavar="FILE", help=".npy, n numbers that were added in f32 before D was stored")
    command.add_argument("--formats", metavar="D,A,B", help="formats of files whose elements are bit patterns (uint8, uint16)")
    command.add_argument("--cards", metavar="NAMES", help="cards or targets that come into question, with commas; default all")
    return parser


def main(arguments: Optional[List[str]] = None) -> int:
    """Status 0: something gives D; 1: nothing that is tried; 2: no answer, for a reason on standard error. All but identify becomes a command."""
    words = sys.argv[1:] if arguments is None else arguments
    command = None if words[:1] == ["identify"] else _command()
    if command is not None:
        sys.stdout.flush()
        os.execv(command, ["warpmat", *words])
    given = _parser().parse_args(words)
    try:
        formats: List[Optional[str]] = given.formats.split(",") if given.formats else [None] * 3
        if len(formats) != 3:
            raise ValueError(f"--formats names {len(formats)} formats; those of D, A and B would be right")
        d, a, b = (_read(path, format) for path, format in zip((given.D, given.A, given.B), formats))
        bias = None if given.bias is None else _read(given.bias, None)
        found = identify(d, a, b, bias=bias, cards=given.cards.split(",") if given.cards else None)
    except (OSError, ValueError, TypeError) as error:
        print(f"warpmat: {error}", file=sys.stderr)
        return 2
    print(found)
    return 0 if found.matches else 1


if __name__ == "__main__":
    sys.exit(main())
