#include "scalar/lanes.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <warpmat/numeric/rounding_mode.h>
#include <warpmat/ptx/catalogue/executable.h>

namespace {

constexpr std::size_t lane = 13;

struct Words {
  alignas(64) std::array<std::uint64_t, 32> bits{};
};

/// Writes an operand of `width` bits whose lane 13 is `value`; the others have it too where it is a number of the text.
void put(Words& words, int width, std::uint64_t value, bool is_number) {
  auto* const narrow = reinterpret_cast<std::uint32_t*>(words.bits.data());
  if (width == 1) {
    narrow[0] = static_cast<std::uint32_t>(0xa5a55a5a & ~(1u << lane)) | static_cast<std::uint32_t>(value & 1) << lane;
    return;
  }
  for (std::size_t i = 0; i < 32; ++i) {
    const std::uint64_t here = is_number ? value : value + i - lane;
    if (width == 64)
      words.bits[i] = here;
    else
      narrow[i] = static_cast<std::uint32_t>(here);
  }
}

std::uint64_t get(const Words& words, int width) {
  const auto* const narrow = reinterpret_cast<const std::uint32_t*>(words.bits.data());
  if (width == 1) return narrow[0] >> lane & 1;
  return width == 64 ? words.bits[lane] : narrow[lane];
}

}  // namespace

std::uint64_t run_scalar_lane(std::string_view opcode, std::initializer_list<std::uint64_t> sources, std::size_t result) {
  using namespace warpmat;
  const auto match = catalogue::find_row(opcode);
  if (!match) throw std::invalid_argument("no row spells " + std::string(opcode));
  const catalogue::Executable found = catalogue::executable(*match);
  std::vector<Words> source_words(sources.size()), result_words(4);
  std::vector<const void*> source_pointers;
  std::vector<void*> result_pointers;
  std::vector<int> result_widths;
  std::size_t next = 0;
  for (const catalogue::OperandPattern& pattern : match->pattern->operands) {
    const int width = match->type_of(pattern).bits;
    if (pattern.result) {
      result_pointers.push_back(result_words[result_pointers.size()].bits.data());
      result_widths.push_back(width);
      continue;
    }
    if (next == sources.size()) break;
    put(source_words[next], width, sources.begin()[next], pattern.name == "lut");
    source_pointers.push_back(source_words[next].bits.data());
    ++next;
  }
  const RoundingMode nearest(RoundingMode::nearest);
  found.function(result_pointers.data(), source_pointers.data(), found.modifiers);
  return get(result_words.at(result), result_widths.at(result));
}

std::uint64_t run_scalar_lane(std::string_view opcode, std::initializer_list<std::uint64_t> sources) {
  return run_scalar_lane(opcode, sources, 0);
}
