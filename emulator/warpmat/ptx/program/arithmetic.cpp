#include <warpmat/ptx/program/arithmetic.h>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::inline v0_1::code {

using catalogue::Match;
using catalogue::Semantics;

namespace {

constexpr std::array arithmetic_kinds{
    std::pair{"mul", Arithmetic::Kind::mul},           std::pair{"div.approx", Arithmetic::Kind::div_approx},
    std::pair{"div.full", Arithmetic::Kind::div_full}, std::pair{"add", Arithmetic::Kind::add},
    std::pair{"sub", Arithmetic::Kind::sub},           std::pair{"neg", Arithmetic::Kind::neg},
    std::pair{"abs", Arithmetic::Kind::abs},           std::pair{"mov", Arithmetic::Kind::mov}};
constexpr std::array<std::string_view, 6> number_types{"f32", "f64", "f16", "f16x2", "bf16", "bf16x2"};

}  // namespace

bool ends_with_number(std::string_view opcode) {
  const std::size_t dot = opcode.rfind('.');
  return dot != std::string_view::npos && std::ranges::find(number_types, opcode.substr(dot + 1)) != number_types.end();
}

std::optional<Arithmetic> arithmetic_of(const Match& match) {
  if (match.pattern->row.semantics != Semantics::compute) return std::nullopt;
  const std::string_view opcode = match.opcode;
  const auto kind = std::ranges::find_if(arithmetic_kinds, [&](const auto& k) {
    return opcode.starts_with(k.first) && opcode.substr(std::string_view(k.first).size()).starts_with('.');
  });
  if (kind == arithmetic_kinds.end()) return std::nullopt;
  if (kind->second == Arithmetic::Kind::mov) return Arithmetic{Arithmetic::Kind::mov, ".mov", false};
  if (match.pattern->row.kernel.empty() || match.types.size() != 1 ||
      std::ranges::find(number_types, match.types[0]->name) == number_types.end())
    return std::nullopt;
  for (const std::string_view q : match.qualifiers)
    if (q != ".ftz" && q != ".sat" && q != ".approx" && q != ".full" && q.substr(1) != match.types[0]->name)
      return std::nullopt;  // a rounding modifier
  return Arithmetic{kind->second, fmt::format("{}.{}", match.has(".ftz") ? ".ftz" : "", match.types[0]->name), match.has(".sat")};
}

const Arithmetic* classify_arithmetic(const DraftOperation& draft, ProgramDraft& program) {
  if (draft.match == nullptr || draft.operation.semantics != Semantics::compute || draft.results.size() != 1) return nullptr;
  const std::optional<Arithmetic>& arithmetic = program.arithmetic_of(*draft.match);
  if (!arithmetic) return nullptr;
  Operation own;
  program.set_function(*draft.match, own);
  // part of a longer sequence for the statement
  if (own.kernel != draft.operation.kernel || own.detail != draft.operation.detail) return nullptr;
  if (arithmetic->kind == Arithmetic::Kind::mov && draft.sources.size() != 1) return nullptr;
  return &*arithmetic;
}

}  // namespace warpmat::inline v0_1::code
