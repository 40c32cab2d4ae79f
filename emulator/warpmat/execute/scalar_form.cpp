#include <warpmat/execute/scalar_form.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include <warpmat/execute/fast/lane_registers.h>
#include <warpmat/execute/instruction_operands.h>
#include <warpmat/numeric/persistent.h>
#include <warpmat/numeric/rounding_mode.h>
#include <warpmat/ptx/catalogue/restrictions.h>
#include <warpmat/scalar/by_instruction_set.h>
#include <warpmat/text.h>

namespace warpmat {

using catalogue::Match;
using catalogue::OperandPattern;

namespace {

bool is_access(const Match& match) {
  return match.pattern->row.semantics == catalogue::Semantics::load || match.pattern->row.semantics == catalogue::Semantics::store;
}

/// A load or store that has .shared, a type, perhaps .v2 or .v4, and no other qualifier, of at most 128 bits.
bool is_plain_access(const Match& match) {
  constexpr int widest_bits = 128, widest_register = 64, widest_vector = 4;
  const DataType& type = *match.types.back();
  const bool shared = match.has(".shared") || match.has(".shared::cta");
  const std::size_t expected = match.vector() == 1 ? 2 : 3;
  return shared && match.qualifiers.size() == expected && is_fundamental(type) && type.bits <= widest_register &&
         match.vector() <= widest_vector && type.bits * match.vector() <= widest_bits;
}

/// In PTX's order, which the rows of loads and stores do not have.
std::array<InstructionOperand, 2> operands_of_access(const Match& match, InstructionKind kind) {
  const bool loads = kind == InstructionKind::load;
  const InstructionOperand address = InstructionOperands::address("a");
  const InstructionOperand data = InstructionOperands::data(loads ? "d" : "b", *match.types.back(), match.vector(), loads);
  return loads ? std::array{data, address} : std::array{address, data};
}

/// The canonical opcode. .shared::cta is .shared.
std::string spelling_of(const Match& match) {
  if (!is_access(match)) return in_order(match);
  Match plain = match;
  std::ranges::replace(plain.qualifiers, std::string_view(".shared::cta"), std::string_view(".shared"));
  return in_order(plain);
}

/// The form of `match`: always the same object. Precondition: scalar_refusal(match) is nothing.
const ScalarForm& scalar_form(const Match& match) {
  using Spellings = PersistentMap<std::string, ScalarForm>;  // of one row
  static constinit scalar::ByInstructionSet<std::unique_ptr<Spellings[]>> all;
  const auto& rows = all.get([] { return std::make_unique<Spellings[]>(catalogue::patterns().size()); });
  const auto number = static_cast<std::size_t>(match.pattern - catalogue::patterns().data());
  return rows[number].get(spelling_of(match), [&] { return ScalarForm(match); });
}

}  // namespace

ScalarForm::ScalarForm(const Match& match)
    : opcode_(spelling_of(match)), kind_(*instruction_kind(match)), pattern_(match.pattern), function_(match.pattern->row.function) {
  // The text's operands first, then the carry, which may be a source and a result.
  if (is_access(match)) {
    for (const InstructionOperand& operand : operands_of_access(match, kind_)) add_operand(operand);
  } else {
    for (const OperandPattern& pattern : pattern_->operands)
      if (!pattern.implicit()) add_operand(InstructionOperands::scalar(match, pattern));
  }
  if (kind_ == InstructionKind::scalar) add_computed(match);
  find_neighbours();
  if (operands_.size() > most_operands || results_.size() >= most_operands || sources_.size() >= most_operands || words() > most_words)
    throw std::logic_error(format_text("{} has more operands or words than a ScalarForm holds", opcode_));
}

void ScalarForm::add_operand(const InstructionOperand& operand) {
  first_words_.push_back(static_cast<std::uint8_t>(words()));
  operands_.push_back(operand);
}

std::size_t ScalarForm::words() const {
  std::size_t words = 0;
  for (const InstructionOperand& operand : operands_) words += static_cast<std::size_t>(operand.words());
  return words;
}

/// What the row's function takes, and the carry.
void ScalarForm::add_computed(const Match& match) {
  if (function_ == nullptr) executable_ = catalogue::executable(match);
  std::optional<std::size_t> carry;
  std::size_t next = 0;
  for (const OperandPattern& pattern : pattern_->operands) {
    if (!pattern.implicit()) {
      add(match, pattern, next++);
      continue;
    }
    if (!carry) {
      carry = operands_.size();
      add_operand(InstructionOperands::carry(match.type_of(pattern)));
    }
    InstructionOperands::use(operands_[*carry], pattern.result);
    add(match, pattern, *carry);
  }
}

/// The last source may be left out where a row without it spells the same opcode.
void ScalarForm::find_neighbours() {
  const std::optional<Match> first = catalogue::find_row(opcode_);
  if (first->pattern == pattern_) {
    has_longer_ = catalogue::find_row(opcode_, pattern_->most_operands + 1)->pattern != pattern_;
    return;
  }
  shorter_ = &scalar_form(*first);
  if (shorter_->operands_.size() + 1 != operands_.size())
    throw std::logic_error(format_text("{} is spelled by two rows, of which one lacks more than a source", opcode_));
  InstructionOperands::leave_out(operands_.back());
}

catalogue::RowEvidence ScalarForm::evidence(Hardware hardware) const {
  const catalogue::RowEvidence own = catalogue::evidence_of(*pattern_, hardware);
  if (shorter_ == nullptr) return own;
  const catalogue::RowEvidence other = shorter_->evidence(hardware);
  return other.label < own.label ? other : own;
}

void ScalarForm::add(const Match& match, const OperandPattern& pattern, std::size_t number) {
  const InstructionOperand& operand = operands_[number];
  const DataType& type = match.type_of(pattern);
  const int each = operand.words() / operand.registers();
  for (int i = 0; i < operand.registers(); ++i) {
    Place place{static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(first_words_[number] + i * each),
                static_cast<std::uint8_t>(each), operand.register_bits() == 1, operand.kind() == InstructionOperand::Kind::number};
    // A register that may be wider is one of 32 bits here.
    if (pattern.result && pattern.may_be_wider && type.is_signed_integer() && type.bits < 32)
      place.sign_extended_from = static_cast<std::uint8_t>(type.bits);
    (pattern.result ? results_ : sources_).push_back(place);
  }
}

void ScalarForm::call(void* const* results, const void* const* sources) const {
  if (function_ != nullptr)
    function_(results, sources);
  else
    executable_.function(results, sources, executable_.modifiers);
}

namespace {

/// An operand as functions of the catalogue take it: 32 words, 32 or twice 32 double words, or a mask.
struct alignas(64) LaneValues {
  std::array<std::uint64_t, 2 * warp_size> bits;
};

LaneMask mask_of(const Register& words) {
  LaneMask mask = 0;
  for (std::size_t lane = 0; lane < warp_size; ++lane) mask |= static_cast<LaneMask>(words[lane] != 0) << lane;
  return mask;
}

void spread(LaneMask mask, Register& words) {
  for (std::size_t lane = 0; lane < warp_size; ++lane) words[lane] = mask >> lane & 1;
}

/// 64 bits from each two words, and back.
void join(std::span<const Register> words, LaneValues& value) {
  for (std::size_t i = 0; i < words.size(); i += 2)
    for (std::size_t lane = 0; lane < warp_size; ++lane)
      value.bits[i / 2 * warp_size + lane] = words[i][lane] | std::uint64_t{words[i + 1][lane]} << 32;
}
void split(const LaneValues& value, std::span<Register> words) {
  for (std::size_t i = 0; i < words.size(); i += 2)
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      const std::uint64_t bits = value.bits[i / 2 * warp_size + lane];
      words[i][lane] = static_cast<std::uint32_t>(bits);
      words[i + 1][lane] = static_cast<std::uint32_t>(bits >> 32);
    }
}

void sign_extend(Register& words, int bits) {
  const int unused = 32 - bits;
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(static_cast<std::int32_t>(word << unused) >> unused);
}

}  // namespace

/// Executes on the words of one warp, which stand in `staged`. Words of results are written there.
void ScalarForm::execute_one(std::span<Register> staged, std::span<const RegisterView> operands) const {
  std::array<LaneValues, most_operands> source_values, result_values;
  std::array<LaneMask, most_operands> source_masks{}, result_masks{};
  std::array<const void*, most_operands> sources{};
  std::array<void*, most_operands> results{};  // a null pointer: left out, or the end of the list
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Place& place = sources_[i];
    if (operands[place.operand].is_empty()) continue;
    const std::span<Register> words = staged.subspan(place.first_word, place.words);
    if (place.is_number) words[0].fill(words[0][0]);
    if (place.is_mask) {
      source_masks[i] = mask_of(words[0]);
      sources[i] = &source_masks[i];
    } else if (place.words > 1) {
      join(words, source_values[i]);
      sources[i] = source_values[i].bits.data();
    } else {
      sources[i] = words[0].data();
    }
  }
  for (std::size_t i = 0; i < results_.size(); ++i) {
    if (operands[results_[i].operand].is_empty()) continue;
    results[i] = results_[i].is_mask ? static_cast<void*>(&result_masks[i]) : result_values[i].bits.data();
  }
  call(results.data(), sources.data());
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const Place& place = results_[i];
    if (results[i] == nullptr) continue;
    const std::span<Register> words = staged.subspan(place.first_word, place.words);
    if (place.is_mask) {
      spread(result_masks[i], words[0]);
    } else if (place.words > 1) {
      split(result_values[i], words);
    } else {
      std::copy_n(static_cast<const std::uint32_t*>(results[i]), warp_size, words[0].begin());
      if (place.sign_extended_from != 0) sign_extend(words[0], place.sign_extended_from);
    }
  }
}

void ScalarForm::execute(std::span<const RegisterView> operands, std::size_t warps, Path path) const {
  if (shorter_ != nullptr && operands[operands_.size() - 1].is_empty()) return shorter_->execute(operands, warps, path);
  std::array<Register, most_words> staged;
  const auto at = [&](std::size_t i, std::size_t warp) {
    LaneRegisters registers(operands[i], &staged[first_words_[i]], operands_[i].words());
    registers.go_to(warp);
    return registers;
  };
  const RoundingMode nearest(RoundingMode::nearest);
  for (std::size_t warp = 0; warp < warps; ++warp) {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (!operands_[i].is_read() || operands[i].is_empty()) continue;
      const LaneRegisters registers = at(i, warp);
      path == Path::fast ? fast_gather({&registers, 1}) : plain_gather({&registers, 1});
    }
    execute_one(staged, operands);
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (!operands_[i].is_written() || operands[i].is_empty()) continue;
      path == Path::fast ? fast_scatter(at(i, warp)) : plain_scatter(at(i, warp));
    }
  }
}

std::optional<InstructionKind> instruction_kind(const Match& match) {
  const catalogue::Semantics semantics = match.pattern->row.semantics;
  if (match.pattern->hidden) return std::nullopt;
  if (catalogue::computes(semantics)) return InstructionKind::scalar;
  if (is_access(match) && !is_plain_access(match)) return std::nullopt;
  if (semantics == catalogue::Semantics::load) return InstructionKind::load;
  if (semantics == catalogue::Semantics::store) return InstructionKind::store;
  if (catalogue::has(semantics, catalogue::fact::between_lanes)) return InstructionKind::lanes;
  return std::nullopt;
}

std::optional<std::string> scalar_refusal(const Match& match) {
  if (instruction_kind(match)) return std::nullopt;
  return format_text("'{}' needs a program around it, for memory, other lanes or control flow: it is a statement of a kernel",
                     match.opcode);
}

Instruction ScalarForm::instruction(const Match& match, const Target& target, PtxVersion version) {
  const ScalarForm& form = scalar_form(match);
  if (!form.has_longer_) return Instruction(form, target);
  const std::optional<Match> longer = catalogue::find_row(form.opcode_, match.pattern->most_operands + 1);
  return Instruction(catalogue::refusal(*longer, target, version) ? form : scalar_form(*longer), target);
}

}  // namespace warpmat
