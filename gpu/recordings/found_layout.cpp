#include "gpu/recordings/found_layout.h"

#include <algorithm>
#include <span>
#include <vector>

#include <fmt/core.h>

#include "gpu/cases/index_bits.h"
#include "gpu/runners/emulator_runner.h"

namespace warpmat {
namespace {

/// The element at `place` of the answer of one warp: words of 32 lanes in the registers' order.
std::uint64_t element_bits(const Fragment& f, std::span<const std::uint32_t> words, const Place& place) {
  const auto word = [&](int number) { return std::uint64_t{words[static_cast<std::size_t>(number * warp_size + place.lane)]}; };
  if (f.register_bits() == 64) return word(2 * place.reg) | word(2 * place.reg + 1) << 32;
  return word(place.reg) >> place.bit & ((std::uint64_t{1} << f.element_bits()) - 1);
}

/// The result of one load.
struct Example {
  std::vector<std::uint32_t> by_emulator;  ///< in the form table's layout, so each element is known
  std::vector<std::uint32_t> by_card;
};

/// Finds meanings of the index bits of places, from low to high, under which every place holds its element in every example.
class Search {
 public:
  Search(const Fragment& known, std::span<const Example> examples) : known_(known), examples_(examples) {}

  std::optional<Fragment> run() {
    if (!holds(0, {}) || !extend()) return std::nullopt;
    return fragment_of(known_, meanings_);
  }

 private:
  bool extend() {
    if (static_cast<int>(meanings_.size()) == index_bit_count(known_)) return true;
    for (const IndexBit& candidate : unused()) {
      meanings_.push_back(candidate);
      if (explains_new_places() && extend()) return true;
      meanings_.pop_back();
    }
    return false;
  }

  /// Bits of rows and columns without a place yet, and a copy bit while enough places remain for them.
  std::vector<IndexBit> unused() const {
    std::vector<IndexBit> candidates;
    int copies = 0;
    for (const IndexBit& m : meanings_) copies += m.axis == Axis::copy;
    for (const Axis axis : {Axis::column, Axis::row})
      for (int bit = 0; bit < log2_exact(axis == Axis::column ? known_.columns() : known_.rows()); ++bit)
        if (std::ranges::none_of(meanings_, [&](const IndexBit& m) { return m.axis == axis && m.bit == bit; }))
          candidates.push_back({axis, bit});
    if (copies < log2_exact(known_.copies())) candidates.push_back({Axis::copy, copies});
    return candidates;
  }

  bool explains_new_places() const {
    const unsigned first = 1U << (meanings_.size() - 1);
    for (unsigned index = first; index < 2 * first; ++index) {
      Element element;
      for (std::size_t i = 0; i < meanings_.size(); ++i) {
        const int set = static_cast<int>(index >> i & 1) << meanings_[i].bit;
        if (meanings_[i].axis == Axis::row) element.row |= set;
        if (meanings_[i].axis == Axis::column) element.column |= set;
      }
      if (!holds(index, element)) return false;
    }
    return true;
  }

  bool holds(unsigned index, const Element& element) const {
    return std::ranges::all_of(examples_, [&](const Example& e) {
      return element_bits(known_, e.by_card, place_of(known_, index)) == element_bits(known_, e.by_emulator, known_.place(element));
    });
  }

  const Fragment& known_;
  std::span<const Example> examples_;
  std::vector<IndexBit> meanings_;
};

/// The emulator's answers paired with the recorded ones.
std::vector<Example> examples_of(const Form& form, const Provenance& provenance, const Answers& answers) {
  const Program program = program_for(form, target(provenance.target), *find_operand_class(answers.operand_class), answers.variant);
  EmulatorRunner emulator(0, 1);
  std::vector<Example> examples;
  for (std::size_t i = 0; i < answers.examples.size(); ++i) {
    WarpStates states =
        make_case(program, form, *find_operand_class(answers.operand_class), provenance.seed, answers.example_warp(i), 1, 0);
    emulator.run(program, states);
    examples.push_back({answer_words(program, states, 0), answers.examples[i]});
    if (examples.back().by_card.size() != examples.back().by_emulator.size()) return {};
  }
  return examples;
}

}  // namespace

std::optional<Fragment> layout_of_loads(const Provenance& provenance, const Answers& answers) {
  const Form& form = *find_form(answers.opcode);
  const std::vector<Example> examples = examples_of(form, provenance, answers);
  if (examples.empty()) return std::nullopt;
  return Search(form.operand(OperandName::r).fragment, examples).run();
}

std::string layout_text(const Form& form, const Fragment& fragment) {
  const char row = form.matrix == OperandName::b ? 'k' : 'm', column = form.matrix == OperandName::a ? 'k' : 'n';
  const auto inside = static_cast<std::size_t>(fragment.inside_bits());
  std::string text = inside == 0 ? "-" : "";
  const std::vector<IndexBit> bits = index_bits(fragment);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (i == inside || i == inside + Fragment::lane_bits) text += " |";
    text += text.empty() ? "" : " ";
    text += bits[i].axis == Axis::copy ? "copy" : fmt::format("{}{}", bits[i].axis == Axis::row ? row : column, bits[i].bit);
  }
  return text;
}

}  // namespace warpmat
