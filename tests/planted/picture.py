"""Draws docs/use/debug_tile.svg: the way of a tile through f16_ldmatrix with PLANT 2, from global memory to the registers of ldmatrix."""

CELL, ROW, LEFT, TOP, GAP = 44, 26, 40, 64, 56
ROWS = CHUNKS = 8  # of 16 bytes
FILL = ("#dbe9f6", "#b3d1ea", "#fde3c8", "#f9c48f", "#d5ecd4", "#a8d5a5", "#e6dcf0", "#c9b5de")


def written(row, chunk):
    """Where the copies put a chunk: place() of f16_ldmatrix.cu."""
    return chunk ^ (row & 7)


def read(row, chunk):
    """Where ldmatrix takes it from with PLANT 2."""
    return chunk ^ (row >> 1 & 7)


def picture():
    held = [[0] * CHUNKS for _ in range(ROWS)]
    for row in range(ROWS):
        for chunk in range(CHUNKS):
            held[row][written(row, chunk)] = chunk
    arrived = [[held[row][read(row, chunk)] for chunk in range(CHUNKS)] for row in range(ROWS)]
    panels = [
        ("A in global memory", "row r, chunk c: A[r, 8c to 8c+7]", [list(range(CHUNKS)) for _ in range(ROWS)]),
        ("copy, line 13, to c ^ r", "which chunk lies in a_tile", held),
        ("ldmatrix, line 31, from c ^ (r >> 1)", "which chunk arrives as chunk c", arrived),
    ]
    width, height = LEFT + 3 * CHUNKS * CELL + 2 * GAP + 10, TOP + ROWS * ROW + 44
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for row in range(ROWS):
        out.append(f'<text x="8" y="{TOP + row * ROW + 18}">r {row}</text>')
    for number, (title, caption, chunks) in enumerate(panels):
        x = LEFT + number * (CHUNKS * CELL + GAP)
        out.append(f'<text x="{x}" y="20" font-weight="bold">{title.replace(">", "&gt;")}</text>')
        out.append(f'<text x="{x}" y="38" fill="#555">{caption}</text>')
        for chunk in range(CHUNKS):
            out.append(f'<text x="{x + chunk * CELL + 16}" y="{TOP - 6}" fill="#555">{"c " + str(chunk) if number != 1 else chunk * 16}</text>')
        for row in range(ROWS):
            for at, chunk in enumerate(chunks[row]):
                wrong = number == 2 and chunk != at
                stroke = 'stroke="#c00000" stroke-width="2"' if wrong else 'stroke="white"'
                left, top = x + at * CELL, TOP + row * ROW
                out.append(f'<rect x="{left + 1}" y="{top + 1}" width="{CELL - 2}" height="{ROW - 2}" fill="{FILL[chunk]}" {stroke}/>')
                out.append(f'<text x="{left + 10}" y="{top + 18}">{row},{8 * chunk}</text>')
    bad = sum(chunk != at for row in arrived for at, chunk in enumerate(row))
    out.append(f'<text x="{LEFT}" y="{TOP + ROWS * ROW + 28}">A cell says the first element of its 16 bytes, row and column of A. '
               f"Red: {bad} of {ROWS * CHUNKS} chunks arrive in another's place.</text>")
    return "\n".join(out + ["</svg>"]) + "\n"
