"""What bits do five cards give for one small fp8 product?"""

import numpy as np
import warpmat

rng = np.random.default_rng(0)
a, b = (warpmat.encode(rng.standard_normal(shape), "e4m3") for shape in ((1, 64), (64, 1)))
for card in ("RTX 4090", "H100", "B200", "RTX 5090", "L4"):
    bits = warpmat.matmul(a, b, card=card).view(np.uint32)[0, 0]
    print(f"{card:9} {bits:08x}  {warpmat.product(card, 'e4m3').opcode.split('.')[0]}, {warpmat.product(card, 'e4m3').label}")
