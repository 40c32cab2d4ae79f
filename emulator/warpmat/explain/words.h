#pragma once

#include <string>
#include <vector>

#include <warpmat/explain.h>

namespace warpmat {

// The sentences and tables that explanation_text and the pages of tools/report share.

/// The element's name: "row 3, column 5 of d (lane 14, register 1) of mma...".
std::string what(const Explanation& explanation);

/// The evidence for the result's bits, and the machine instructions that compute it.
std::vector<std::string> machine_sentences(const Explanation& explanation);

/// The title of step `number`, counted from 0: "Step 1 of 2: 8 products and C in one addition".
std::string step_title(const Explanation& explanation, std::size_t number);

/// A step's products: a row for each nonzero product.
struct ProductTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::string zeros;  ///< a sentence about the products that are zero, or empty
};
ProductTable product_table(const Explanation& explanation, const ExplainedStep& step);

/// The alignment of the terms; empty if nothing is aligned.
std::vector<std::string> alignment_sentences(const Explanation& explanation, const ExplainedStep& step);

/// The end of the step, with the result's bits.
std::string result_sentence(const Explanation& explanation, const ExplainedStep& step);

/// The movement of the data.
std::vector<std::string> move_sentences(const Explanation& explanation);

/// "0x3f800000 (1)"
std::string bits_text(Format format, std::uint64_t bits);

}  // namespace warpmat
