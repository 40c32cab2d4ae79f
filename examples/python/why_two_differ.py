"""Why do an A100 and an H100 give different bits for the same instruction?"""

import numpy as np
import warpmat

rng = np.random.default_rng(1)
a, b = rng.standard_normal((16, 16)).astype(np.float16), rng.standard_normal((16, 8)).astype(np.float16)
found = warpmat.explain("mma.m16n8k16.f16", "A100", a, b, row=0, column=0, against="H100")
print(found.difference)
print(found)
