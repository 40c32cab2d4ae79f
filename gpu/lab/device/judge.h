#pragma once

#include <cstddef>

/// A form whose results on a card the CPU judges. Words of an operand in PTX's order; ids are {byte-id, thread-id}.
struct JudgedForm {
  const char* opcode;
  const char* target;
  int a_words, b_words, c_words, d_words;
  unsigned selector;
  unsigned ids_a[2], ids_b[2];
};

/// The number of words of D that differ from the CPU's, in `warps` warps of [warp][word][lane]: words of a, b, c, then one each of e,
/// scale_a and scale_b, then d. All warps are computed by vector instructions, the first ones by the reference, too. Writes the first
/// difference to `first` as a line of at most `size` bytes, unless it holds one.
extern "C" unsigned long long warpmat_judge(const JudgedForm* form, const unsigned* answers, std::size_t warps, char* first,
                                            std::size_t size);
