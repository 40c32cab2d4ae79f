#include <warpmat/lower/arithmetic.h>

#include <algorithm>

#include <warpmat/lower/context.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Name;
using catalogue::Qualifier;
using catalogue::Semantics;

namespace {

bool is_contracted(const DataType& type) {
  using enum Format;
  if (!type.is_floating() || !type.format) return false;
  return type.elements == 1 ? *type.format == f32 || *type.format == f64 || *type.format == f16 || *type.format == bf16
                            : type.elements == 2 && (*type.format == f16 || *type.format == bf16);
}

std::optional<Arithmetic::Kind> kind_of(const Match& match) {
  using enum Arithmetic::Kind;
  switch (match.name()) {
    case Name::mul: return mul;
    case Name::add: return add;
    case Name::sub: return sub;
    case Name::neg: return neg;
    case Name::abs: return abs;
    case Name::mov: return mov;
    case Name::div:
      if (match.has(".approx")) return div_approx;
      if (match.has(".full")) return div_full;
      return std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace

bool is_of(const DraftOperation& operation, Name name) {
  return operation.match != nullptr && operation.match->is(name);
}

bool is_one_of(const DraftOperation& operation, std::span<const Name> names) {
  return operation.match != nullptr && std::ranges::find(names, operation.match->name()) != names.end();
}

std::optional<Arithmetic> arithmetic_of(const Match& match) {
  if (match.pattern->row.semantics != Semantics::compute) return std::nullopt;
  const auto kind = kind_of(match);
  if (!kind) return std::nullopt;
  if (*kind == Arithmetic::Kind::mov) return Arithmetic{*kind, {}, false};
  if (match.pattern->row.kernel.empty() || match.types.size() != 1 || !is_contracted(*match.types[0])) return std::nullopt;
  std::size_t plain = match.types.size();
  for (const Qualifier each : std::initializer_list<Qualifier>{".ftz", ".sat", ".approx", ".full"}) plain += match.has(each) ? 1U : 0U;
  if (plain != match.qualifiers.size()) return std::nullopt;  // a rounding modifier
  return Arithmetic{*kind, {match.types[0], match.has(".ftz")}, match.has(".sat")};
}

const Arithmetic* classify_arithmetic(const DraftOperation& draft, ProgramDraft& program) {
  if (draft.match == nullptr || draft.operation.semantics != Semantics::compute || draft.results.size() != 1) return nullptr;
  const std::optional<Arithmetic>& arithmetic = program.arithmetic_of(*draft.match);
  if (!arithmetic) return nullptr;
  Operation own;
  program.set_function(*draft.match, own);
  // part of a longer sequence for the statement
  if (own.kernel != draft.operation.kernel || own.payload != draft.operation.payload) return nullptr;
  if (arithmetic->kind == Arithmetic::Kind::mov && draft.sources.size() != 1) return nullptr;
  return &*arithmetic;
}

}  // namespace warpmat::code
