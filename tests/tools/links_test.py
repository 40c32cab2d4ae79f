#!/usr/bin/env python3
"""tools/links finds each kind of dead link, and no other: links_test.py SOURCE"""

import pathlib
import subprocess
import sys
import tempfile

PAGES = {
    "index.md": """# Index of `all`, here
[page](sub/page.md) [heading](sub/page.md#a-heading-it-has-2-words) [own](#index-of-all-here) [web](https://example.org/none)
```sh
[no](link.md)
```
[gone](sub/gone.md) [no heading](sub/page.md#gone) [no own](#gone) [out](../out.md)
""",
    "sub/page.md": "# A heading: it has 2 words\n[back](../index.md)\n",
}

with tempfile.TemporaryDirectory() as folder:
    for name, text in PAGES.items():
        page = pathlib.Path(folder, "top", name)
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text)
    pathlib.Path(folder, "out.md").write_text("out of the folder")
    run = subprocess.run([sys.executable, pathlib.Path(sys.argv[1], "tools/links"), pathlib.Path(folder, "top")], capture_output=True, text=True)

expected = ["index.md: sub/gone.md", "index.md: sub/page.md#gone", "index.md: #gone", "index.md: ../out.md", "2 pages, 4 dead links"]
assert run.stdout.splitlines() == expected, run.stdout + run.stderr
assert run.returncode == 1
