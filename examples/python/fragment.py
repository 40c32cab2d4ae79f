"""Which lane and register hold each element of a fragment? The last line of a notebook's cell shows it as a table in colours."""

import warpmat

layout = warpmat.layout("mma.m16n8k16.f16", "a")
print(layout)
picture = layout._repr_html_()
assert "T4 r0" in picture
