#include <warpmat/ptx/program/stored_numbers.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_map>

#include <fmt/core.h>

#include <warpmat/formats.h>
#include <warpmat/ptx/program/arithmetic.h>
#include <warpmat/ptx/program/control_flow.h>
#include <warpmat/ptx/program/folding_rules.h>
#include <warpmat/ptx/program/rewrite.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Name;
using catalogue::Qualifier;
using catalogue::Semantics;

namespace {

/// Instructions that ptxas 13.0 makes several blocks of, unless they have the qualifier.
struct Sequence {
  Name name;
  std::optional<Qualifier> unless{};
};
constexpr std::array sequences{Sequence{Name::div, Qualifier::full},  Sequence{Name::rem},
                               Sequence{Name::sqrt, Qualifier::ftz},  Sequence{Name::rcp, Qualifier::ftz},
                               Sequence{Name::rsqrt, Qualifier::ftz}, Sequence{Name::lg2, Qualifier::ftz},
                               Sequence{Name::ex2, Qualifier::ftz}};

bool is_sequence(const Match& match) {
  const auto* const found = std::ranges::find(sequences, match.name(), &Sequence::name);
  if (found == sequences.end()) return false;
  const bool integer = !match.types[0]->is_floating();
  if (integer || has_rounding(match)) return true;
  return !(found->unless && match.has(*found->unless)) && catalogue::is_number(*match.types[0], Format::f32);
}

/// Statements after which ptxas's block goes on.
bool goes_on(const DraftOperation& draft, const Match* match, const Program& program) {
  switch (draft.operation.semantics) {
    case Semantics::load:
    case Semantics::store:
    case Semantics::atomic: return !draft.operation.guarded;
    case Semantics::address_space: return true;
    case Semantics::compute:
    case Semantics::select: return match != nullptr && !is_sequence(*match) && !match->is(Name::bfe);
    case Semantics::special: return program.of<SpecialRegister>(draft.operation) != SpecialRegister::clock;
    default: return false;
  }
}

/// The format of a number that the statement writes into a register: f16, f32, f64, or nothing.
std::optional<Format> number_written(const Match* match) {
  if (match == nullptr || match->types.empty() || match->has_trait(catalogue::trait::writes_bits)) return {};
  const bool last_of_sequence = is_sequence(*match) && match->has(Qualifier::approx);
  if (last_of_sequence || (match->is(Name::div) && match->has(Qualifier::full))) return {};
  for (const Format format : {Format::f16, Format::f32, Format::f64})
    if (catalogue::is_number(*match->types[0], format)) return format;
  return {};
}

/// Of 64 bits, by a register.
bool is_long_shift(const DraftOperation& draft) {
  constexpr std::array shifts{Name::shl, Name::shr};
  return draft.sources.size() == 2 && !is_constant(draft.sources[1]) && is_one_of(draft, shifts) && draft.match->types[0]->bits == 64;
}

/// Whether the operation may take a number for an integer: a store of fewer bits than its register has, or a shift by a register.
bool may_convert(const DraftOperation& draft, const ProgramDraft& program, const DraftFunction& function) {
  if (draft.operation.semantics != Semantics::store) return is_long_shift(draft);
  if (draft.operation.guarded || draft.sources.size() != 2 || is_constant(draft.sources[1])) return false;
  const DraftRegister& stored = function.registers[static_cast<std::size_t>(draft.sources[1])];
  const int bits = stored.register_class == RegisterClass::wide ? 64 : stored.bits == 16 ? 16 : 32;
  return program.program.of<Access>(draft.operation).bytes * 8 < bits;
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
        draft_.program.of<Access>(draft.operation).register_bits = 32;
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
    const FormatRow& format = row(number->second);
    if (type.bits >= format.bits) return {};
    return fmt::format("cvt.rzi.{}{}.{}", type.is_signed_integer() ? "s" : "u", type.bits, format.name);
  }

  /// Of shifts of 64 bits ptxas converts an amount of f32; of others it takes the bits.
  bool is_shift_by_number(const DraftOperation& draft) const {
    if (!is_long_shift(draft)) return false;
    const auto number = numbers_.find(draft.sources[1]);
    return number != numbers_.end() && number->second == Format::f32;
  }

  /// F2I.U64.TRUNC, of which the shift takes the low word.
  void convert_amount(DraftOperation& shift, std::vector<DraftOperation>& out) {
    const Value wide = new_register(function_, {RegisterClass::wide, 64}), amount = new_register(function_, {RegisterClass::word, 32});
    out.push_back(draft_.make("cvt.rzi.u64.f32", {wide}, {shift.sources[1]}, shift));
    out.push_back(draft_.make("cvt.u32.u64", {amount}, {wide}, shift));
    shift.sources[1] = amount;
    draft_.program.folded.push_back({shift.operation.statement, Folded::Kind::converted, 0, true});
  }

  bool fits(Value value, Format format) const {
    const DraftRegister& reg = function_.registers[static_cast<std::size_t>(value)];
    if (reg.register_class == RegisterClass::wide) return format == Format::f64;
    return reg.register_class == RegisterClass::word && format == (reg.bits == 16 ? Format::f16 : Format::f32);
  }

  void note(const DraftOperation& draft, const Match* match) {
    if (!goes_on(draft, match, draft_.program)) numbers_.clear();
    const bool writes_numbers = catalogue::computes(draft.operation.semantics) || draft.operation.semantics == Semantics::load ||
                                draft.operation.semantics == Semantics::atomic;
    for (const Value result : draft.results) numbers_.erase(result);
    const std::optional<Format> written = writes_numbers ? number_written(match) : std::nullopt;
    if (!written) return;
    const Format format = *written;
    for (const Value result : draft.results)
      if (fits(result, format)) numbers_[result] = format;
  }

  DraftFunction& function_;
  ProgramDraft& draft_;
  std::unordered_map<Value, Format> numbers_;  ///< registers that hold numbers, as ptxas knows, and of which format
};

}  // namespace

void convert_stored_numbers(DraftFunction& function, ProgramDraft& draft) {
  const auto converts = [&](const DraftOperation& operation) { return may_convert(operation, draft, function); };
  if (std::ranges::any_of(function.operations, converts)) StoredNumbers(function, draft).run();
}

}  // namespace warpmat::code
