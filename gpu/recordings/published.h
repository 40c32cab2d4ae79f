#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/runners/runner.h"

namespace warpmat {

/// Dot products that others computed on one GPU and published, all of one form. tests/vectors/published/README.md names the source.
struct PublishedProducts {
  struct Product {
    std::vector<std::uint64_t> a, b;  ///< bits in the multiplicands' formats; their number is the form's K
    std::uint64_t c = 0, result = 0;  ///< bits of the result's format
    friend bool operator==(const Product&, const Product&) = default;
  };

  std::string gpu;                 ///< "V100"
  const Target* target = nullptr;  ///< that GPU's target
  const Form* form = nullptr;
  std::vector<Product> products;
};

/// The tables *.tsv.gz of `directory`, in the order of their names and columns. Throws std::runtime_error naming the file and the error in
/// it.
std::vector<PublishedProducts> read_published(const std::filesystem::path& directory);

/// The target of a GPU of the tables: "V100" is sm_70. Throws std::runtime_error for an unknown GPU.
const Target& published_target(std::string_view gpu);

/// The form that computed dot products of `k` elements.
const Form& published_form(Format multiplicands, std::size_t k, Format result);

/// States of `program`, which program_for made from the form. Every warp has some of the products, each as a row of A, a column of B and
/// the element of C at their crossing; all else is zero.
WarpStates states_of(const Program& program, const PublishedProducts& published);

/// The bits of result number `product` in a runner's output for these states.
std::uint64_t result_bits(const Program& program, const PublishedProducts& published, const WarpStates& states, std::size_t product);

}  // namespace warpmat
