#pragma once

#include <warpmat/execute/explain.h>

#include <string>
#include <vector>

namespace warpmat {

// The sentences and tables that explanation_text and explanation_html share.

/// How the bits of the result are known, and by which machine instructions they come about.
std::vector<std::string> machine_sentences(const Explanation& explanation);

/// The title of step `number`, counted from 0: "Step 1 of 2: 8 products and C in one addition".
std::string step_title(const Explanation& explanation, std::size_t number);

/// What a step's products are: a row a product, of those that are not zero.
struct ProductTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::string zeros;  ///< a sentence about the products that are zero, or empty
};
ProductTable product_table(const Explanation& explanation, const ExplainedStep& step);

/// What is aligned to what; empty where nothing is.
std::vector<std::string> alignment_sentences(const Explanation& explanation, const ExplainedStep& step);

/// How the step ends, with the result's bits.
std::string result_sentence(const Explanation& explanation, const ExplainedStep& step);

/// What data movement did.
std::vector<std::string> move_sentences(const Explanation& explanation);

/// "0x3f800000 (1)"
std::string bits_text(Format format, std::uint64_t bits);

}  // namespace warpmat
