// Finding by fields.

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

#include <warpmat/c/entry.h>
#include <warpmat/c/fields.h>
#include <warpmat/text.h>

namespace warpmat::c {
namespace {

std::string text_of(const char* text) {
  return text == nullptr ? std::string() : text;
}

/// `set`, or nothing where the flag is 0.
std::string flag(int is_set, const char* set) {
  return is_set != 0 ? set : "";
}

/// The shape as PTX spells it; empty if all three are 0.
std::string shape_of(const warpmat_fields& fields) {
  if (fields.m == 0 && fields.n == 0 && fields.k == 0) return {};
  return fields.k == 0 ? format_text("m{}n{}", fields.m, fields.n) : format_text("m{}n{}k{}", fields.m, fields.n, fields.k);
}

OpcodeFields fields_for(const warpmat_fields& given) {
  OpcodeFields out;
  out.mnemonic = text_of(given.mnemonic);
  out.shape = given.shape == nullptr ? shape_of(given) : given.shape;
  out.d = text_of(given.d);
  out.a = text_of(given.a);
  out.b = text_of(given.b);
  out.c = text_of(given.c);
  out.type = text_of(given.type);
  out.layout_a = text_of(given.layout_a);
  out.layout_b = text_of(given.layout_b);
  out.kind = text_of(given.kind);
  out.sparsity = text_of(given.sparsity);
  out.scale_vec = text_of(given.scale_vec);
  out.scale_type = text_of(given.scale_type);
  out.rounding = text_of(given.rounding);
  out.space = text_of(given.space);
  out.operation = text_of(given.operation);
  if (given.number != 0) out.number = format_text("x{}", given.number);
  out.trans = flag(given.transposed, "trans");
  out.satfinite = flag(given.satfinite, "satfinite");
  if (given.cta_group != 0) out.cta_group = format_text("{}", given.cta_group);
  out.multicast = text_of(given.multicast);
  out.format = text_of(given.format);
  out.weights = flag(given.weights, "ws");
  out.shift_a = flag(given.shift_a, "ashift");
  out.pack = flag(given.pack, "16b");
  out.absolute = flag(given.absolute, "abs");
  out.nan = flag(given.nan, "NaN");
  return out;
}

warpmat_status status_of(FieldTable::Problem problem) {
  switch (problem) {
    case FieldTable::Problem::unknown: return WARPMAT_UNKNOWN_OPCODE;
    case FieldTable::Problem::several: return WARPMAT_BAD_ARGUMENT;
    case FieldTable::Problem::unavailable: return WARPMAT_UNAVAILABLE;
  }
  return WARPMAT_INTERNAL;
}

}  // namespace

std::optional<OpcodeFields> read_fields(const warpmat_fields* fields, warpmat_error* error) {
  const auto refused = [&](const char* why) {
    report(error, WARPMAT_BAD_ARGUMENT, why);
    return std::nullopt;
  };
  if (fields == nullptr) return refused("fields is null");
  if (!WARPMAT_HAS_SIZE(fields, satfinite)) return refused("fields->size is not that of a warpmat_fields");
  warpmat_fields given{};
  std::memcpy(&given, fields, WARPMAT_HAS_SIZE(fields, nan) ? sizeof given : offsetof(warpmat_fields, cta_group));
  if (given.shape != nullptr && !shape_of(given).empty()) return refused("fields has both m, n, k and a shape: only tcgen05 has a shape");
  return fields_for(given);
}

std::optional<std::size_t> find_one(const FieldTable& table, const OpcodeFields& wanted, const Target& target, warpmat_error* error) {
  if (const std::vector<std::size_t> found = table.find(wanted, target); found.size() == 1) return found.front();
  const FieldTable::Explanation why = table.explain(wanted, target);
  report(error, status_of(why.problem), why.text);
  return std::nullopt;
}

}  // namespace warpmat::c
