"use strict";
// Where elements lie, by the rules in `tables.layouts`. Nothing here knows the page.
//
// An element is {row, column, matrix}. A place is {warp, lane, reg, bit} in registers, {lane, bit} in a row in memory whose address that lane
// holds, or {address, bit} in shared memory. `bit` is the lowest one of the element.

const layouts = {
  /// Adds, modulo 2, what each bit of `index` leads to: steps of [warp, lane, register, bit].
  follow(numbers, steps, index) {
    for (let bit = 0; bit < steps.length; ++bit)
      if (index >> bit & 1) for (let i = 0; i < 4; ++i) numbers[i] ^= steps[bit][i];
  },

  /// The place of an element in rows, or in registers; of copies, where number `copy` lies.
  place(layout, element, copy = 0) {
    if (layout.kind === "rows") return {lane: element.matrix * layout.rows + element.row, bit: element.column * layout.element_bits};
    const numbers = [0, 0, 0, 0], {steps, tile} = layout;
    layouts.follow(numbers, steps.row, element.row);
    layouts.follow(numbers, steps.column, element.column % tile.columns);
    layouts.follow(numbers, steps.matrix, element.matrix);
    layouts.follow(numbers, steps.copy, copy);
    const [warp, lane, reg, bit] = numbers;
    return {warp, lane, reg: reg + Math.floor(element.column / tile.columns) * tile.registers, bit: bit + layout.payload_shift};
  },

  copies(layout) {
    return layout.kind === "registers" ? 1 << layout.steps.copy.length : 1;
  },

  /// The place in shared memory that a matrix descriptor of wgmma leads to, which starts at address 0: eight lines of `width` bytes one
  /// behind the other, then by two offsets; the chunks of 16 bytes exchanged (warpmat/layout.h).
  memoryPlace(layout, major, swizzle, element) {
    const {lines_are_rows, swizzles} = layout.majors[major];
    const {width, leading, stride} = swizzles[swizzle];
    const line = lines_are_rows ? element.row : element.column;
    const bits = (lines_are_rows ? element.column : element.row) * layout.element_bits;
    const byte = bits >> 3;
    const exchanged = major === "mn" && swizzle === "none";
    const linesOn = exchanged ? leading : stride, bytesOn = exchanged ? stride : leading;
    const linear = (line >> 3) * linesOn + (line & 7) * width + Math.floor(byte / width) * bytesOn + byte % width;
    return {address: linear ^ ((linear >> 7) & (width / 16 - 1)) << 4, bit: bits & 7};
  },

  elements(layout, matrix) {
    const all = [];
    for (let row = 0; row < layout.rows; ++row) for (let column = 0; column < layout.columns; ++column) all.push({row, column, matrix});
    return all;
  },
};
