#include <warpmat/ptx/program/arithmetic.h>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

namespace warpmat::inline v0_1::code {

using catalogue::Match;
using catalogue::Semantics;

namespace {

constexpr std::array arithmetic_kinds{
    std::pair{"mul", Arithmetic::Kind::mul},           std::pair{"div.approx", Arithmetic::Kind::div_approx},
    std::pair{"div.full", Arithmetic::Kind::div_full}, std::pair{"add", Arithmetic::Kind::add},
    std::pair{"sub", Arithmetic::Kind::sub},           std::pair{"neg", Arithmetic::Kind::neg},
    std::pair{"abs", Arithmetic::Kind::abs},           std::pair{"mov", Arithmetic::Kind::mov}};
constexpr std::array number_types{"f32", "f64", "f16", "f16x2", "bf16", "bf16x2"};

}  // namespace

std::optional<Arithmetic> classify_arithmetic(const DraftOperation& draft, ProgramDraft& program) {
  if (draft.operation.semantics != Semantics::compute || draft.results.size() != 1) return std::nullopt;
  const std::string opcode(draft.opcode);
  const auto kind = std::ranges::find_if(arithmetic_kinds, [&](const auto& k) { return opcode.starts_with(std::string(k.first) + '.'); });
  if (kind == arithmetic_kinds.end()) return std::nullopt;
  const Match* match = program.find_match(opcode);
  if (match == nullptr) return std::nullopt;
  Operation own;
  program.set_function(*match, own);
  // part of a longer sequence for the statement
  if (own.kernel != draft.operation.kernel || own.detail != draft.operation.detail) return std::nullopt;
  if (kind->second == Arithmetic::Kind::mov)
    return draft.sources.size() == 1 ? std::optional(Arithmetic{Arithmetic::Kind::mov, ".mov", false}) : std::nullopt;
  if (match->pattern->row.kernel.empty() || match->types.size() != 1 ||
      std::ranges::find(number_types, match->types[0]->name) == number_types.end())
    return std::nullopt;
  Arithmetic arithmetic{kind->second, fmt::format("{}.{}", match->has(".ftz") ? ".ftz" : "", match->types[0]->name), match->has(".sat")};
  for (const std::string_view q : match->qualifiers)
    if (q != ".ftz" && q != ".sat" && q != ".approx" && q != ".full" && q.substr(1) != match->types[0]->name)
      return std::nullopt;  // a rounding modifier
  return arithmetic;
}

}  // namespace warpmat::inline v0_1::code
