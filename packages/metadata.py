"""Writes the metadata of an installed Python package, as pip would: metadata.py PYPROJECT VERSION DIRECTORY."""

import sys
import tomllib
from pathlib import Path


def main() -> None:
    pyproject, version, directory = sys.argv[1:]
    project = tomllib.loads(Path(pyproject).read_text())["project"]
    target = Path(directory)
    target.mkdir(parents=True, exist_ok=True)
    fields = {
        "Metadata-Version": "2.1",
        "Name": project["name"],
        "Version": version,
        "Summary": project["description"],
        "License": project["license"]["text"],
        "Requires-Python": project["requires-python"],
        "Requires-Dist": "numpy",
    }
    target.joinpath("METADATA").write_text("".join(f"{name}: {value}\n" for name, value in fields.items()))
    target.joinpath("INSTALLER").write_text("cpack\n")
    groups = [f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items()) for group, points in project["entry-points"].items()]
    target.joinpath("entry_points.txt").write_text("\n".join(groups))


main()
