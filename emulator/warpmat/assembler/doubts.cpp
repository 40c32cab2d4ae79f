#include <warpmat/assembler/doubts.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <warpmat/ptx/program/arithmetic.h>
#include <warpmat/ptx/program/definitions.h>

namespace warpmat::code {

using catalogue::is_number;
using catalogue::Match;
using catalogue::Name;
using catalogue::Qualifier;
using catalogue::Semantics;

namespace {

bool is_floating(const DraftOperation& operation, std::size_t type = 0) {
  return operation.match != nullptr && type < operation.match->types.size() && operation.match->types[type]->is_floating();
}
bool is_f32(const DraftOperation& operation) {
  return is_floating(operation) && is_number(*operation.match->types[0], Format::f32);
}
bool has_one_type(const DraftOperation& operation) {
  return operation.match->types.size() == 1;
}
/// neg or abs.
bool changes_sign(const DraftOperation& operation) {
  constexpr std::array signs{Name::neg, Name::abs};
  return is_floating(operation) && is_one_of(operation, signs) && has_one_type(operation);
}
bool is_selection(const DraftOperation& operation) {
  constexpr std::array selections{Name::selp, Name::slct};
  return is_f32(operation) && is_one_of(operation, selections);
}
/// A number that arithmetic has made: ptxas knows of its register that it holds one.
bool makes_number(const DraftOperation& operation) {
  constexpr std::array of_bits{Name::set, Name::copysign, Name::mov, Name::selp};
  return is_floating(operation) && catalogue::computes(operation.operation.semantics) && !is_one_of(operation, of_bits);
}

/// One, of the formats in which ptxas leaves a product with it out.
struct One {
  Format format;
  std::uint64_t bits, sign;
};
constexpr std::array ones{One{Format::f32, 0x3f800000, 0x80000000}, One{Format::f64, 0x3ff0000000000000, 0x8000000000000000},
                          One{Format::f16, 0x3c00, 0x8000}, One{Format::bf16, 0x3f80, 0x8000}};

class Doubts {
 public:
  Doubts(const DraftFunction& function, ProgramDraft& draft) : function_(function), draft_(draft) {}

  void run() {
    for (int i = 0; i < static_cast<int>(function_.operations.size()); ++i)
      if (const auto why = doubt(i)) draft_.program.doubted.push_back({at(i).operation.statement, *why});
  }

 private:
  using Why = Doubt::Why;

  const DraftOperation& at(int i) const { return function_.operations[static_cast<std::size_t>(i)]; }
  /// Made when the first pattern asks for it: most functions have none.
  const Definitions& definitions() {
    if (!definitions_) definitions_.emplace(function_);
    return *definitions_;
  }

  std::optional<Why> doubt(int i) {
    const DraftOperation& operation = at(i);
    if (operation.operation.prepares) return std::nullopt;
    switch (operation.operation.semantics) {
      case Semantics::store: return stores_part_of_number(i) ? std::optional(Why::converted) : std::nullopt;
      case Semantics::exchange: return shuffles_common_value(i) ? std::optional(Why::shuffle) : std::nullopt;
      case Semantics::matrix: return adds_product(i) ? std::optional(Why::matrix_sum) : std::nullopt;
      case Semantics::compute:
      case Semantics::select: return computed(i);
      default: return std::nullopt;
    }
  }

  std::optional<Why> computed(int i) {
    if (at(i).match == nullptr || at(i).results.empty()) return std::nullopt;
    if (shifts_by_number(i)) return Why::converted;
    if (merges_equal_operands(i)) return Why::merged_logic;
    if (has_simpler_constant(i)) return Why::constant;
    if (flushes_product(i)) return Why::flushed;
    return may_keep_payload(i) ? std::optional(Why::sign) : std::nullopt;
  }

  /// Whether what operation `i` reads as `value` may come from an operation that `is` accepts, behind moves and on whatever path.
  template <typename Is>
  bool may_come_from(int i, Value value, Is is) {
    std::vector<std::pair<int, Value>> open{{i, value}};
    std::set<int> seen;
    while (!open.empty()) {
      const auto [reader, read] = open.back();
      open.pop_back();
      if (is_constant(read)) continue;
      for (const int writer : definitions().find_all(reader, read)) {
        if (!seen.insert(writer).second) continue;
        if (is(at(writer))) return true;
        if (is_move(at(writer))) open.emplace_back(writer, at(writer).sources[0]);
      }
    }
    return false;
  }

  std::optional<std::uint64_t> number(Value value) const {
    if (!is_constant(value) || draft_.constants[value].symbol.kind != Symbol::Kind::none) return std::nullopt;
    return draft_.constants[value].low;
  }

  int bits_of(Value value) const {
    const DraftRegister& reg = function_.registers[static_cast<std::size_t>(value)];
    return reg.register_class == RegisterClass::wide ? 64 : reg.bits == 16 ? 16 : 32;
  }

  // ---- Signs of NaNs: a move or a selection with a modifier keeps a payload, which neg, abs, min and max drop ----

  bool may_keep_payload(int i) {
    const DraftOperation& operation = at(i);
    constexpr std::array extrema{Name::min, Name::max};
    if (is_one_of(operation, extrema) && is_floating(operation) && operation.sources.size() == 2 &&
        operation.sources[0] == operation.sources[1])
      return true;
    if (changes_sign(operation) && operation.operation.guarded && is_f32(operation)) return true;
    if (is_of(operation, Name::neg) && changes_sign(operation))
      return may_come_from(i, operation.sources[0], [&](const DraftOperation& inner) { return inner.match == operation.match; });
    const auto is_sign = [](const DraftOperation& inner) { return changes_sign(inner) && is_f32(inner); };
    if (is_selection(operation) && (may_come_from(i, operation.sources[0], is_sign) || may_come_from(i, operation.sources[1], is_sign)))
      return true;
    return operation.operation.guarded && is_f32(operation) && may_come_from(i, operation.results[0], is_sign);
  }

  // ---- Registers of numbers as integers ----

  bool stores_part_of_number(int i) {
    const DraftOperation& operation = at(i);
    if (operation.sources.size() < 2) return false;
    const int stored = draft_.program.of<Access>(operation.operation).bytes * 8;
    return std::any_of(operation.sources.begin() + 1, operation.sources.end(), [&](Value value) {
      return !is_constant(value) && stored < bits_of(value) && may_come_from(i, value, makes_number);
    });
  }

  bool shifts_by_number(int i) {
    constexpr std::array shifts{Name::shl, Name::shr};
    const DraftOperation& operation = at(i);
    if (!is_one_of(operation, shifts) || operation.match->types[0]->bits != 64) return false;
    return may_come_from(i, operation.sources[1], [](const DraftOperation& writer) { return makes_number(writer) && is_f32(writer); });
  }

  // ---- Others ----

  /// lop3 with a predicate and two equal operands: what reads its result and one of these finds RZ there.
  bool merges_equal_operands(int i) {
    const DraftOperation& operation = at(i);
    if (!is_of(operation, Name::lop3) || operation.results.size() != 2 || operation.sources.size() < 3) return false;
    const auto origin = [&](std::size_t s) {
      const Value value = operation.sources[s];
      const int writer = is_constant(value) ? -1 : definitions().find_behind_moves(i, value);
      return writer >= 0 ? std::pair(writer, 0) : std::pair(-1, value);
    };
    return origin(0) == origin(1) || origin(0) == origin(2) || origin(1) == origin(2);
  }

  /// A constant for which ptxas has something simpler, that is not the same for NaNs, or is an error.
  bool has_simpler_constant(int i) {
    const DraftOperation& operation = at(i);
    const Match& match = *operation.match;
    const auto source = [&](std::size_t s) { return s < operation.sources.size() ? number(operation.sources[s]) : std::nullopt; };
    switch (match.name()) {
      case Name::mul:
      case Name::div: return multiplies_by_one(operation);
      case Name::bfe: return match.types[0]->is_signed && source(1) && (*source(1) & 0xff) > 31;
      case Name::bfi: return source(0) && source(2) && source(3) && (*source(3) & 0xff) > 31;
      case Name::slct: return !match.types[0]->is_floating() && source(2).has_value();
      case Name::madc: return match.has(Qualifier::hi) && match.types[0]->bits == 64;
      default: return changes_sign(operation) && source(0).has_value();
    }
  }

  bool multiplies_by_one(const DraftOperation& operation) const {
    const Match& match = *operation.match;
    const bool rounds = match.has(Qualifier::rn) || match.has(Qualifier::rz) || match.has(Qualifier::rm) || match.has(Qualifier::rp);
    if (!is_floating(operation) || !has_one_type(operation) || rounds || match.has(Qualifier::ftz) || match.has(Qualifier::sat))
      return false;
    const auto* const one = std::ranges::find_if(ones, [&](const One& each) { return is_number(*match.types[0], each.format); });
    return one != ones.end() && std::ranges::any_of(operation.sources, [&](Value value) {
             const auto factor = number(value);
             return factor && (*factor & ~one->sign) == one->bits;
           });
  }

  /// cvt.ftz.f64.f32 of a mul.f32: the product flushes its factors, too.
  bool flushes_product(int i) {
    const DraftOperation& operation = at(i);
    if (!is_of(operation, Name::cvt) || !operation.match->has(Qualifier::ftz) || !is_number(*operation.match->types[0], Format::f64))
      return false;
    return may_come_from(i, operation.sources[0], [](const DraftOperation& writer) {
      return is_of(writer, Name::mul) && is_f32(writer) && writer.match->qualifiers.size() == 1;
    });
  }

  /// A matrix product whose C ptxas adds by instructions of their own, which may take in a product.
  bool adds_product(int i) {
    const DraftOperation& operation = at(i);
    const Instruction& instruction = draft_.program.of<Matrix>(operation.operation).instruction;
    if (instruction.lowering().semantics != warpmat::Semantics::split_dot) return false;
    constexpr std::array products{Name::mul, Name::div};
    const auto is_product = [&](const DraftOperation& writer) { return is_floating(writer) && is_one_of(writer, products); };
    return std::any_of(operation.sources.end() - static_cast<std::ptrdiff_t>(operation.results.size()), operation.sources.end(),
                       [&](Value value) { return may_come_from(i, value, is_product); });
  }

  /// What all lanes have in common: ptxas may leave the shuffle out, and a lane that reads an absent one then has the value.
  bool shuffles_common_value(int i) {
    const WarpExchange& exchange = draft_.program.of<WarpExchange>(at(i).operation);
    return exchange.operation <= WarpOperation::shuffle_index && is_common(i, at(i).sources[0], 0);
  }

  bool is_common(int i, Value value, int depth) {
    constexpr int deepest = 8;
    constexpr std::array common{SpecialRegister::ntid_x,   SpecialRegister::ntid_y,   SpecialRegister::ntid_z,
                                SpecialRegister::ctaid_x,  SpecialRegister::ctaid_y,  SpecialRegister::ctaid_z,
                                SpecialRegister::nctaid_x, SpecialRegister::nctaid_y, SpecialRegister::nctaid_z};
    if (is_constant(value)) return true;
    const int writer = depth < deepest ? definitions().find(i, value) : -1;
    if (writer < 0) return false;
    const DraftOperation& operation = at(writer);
    switch (operation.operation.semantics) {
      case Semantics::special: return std::ranges::find(common, draft_.program.of<SpecialRegister>(operation.operation)) != common.end();
      case Semantics::load:
        if (draft_.program.of<Access>(operation.operation).space == Space::local) return false;
        [[fallthrough]];
      case Semantics::compute:
      case Semantics::select:
      case Semantics::address_space:
        return std::ranges::all_of(operation.sources, [&](Value source) { return is_common(writer, source, depth + 1); });
      default: return false;
    }
  }

  const DraftFunction& function_;
  ProgramDraft& draft_;
  std::optional<Definitions> definitions_;
};

}  // namespace

void note_doubts(const DraftFunction& function, ProgramDraft& draft) {
  Doubts(function, draft).run();
}

}  // namespace warpmat::code
