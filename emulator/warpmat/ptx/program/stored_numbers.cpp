#include <warpmat/ptx/program/stored_numbers.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>

#include <fmt/core.h>

#include <warpmat/ptx/program/control_flow.h>
#include <warpmat/ptx/program/folding_rules.h>
#include <warpmat/ptx/program/rewrite.h>

namespace warpmat::inline v0_1::code {

using catalogue::Match;
using catalogue::Semantics;

namespace {

/// Instructions that ptxas 13.0 makes several blocks of, unless they have the qualifier.
struct Sequence {
  std::string_view mnemonic, unless;
};
constexpr std::array sequences{Sequence{"div", ".full"},  Sequence{"rem", ""},     Sequence{"sqrt", ".ftz"}, Sequence{"rcp", ".ftz"},
                               Sequence{"rsqrt", ".ftz"}, Sequence{"lg2", ".ftz"}, Sequence{"ex2", ".ftz"}};

/// Instructions whose result of floating point ptxas takes for bits: the last step of a sequence, logic, a mask.
constexpr std::array writers_of_bits{"copysign", "set"};

bool is_sequence(const Match& match) {
  const auto* const found = std::ranges::find(sequences, std::string_view(match.pattern->mnemonic), &Sequence::mnemonic);
  if (found == sequences.end()) return false;
  const bool integer = !match.types[0]->is_floating();
  if (integer || has_rounding(match)) return true;
  return !match.has(found->unless) && match.types[0]->name == "f32";
}

/// Statements after which ptxas's block goes on.
bool goes_on(const DraftOperation& draft, const Match* match) {
  switch (draft.operation.semantics) {
    case Semantics::load:
    case Semantics::store:
    case Semantics::atomic: return !draft.operation.guarded;
    case Semantics::address_space: return true;
    case Semantics::compute:
    case Semantics::select: return match != nullptr && !is_sequence(*match) && match->pattern->mnemonic != "bfe";
    case Semantics::special: return draft.operation.detail != static_cast<std::uint32_t>(SpecialRegister::clock);
    default: return false;
  }
}

/// The type of a number that the statement writes into a register: "f16", "f32", "f64", or nothing.
std::string_view number_type(const Match* match) {
  if (match == nullptr || match->types.empty()) return {};
  const std::string_view mnemonic = match->pattern->mnemonic, type = match->types[0]->name;
  if (std::ranges::find(writers_of_bits, mnemonic) != writers_of_bits.end()) return {};
  const bool last_of_sequence = is_sequence(*match) && match->has(".approx");
  if (last_of_sequence || (mnemonic == "div" && match->has(".full"))) return {};
  return type == "f16" || type == "f32" || type == "f64" ? type : std::string_view{};
}

/// Of 64 bits, by a register.
bool is_long_shift(const DraftOperation& draft) {
  constexpr std::array<std::string_view, 4> shifts{"shl.b64", "shr.b64", "shr.u64", "shr.s64"};
  return draft.sources.size() == 2 && !is_constant(draft.sources[1]) && std::ranges::find(shifts, draft.opcode) != shifts.end();
}

/// Whether the operation may take a number for an integer: a store of fewer bits than its register has, or a shift by a register.
bool may_convert(const DraftOperation& draft, const ProgramDraft& program, const DraftFunction& function) {
  if (draft.operation.semantics != Semantics::store) return is_long_shift(draft);
  if (draft.operation.guarded || draft.sources.size() != 2 || is_constant(draft.sources[1])) return false;
  const DraftRegister& stored = function.registers[static_cast<std::size_t>(draft.sources[1])];
  const int bits = stored.register_class == RegisterClass::wide ? 64 : stored.bits == 16 ? 16 : 32;
  return program.program.accesses[draft.operation.detail].bytes * 8 < bits;
}

class StoredNumbers {
 public:
  StoredNumbers(DraftFunction& function, ProgramDraft& draft) : function_(function), draft_(draft) {}

  void run() {
    Rewrite rewrite(function_);
    std::vector<bool> has_label(function_.operations.size() + 1);
    for (const int label : function_.labels) has_label[static_cast<std::size_t>(label)] = true;
    for (int i = 0; i < static_cast<int>(function_.operations.size()); ++i) {
      rewrite.come_to(i);
      if (has_label[static_cast<std::size_t>(i)]) numbers_.clear();
      DraftOperation& draft = function_.operations[static_cast<std::size_t>(i)];
      const Match* match = draft_.match_of_statement(draft.operation.statement);
      if (const std::string conversion = conversion_of(draft, match); !conversion.empty()) {
        const Value stored = new_register(function_, {RegisterClass::word, 32});
        rewrite.out.push_back(draft_.make(conversion, {stored}, {draft.sources[1]}, draft));
        draft.sources[1] = stored;
        draft_.program.accesses[draft.operation.detail].register_bits = 32;
        draft_.program.folded.push_back({draft.operation.statement, Folded::Kind::converted, 0, true});
      }
      if (is_shift_by_number(draft)) convert_amount(draft, rewrite.out);
      note(draft, match);
      rewrite.out.push_back(std::move(draft));
    }
    rewrite.finish();
  }

 private:
  /// The cvt that ptxas puts in front of a store, or nothing.
  std::string conversion_of(const DraftOperation& draft, const Match* match) const {
    const bool stores = draft.operation.semantics == Semantics::store && !draft.operation.guarded;
    if (!stores || match == nullptr || draft.sources.size() != 2) return {};
    const auto number = numbers_.find(draft.sources[1]);
    const DataType& type = *match->types.back();
    if (number == numbers_.end() || type.is_floating()) return {};
    const int bits = number->second == "f16" ? 16 : number->second == "f32" ? 32 : 64;
    if (type.bits >= bits) return {};
    return fmt::format("cvt.rzi.{}{}.{}", type.is_signed_integer() ? "s" : "u", type.bits, number->second);
  }

  /// Of shifts of 64 bits ptxas converts an amount of f32; of others it takes the bits.
  bool is_shift_by_number(const DraftOperation& draft) const {
    if (!is_long_shift(draft)) return false;
    const auto number = numbers_.find(draft.sources[1]);
    return number != numbers_.end() && number->second == "f32";
  }

  /// F2I.U64.TRUNC, of which the shift takes the low word.
  void convert_amount(DraftOperation& shift, std::vector<DraftOperation>& out) {
    const Value wide = new_register(function_, {RegisterClass::wide, 64}), amount = new_register(function_, {RegisterClass::word, 32});
    out.push_back(draft_.make("cvt.rzi.u64.f32", {wide}, {shift.sources[1]}, shift));
    out.push_back(draft_.make("cvt.u32.u64", {amount}, {wide}, shift));
    shift.sources[1] = amount;
    draft_.program.folded.push_back({shift.operation.statement, Folded::Kind::converted, 0, true});
  }

  bool fits(Value value, std::string_view type) const {
    const DraftRegister& reg = function_.registers[static_cast<std::size_t>(value)];
    if (reg.register_class == RegisterClass::wide) return type == "f64";
    return reg.register_class == RegisterClass::word && type == (reg.bits == 16 ? "f16" : "f32");
  }

  void note(const DraftOperation& draft, const Match* match) {
    if (!goes_on(draft, match)) numbers_.clear();
    const bool writes_numbers = catalogue::computes(draft.operation.semantics) || draft.operation.semantics == Semantics::load ||
                                draft.operation.semantics == Semantics::atomic;
    const std::string_view type = writes_numbers ? number_type(match) : std::string_view{};
    for (const Value result : draft.results) {
      if (type.empty() || !fits(result, type))
        numbers_.erase(result);
      else
        numbers_[result] = type;
    }
  }

  DraftFunction& function_;
  ProgramDraft& draft_;
  std::unordered_map<Value, std::string_view> numbers_;  ///< registers that hold numbers, as ptxas knows, and of which type
};

}  // namespace

void convert_stored_numbers(DraftFunction& function, ProgramDraft& draft) {
  const auto converts = [&](const DraftOperation& operation) { return may_convert(operation, draft, function); };
  if (std::ranges::any_of(function.operations, converts)) StoredNumbers(function, draft).run();
}

}  // namespace warpmat::inline v0_1::code
