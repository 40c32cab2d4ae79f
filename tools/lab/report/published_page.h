#pragma once

#include <string>
#include <vector>

#include "gpu/lab/mutants/mutants.h"
#include "gpu/recordings/published.h"

namespace warpmat {

/// The verdict of the published products of one kind on mutants of the form's arithmetic in the emulator.
struct PublishedVerdict {
  std::vector<std::string> refuted;      ///< Mutant::change: some published result is another than the mutant's
  std::vector<std::string> not_refuted;  ///< all results are the mutant's too: the data cannot tell it from the emulator's arithmetic
};

PublishedVerdict verdict_on(const PublishedProducts& published);

/// The line of the page's table for these products.
std::string published_line(const PublishedProducts& published);

/// What is published, over which region of operands, and which mutants that refutes: Markdown. published_section() says what follows.
std::string published_page(const std::vector<PublishedProducts>& all);

}  // namespace warpmat
