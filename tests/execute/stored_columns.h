#pragma once

#include <warpmat/instruction.h>

#include <vector>

// Sparse metadata by the text and figures of PTX ISA 9.7.14.6, `element_bits` being those of an element with its container.

/// The metadata code of group `group` in row `row` of A, of `groups` groups a row.
inline unsigned metadata_code(int element_bits, int groups, const warpmat::Register& e, int selector, int row, int group) {
  int lane = 4 * (row % 8), nibble = 0;
  if (element_bits >= 16) {
    lane += groups == 4 ? selector : 2 * selector + group / 4;
    nibble = group % 4 + 4 * (row / 8);
  } else {
    lane += (groups == 8 ? 2 * selector : 2 * (group / 8)) + row / 8;
    nibble = group % 8;
  }
  return e[static_cast<std::size_t>(lane)] >> (4 * nibble) & 0xF;
}

/// The columns of the expanded A that the stored elements of one row belong to.
inline std::vector<int> stored_columns(int element_bits, int k, const warpmat::Register& e, int selector, int row) {
  const int group_columns = element_bits == 32 ? 2 : element_bits == 4 ? 8 : 4;
  std::vector<int> columns;
  for (int group = 0; group < k / group_columns; ++group) {
    const int code = static_cast<int>(metadata_code(element_bits, k / group_columns, e, selector, row, group)),
              first = group * group_columns;
    if (element_bits == 32) {
      columns.push_back(first + (code == 0x4 ? 0 : 1));
      continue;
    }
    for (const int place : {code % 4, code / 4})
      if (element_bits == 4)
        columns.insert(columns.end(), {first + 2 * place, first + 2 * place + 1});
      else
        columns.push_back(first + place);
  }
  return columns;
}
