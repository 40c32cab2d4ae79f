#include <warpmat/execute/scalar_form.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include <warpmat/execute/fast/lane_registers.h>
#include <warpmat/execute/instruction_operands.h>
#include <warpmat/numeric/persistent.h>
#include <warpmat/numeric/rounding_mode.h>
#include <warpmat/scalar/by_instruction_set.h>
#include <warpmat/text.h>

namespace warpmat::inline v0_1 {

using catalogue::Match;
using catalogue::OperandPattern;

namespace {

constexpr std::string_view number_name = "lut";  // of a row: an immediate

InstructionOperand::Kind kind_of(const DataType& type, const OperandPattern& pattern) {
  if (pattern.implicit) return InstructionOperand::Kind::carry;
  if (type.is_predicate()) return InstructionOperand::Kind::predicate;
  return pattern.name == number_name ? InstructionOperand::Kind::number : InstructionOperand::Kind::value;
}

/// Bits of a register of the operand.
int register_bits(const DataType& type) {
  return type.is_predicate() ? 1 : std::max(type.bits, 16);
}

}  // namespace

ScalarForm::ScalarForm(const Match& match) : opcode_(in_order(match)), pattern_(match.pattern), function_(match.pattern->row.function) {
  if (function_ == nullptr) executable_ = catalogue::executable(match);
  std::optional<std::size_t> carry;
  std::size_t words = 0;
  const auto add_operand = [&](InstructionOperand operand) {
    first_words_.push_back(static_cast<std::uint8_t>(words));
    words += static_cast<std::size_t>(operand.words());
    operands_.push_back(operand);
  };
  // The text's first, then the carry, which may be a source and a result.
  for (const OperandPattern& pattern : pattern_->operands) {
    if (pattern.implicit) continue;
    const DataType& type = match.type_of(pattern);
    const int count = pattern.count == 0 ? match.vector() : pattern.count;
    add_operand(InstructionOperands::scalar(pattern.name, kind_of(type, pattern), type, count, register_bits(type), pattern.result,
                                            pattern.optional));
  }
  std::size_t next = 0;
  for (const OperandPattern& pattern : pattern_->operands) {
    if (!pattern.implicit) {
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
  if (operands_.size() > most_operands || results_.size() >= most_operands || sources_.size() >= most_operands || words > most_words)
    throw std::logic_error(format_text("{} has more operands or words than a ScalarForm holds", opcode_));
}

void ScalarForm::add(const Match& match, const OperandPattern& pattern, std::size_t number) {
  const InstructionOperand& operand = operands_[number];
  const DataType& type = match.type_of(pattern);
  const int each = operand.words() / operand.registers();
  for (int i = 0; i < operand.registers(); ++i) {
    Place place{static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(first_words_[number] + i * each),
                static_cast<std::uint8_t>(each), register_bits(type) == 1, operand.kind() == InstructionOperand::Kind::number};
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

std::optional<std::string> scalar_refusal(const Match& match) {
  if (!match.pattern->hidden && catalogue::computes(match.pattern->row.semantics)) return std::nullopt;
  return format_text("'{}' needs a program around it, for memory, other lanes or control flow: it is a statement of a list or of a kernel",
                     match.opcode);
}

const ScalarForm& scalar_form(const Match& match) {
  using Spellings = PersistentMap<std::string, ScalarForm>;  // of one row
  static constinit scalar::ByInstructionSet<std::unique_ptr<Spellings[]>> all;
  const auto& rows = all.get([] { return std::make_unique<Spellings[]>(catalogue::patterns().size()); });
  const auto number = static_cast<std::size_t>(match.pattern - catalogue::patterns().data());
  return rows[number].get(in_order(match), [&] { return ScalarForm(match); });
}

}  // namespace warpmat::inline v0_1
