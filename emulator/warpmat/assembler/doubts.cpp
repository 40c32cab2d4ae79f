#include <warpmat/assembler/doubts.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <warpmat/assembler/common_values.h>
#include <warpmat/assembler/known_values.h>
#include <warpmat/assembler/reciprocals.h>
#include <warpmat/lower/arithmetic.h>
#include <warpmat/lower/definitions.h>
#include <warpmat/lower/value_set.h>

namespace warpmat::code {

using catalogue::is_integer_of;
using catalogue::is_number;
using catalogue::Match;
using catalogue::Name;
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
bool is_of_halves(const DraftOperation& operation) {
  return is_floating(operation) && !is_f32(operation) && operation.match->types[0]->bits <= 32;
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

/// The formats whose constants ptxas computes with.
struct Number {
  Format format;
  std::uint64_t one, infinity, sign;
};
constexpr std::array numbers{Number{Format::f32, 0x3f800000, 0x7f800000, 0x80000000},
                             Number{Format::f64, 0x3ff0000000000000, 0x7ff0000000000000, 0x8000000000000000},
                             Number{Format::f16, 0x3c00, 0x7c00, 0x8000}, Number{Format::bf16, 0x3f80, 0x7f80, 0x8000}};

class Doubts {
 public:
  Doubts(const DraftFunction& function, ProgramDraft& draft)
      : function_(function), draft_(draft), read_as_halves_(function.registers.size()), last_exchange_(function.registers.size(), -1) {
    for (int i = 0; i < static_cast<int>(function_.operations.size()); ++i)
      if (at(i).operation.semantics == Semantics::exchange)
        for (const Value result : at(i).results) last_exchange_[static_cast<std::size_t>(result)] = i;
  }

  void run() {
    for (int i = 0; i < static_cast<int>(function_.operations.size()); ++i) {
      if (const auto why = doubt(i)) draft_.program.doubted.push_back({at(i).operation.statement, *why});
      if (is_of_halves(at(i))) for_each_read(at(i), [&](Value value) { read_as_halves_.insert(value); });
    }
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
      case Semantics::exchange: return shuffles_common_value(i) || votes_before_lanes_part(i) ? std::optional(Why::shuffle) : std::nullopt;
      case Semantics::matrix: return adds_product(i) ? std::optional(Why::matrix_sum) : std::nullopt;
      case Semantics::compute:
      case Semantics::select: return computed(i);
      default: return std::nullopt;
    }
  }

  std::optional<Why> computed(int i) {
    if (at(i).match == nullptr || at(i).results.empty()) return std::nullopt;
    if (shifts_by_number(i)) return Why::converted;
    if (merges_equal_operands(i) || compares_with_predicate(i) || has_other_half(i)) return Why::merged_logic;
    if (has_simpler_constant(i) || reads_narrow_register(i)) return Why::constant;
    if (flushes_product(i)) return Why::flushed;
    if (leaves_out_abs(i) || overwrites_half(i) || reads_predicate_late(i) || undoes_on_some_path(i)) return Why::misplaced;
    return orders_nans(i) || may_keep_payload(i) ? std::optional(Why::sign) : std::nullopt;
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

  /// The number of the text that operation `i` reads as its source `s`, behind moves.
  std::optional<std::uint64_t> number(int i, std::size_t s) {
    if (s >= at(i).sources.size()) return std::nullopt;
    return KnownValues(function_, draft_.constants, definitions()).number(i, at(i).sources[s]);
  }

  bool is_predicate(Value value) const {
    return function_.registers[static_cast<std::size_t>(value)].register_class == RegisterClass::predicate;
  }
  static bool reads(const DraftOperation& operation, Value value) {
    bool found = false;
    for_each_read(operation, [&](Value read) { found |= read == value; });
    return found;
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
    const int stored = draft_.program.access(operation.operation).bytes * 8;
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

  /// What ptxas keeps in 32 bits, though it has 8 or 16: abs.s16 of -32768 where it is compared, and ld.s8 with a guard in szext. bfe.s32
  /// of a ballot gave an H200 other bits, too.
  bool reads_narrow_register(int i) {
    const DraftOperation& operation = at(i);
    constexpr std::array comparisons{Name::set, Name::setp};
    const auto comes_from = [&](std::size_t s, auto is) {
      return !operation.sources.empty() && may_come_from(i, operation.sources[s], is);
    };
    if (is_one_of(operation, comparisons) && operation.sources.size() > 1) {
      const auto is_abs = [](const DraftOperation& writer) {
        return is_of(writer, Name::abs) && is_integer_of(*writer.match->types[0], 16);
      };
      return comes_from(0, is_abs) || comes_from(1, is_abs);
    }
    if (is_of(operation, Name::szext))
      return comes_from(0, [&](const DraftOperation& writer) {
        return writer.operation.semantics == Semantics::load && writer.operation.guarded &&
               draft_.program.of<LoadAccess>(writer.operation).sign_extend;
      });
    return is_of(operation, Name::bfe) && operation.match->types[0]->is_signed &&
           comes_from(0, [](const DraftOperation& writer) { return writer.operation.semantics == Semantics::exchange; });
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

  /// A comparison with 0, as divisions have one of their divisor, of what a lop3 with a predicate computed: that predicate stands for it.
  bool compares_with_predicate(int i) {
    const DraftOperation& operation = at(i);
    constexpr std::array divisions{Name::div, Name::rem};
    const auto is_logic = [](const DraftOperation& writer) { return is_of(writer, Name::lop3) && writer.results.size() == 2; };
    if (is_one_of(operation, divisions)) return !is_floating(operation) && may_come_from(i, operation.sources[1], is_logic);
    constexpr std::array comparisons{Name::set, Name::setp};
    if (!is_one_of(operation, comparisons) || is_floating(operation, operation.match->types.size() - 1)) return false;
    if (!operation.match->has(".eq") && !operation.match->has(".ne")) return false;
    return (may_come_from(i, operation.sources[0], is_logic) && number(i, 1) == 0) ||
           (may_come_from(i, operation.sources[1], is_logic) && number(i, 0) == 0);
  }

  /// and or or of predicates under one of them, beside the other of the two: ptxas has one instruction for both.
  bool has_other_half(int i) const {
    const auto is_half = [&](const DraftOperation& operation, Name name) {
      return is_of(operation, name) && operation.results.size() == 1 && is_predicate(operation.results[0]);
    };
    const DraftOperation& own = at(i);
    const bool conjunction = is_half(own, Name::and_);
    if (!own.operation.guarded || (!conjunction && !is_half(own, Name::or_))) return false;
    const auto has_operands = [&](const DraftOperation& operation) { return std::ranges::is_permutation(operation.sources, own.sources); };
    return std::ranges::find(own.sources, own.guard) != own.sources.end() &&
           std::ranges::any_of(function_.operations, [&](const DraftOperation& other) {
             return is_half(other, conjunction ? Name::or_ : Name::and_) && has_operands(other);
           });
  }

  /// A sum or product of f64 of what rcp or rsqrt .approx gave, whose NaN is not that of other instructions, and of something else: which
  /// NaN stays depends on the order of the operands in machine code.
  bool orders_nans(int i) {
    const DraftOperation& operation = at(i);
    constexpr std::array sums{Name::add, Name::sub, Name::mul};
    constexpr std::array approximate{Name::rcp, Name::rsqrt};
    if (!is_one_of(operation, sums) || !is_number(*operation.match->types[0], Format::f64)) return false;
    const auto is_approximate = [&](const DraftOperation& writer) {
      return is_one_of(writer, approximate) && is_number(*writer.match->types[0], Format::f64) && writer.match->has(".approx");
    };
    const bool equal = operation.sources[0] == operation.sources[1];
    const bool constant = is_constant(operation.sources[0]) || is_constant(operation.sources[1]);
    return !equal && !constant &&
           (may_come_from(i, operation.sources[0], is_approximate) || may_come_from(i, operation.sources[1], is_approximate));
  }

  /// A constant for which ptxas has something simpler, that is not the same for NaNs, or is an error.
  bool has_simpler_constant(int i) {
    const DraftOperation& operation = at(i);
    const Match& match = *operation.match;
    const auto source = [&](std::size_t s) { return number(i, s); };
    switch (match.name()) {
      case Name::mul:
      case Name::div:
        if (multiplies_by_one(i)) return true;
        break;
      case Name::bfe: return match.types[0]->is_signed && source(1) && (*source(1) & 0xff) > 31;
      case Name::bfi: return source(0) && source(2) && source(3) && (*source(3) & 0xff) > 31;
      case Name::slct: return !match.types[0]->is_floating() && source(2).has_value();
      case Name::madc: return match.has(".hi") && match.types[0]->bits == 64;
      default:
        if (changes_sign(operation) && source(0)) return true;
    }
    return has_constant_nan(i);
  }

  /// Of a constant that is a NaN ptxas computes conversions and sums itself, and drops or keeps its sign and payload otherwise.
  bool has_constant_nan(int i) {
    const DraftOperation& operation = at(i);
    if (!makes_number(operation)) return false;
    const DataType& type = *operation.match->types.back();
    const auto* const format = std::ranges::find_if(numbers, [&](const Number& each) { return is_number(type, each.format); });
    for (std::size_t s = 0; format != numbers.end() && s < operation.sources.size(); ++s)
      if (const auto constant = number(i, s); constant && (*constant & (format->sign - 1)) > format->infinity) return true;
    return false;
  }

  bool multiplies_by_one(int i) {
    const DraftOperation& operation = at(i);
    const Match& match = *operation.match;
    const bool rounds = match.has(".rn") || match.has(".rz") || match.has(".rm") || match.has(".rp");
    if (!is_floating(operation) || !has_one_type(operation) || rounds || match.has(".ftz") || match.has(".sat")) return false;
    const auto* const format = std::ranges::find_if(numbers, [&](const Number& each) { return is_number(*match.types[0], each.format); });
    const auto is_one = [&](std::optional<std::uint64_t> factor) { return factor && (*factor & ~format->sign) == format->one; };
    return format != numbers.end() && (is_one(number(i, 0)) || is_one(number(i, 1)));
  }

  /// cvt.ftz.f64.f32 of a mul.f32: the product flushes its factors, too.
  bool flushes_product(int i) {
    const DraftOperation& operation = at(i);
    if (!is_of(operation, Name::cvt) || !operation.match->has(".ftz") || !is_number(*operation.match->types[0], Format::f64)) return false;
    return may_come_from(i, operation.sources[0], [](const DraftOperation& writer) {
      return is_of(writer, Name::mul) && is_f32(writer) && writer.match->qualifiers.size() == 1;
    });
  }

  /// abs of halves, which is left out of a register in which an f32 instruction with .sat has left a number.
  bool leaves_out_abs(int i) {
    const auto saturates = [](const DraftOperation& writer) { return is_f32(writer) && writer.match->has(".sat"); };
    return is_of(at(i), Name::abs) && is_of_halves(at(i)) && may_come_from(i, at(i).sources[0], saturates);
  }

  /// A reciprocal of what is a reciprocal or a power on some path, as in the next round of a loop: ptxas leaves both out where it unrolls
  /// it.
  bool undoes_on_some_path(int i) {
    if (!may_undo(at(i)) || definitions().find_behind_moves(i, at(i).sources.back()) >= 0)
      return false;  // else remove_reciprocals() decides
    return may_come_from(i, at(i).sources.back(), may_be_undone);
  }

  /// A register written with a guard that arithmetic on halves reads before: ptxas may pair that with later arithmetic, and read the new
  /// value.
  bool overwrites_half(int i) const { return at(i).operation.guarded && read_as_halves_.contains(at(i).results[0]); }

  /// A selection, or a division of integers with a guard, whose predicate an exchange writes later: its last instruction may stand behind
  /// that.
  bool reads_predicate_late(int i) const {
    constexpr std::array divisions{Name::div, Name::rem};
    const DraftOperation& own = at(i);
    const bool divides = own.operation.guarded && is_one_of(own, divisions) && !is_floating(own);
    if (!divides && !is_of(own, Name::selp)) return false;
    const Value predicate = divides ? own.guard : own.sources[2];
    return !is_constant(predicate) && last_exchange_[static_cast<std::size_t>(predicate)] > i;
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
    return exchange.operation <= WarpOperation::shuffle_index &&
           may_be_common(function_, draft_.program, draft_.constants, definitions(), {i, at(i).sources[0]});
  }

  /// A vote whose predicate is first read behind a place where lanes may part or leave: ptxas may move it there.
  bool votes_before_lanes_part(int i) const {
    const WarpOperation operation = draft_.program.of<WarpExchange>(at(i).operation).operation;
    if (operation < WarpOperation::vote_all || operation > WarpOperation::vote_uniform || at(i).results.empty()) return false;
    constexpr std::array parting{Semantics::branch, Semantics::exit, Semantics::return_};
    bool parted = false;
    for (int after = i + 1; after < static_cast<int>(function_.operations.size()); ++after) {
      if (reads(at(after), at(i).results[0])) return parted;
      parted |= at(after).operation.guarded && std::ranges::find(parting, at(after).operation.semantics) != parting.end();
    }
    return false;
  }

  const DraftFunction& function_;
  ProgramDraft& draft_;
  ValueSet read_as_halves_;         ///< by arithmetic on halves, before the operation that is looked at
  std::vector<int> last_exchange_;  ///< by register: the last exchange that writes it, -1: none
  std::optional<Definitions> definitions_;
};

}  // namespace

void note_doubts(const DraftFunction& function, ProgramDraft& draft) {
  Doubts(function, draft).run();
}

}  // namespace warpmat::code
