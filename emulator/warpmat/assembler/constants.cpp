#include <warpmat/assembler/constants.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <warpmat/assembler/known_values.h>
#include <warpmat/assembler/places.h>
#include <warpmat/assembler/quotient.h>
#include <warpmat/lower/arithmetic.h>
#include <warpmat/lower/definitions.h>
#include <warpmat/lower/rewrite.h>
#include <warpmat/numeric/canonical_nan.h>
#include <warpmat/numeric/rounding_mode.h>

namespace warpmat::code {

using catalogue::is_number;
using catalogue::Match;
using catalogue::Name;

namespace {

constexpr std::uint32_t f32_sign = 0x80000000, f32_infinity = 0x7f800000, f32_one = 0x3f800000;

float to_float(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}
std::uint32_t to_bits(double value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}
bool is_f32_nan(std::uint32_t bits) {
  return (bits & ~f32_sign) > f32_infinity;
}
/// Subnormal numbers become zeros.
std::uint32_t flush(std::uint32_t word) {
  return (word & f32_infinity) == 0 ? word & f32_sign : word;
}

// The functions of the multi-function unit, rounded correctly. Without .ftz ptxas scales operands or results out of the subnormal numbers,
// as it does for the unit, and rounds after each step.

double exp2_of(double x) {
  return std::exp2(x);
}
double log2_of(double x) {
  return std::log2(x);
}
double reciprocal_of(double x) {
  return 1 / x;
}
double reciprocal_root_of(double x) {
  return 1 / std::sqrt(x);
}
double root_of(double x) {
  return std::sqrt(x);
}
double sine_of(double x) {
  return std::sin(x);
}
double cosine_of(double x) {
  return std::cos(x);
}

struct ApproximateFunction {
  Name name;
  double (*of)(double);
  bool flushes;  ///< subnormal operands also without .ftz
};

constexpr std::array functions{
    ApproximateFunction{Name::ex2, exp2_of, false},       ApproximateFunction{Name::lg2, log2_of, false},
    ApproximateFunction{Name::rcp, reciprocal_of, false}, ApproximateFunction{Name::rsqrt, reciprocal_root_of, false},
    ApproximateFunction{Name::sqrt, root_of, false},      ApproximateFunction{Name::sin, sine_of, true},
    ApproximateFunction{Name::cos, cosine_of, true}};

const ApproximateFunction* find_function(const Match& match) {
  if (!match.has(".approx") || match.types.size() != 1 || !is_number(*match.types[0], Format::f32)) return nullptr;
  const auto* const found = std::ranges::find(functions, match.name(), &ApproximateFunction::name);
  return found == functions.end() ? nullptr : found;
}

/// The function without .ftz of a normal or subnormal number.
std::uint32_t scaled(const ApproximateFunction& function, float x) {
  if (function.name == Name::ex2 && x < -126) {
    const auto root = static_cast<float>(function.of(x * 0.5));
    return to_bits(static_cast<double>(root) * root);
  }
  if (function.name == Name::rcp && std::abs(x) > std::bit_cast<float>(two_to_126))
    return to_bits(static_cast<float>(function.of(x * 0.25)) * 0.25);
  if (function.name == Name::lg2 && std::abs(x) < std::bit_cast<float>(smallest_normal))
    return to_bits(static_cast<double>(static_cast<float>(function.of(x * 0x1p24))) - 24);
  return to_bits(function.of(x));
}

/// Nothing of zeros, infinities and NaNs, and where the result is a NaN: there the instruction at run time gives the same.
std::optional<std::uint32_t> approximate(const ApproximateFunction& function, const Match& match, std::uint32_t source) {
  const bool ftz = match.has(".ftz");
  const float x = to_float(ftz || function.flushes ? flush(source) : source);
  if (x == 0 || !std::isfinite(x) || std::isnan(function.of(x))) return std::nullopt;
  return ftz ? flush(to_bits(function.of(x))) : scaled(function, x);
}

bool is_quotient(const Match& match) {
  return match.is(Name::div) && (match.has(".approx") || match.has(".full"));
}

/// A quotient by a number: the dividend times `scale`, times `reciprocal`; f32 bits.
struct ConstantDivisor {
  std::uint32_t scale = f32_one, reciprocal = 0;
};

ConstantDivisor constant_divisor(const Match& match, std::uint32_t divisor) {
  ConstantDivisor by;
  const std::uint32_t magnitude = divisor & ~f32_sign;
  float scale = 1;
  if (match.has(".full") && magnitude > two_to_126) scale = 0.25F;
  if (!match.has(".ftz") && magnitude < smallest_normal) scale = 0x1p24F;
  by.scale = std::bit_cast<std::uint32_t>(scale);
  const float scaled_divisor = to_float(flush(std::bit_cast<std::uint32_t>(to_float(divisor) * scale)));
  by.reciprocal = flush(to_bits(1.0 / scaled_divisor));
  return by;
}

class ConstantFolding {
 public:
  ConstantFolding(DraftFunction& function, ProgramDraft& draft, const AssemblerDecisions* decisions)
      : function_(function), draft_(draft), results_(decisions), definitions_(function), values_(function, draft.constants, definitions_) {}

  void run() {
    Rewrite rewrite(function_);
    for (int i = 0; i < static_cast<int>(function_.operations.size()); ++i) {
      rewrite.come_to(i);
      const DraftOperation& operation = at(i);
      if (const auto bits = immediate(i); bits && operation.results.size() == 1) {
        known_[i] = *bits;
        note(operation, Folded::Kind::constant, *bits);
        add("mov.b32", operation, operation.results[0], {constant(*bits)}, rewrite.out);
      } else if (const auto divisor = divisor_of(i)) {
        divide(operation, *divisor, rewrite.out);
      } else {
        rewrite.out.push_back(operation);
      }
    }
    rewrite.finish();
  }

 private:
  const DraftOperation& at(int i) const { return function_.operations[static_cast<std::size_t>(i)]; }

  /// The number that operation `i` reads as `value`.
  std::optional<std::uint32_t> number(int i, Value value) const {
    const int writer = is_constant(value) ? -1 : definitions_.find_behind_moves(i, value);
    if (const auto known = known_.find(writer); known != known_.end()) return known->second;
    const auto found = values_.number(i, value);
    return found ? std::optional(static_cast<std::uint32_t>(*found)) : std::nullopt;
  }

  /// Doubts operation `i` where ptxas may know what it reads as `value`, which is no number here.
  void doubt_if_known(int i, Value value) {
    if (values_.may_be_known(i, value)) draft_.program.doubted.push_back({at(i).operation.statement, Doubt::Why::constant});
  }

  /// What the assembler computes in place of operation `i`.
  std::optional<std::uint32_t> immediate(int i) {
    const DraftOperation& operation = at(i);
    const ApproximateFunction* const function = operation.match == nullptr ? nullptr : find_function(*operation.match);
    if (function == nullptr) return std::nullopt;
    const auto argument = number(i, operation.sources[0]);
    const auto by_rule = argument ? approximate(*function, *operation.match, *argument) : std::nullopt;
    const AssemblerDecisions::Result* const said = results_.find(draft_.program, operation.operation.statement);
    if (said == nullptr && !argument) doubt_if_known(i, operation.sources[0]);
    if (said == nullptr) return by_rule;
    const auto found = said->immediate ? std::optional(said->bits) : std::nullopt;
    if (found != by_rule) draft_.program.differs.push_back(operation.operation.statement);
    return found;
  }

  std::optional<std::uint32_t> divisor_of(int i) {
    const DraftOperation& operation = at(i);
    if (operation.match == nullptr || !is_quotient(*operation.match)) return std::nullopt;
    const auto divisor = number(i, operation.sources[1]);
    if (!divisor) doubt_if_known(i, operation.sources[1]);
    return divisor && *divisor != f32_one && !is_f32_nan(*divisor) ? divisor : std::nullopt;
  }

  Value constant(std::uint32_t bits) { return draft_.constants.add(RegisterClass::word, bits); }

  /// Under the guard of `like`.
  void add(const std::string& opcode, const DraftOperation& like, Value result, std::vector<Value> sources,
           std::vector<DraftOperation>& out) {
    DraftOperation made = draft_.make(opcode, {result}, std::move(sources), like);
    take_guard(made, like);
    out.push_back(std::move(made));
  }

  void note(const DraftOperation& operation, Folded::Kind kind, std::uint32_t bits) {
    draft_.program.folded.push_back({operation.operation.statement, kind, bits});
  }

  void divide(const DraftOperation& operation, std::uint32_t divisor, std::vector<DraftOperation>& out) {
    const ConstantDivisor by = constant_divisor(*operation.match, divisor);
    note(operation, Folded::Kind::divided, by.reciprocal);
    const std::string ftz = operation.match->has(".ftz") ? ".ftz" : "";
    Value dividend = operation.sources[0];
    if (by.scale != f32_one) {
      const Value scaled_dividend = new_register_like(function_, operation.results[0]);
      add("mul.rn" + ftz + ".f32", operation, scaled_dividend, {dividend, constant(by.scale)}, out);
      dividend = scaled_dividend;
    }
    // Without a rounding modifier: a sum may take it in.
    add("mul" + ftz + ".f32", operation, operation.results[0], {dividend, constant(by.reciprocal)}, out);
  }

  DraftFunction& function_;
  ProgramDraft& draft_;
  ByPlace<AssemblerDecisions::Result> results_;
  Definitions definitions_;
  KnownValues values_;
  std::map<int, std::uint32_t> known_;  ///< results, by operation
};

}  // namespace

void fold_constants(DraftFunction& function, ProgramDraft& draft, const AssemblerDecisions* decisions) {
  const auto may_fold = [](const DraftOperation& operation) {
    return operation.match != nullptr && (find_function(*operation.match) != nullptr || is_quotient(*operation.match));
  };
  if (std::ranges::none_of(function.operations, may_fold)) return;
  const OuterRoundingMode mode(RoundingMode::nearest);
  ConstantFolding(function, draft, decisions).run();
}

}  // namespace warpmat::code
