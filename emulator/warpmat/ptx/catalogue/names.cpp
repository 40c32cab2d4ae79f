#include <warpmat/ptx/catalogue/names.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace warpmat::catalogue {
namespace {

struct QualifierRow {
  Qualifier qualifier;
  std::string_view text;
};

constexpr auto name_rows = [] {
  using trait::adds, trait::carries, trait::none, trait::places_bytes, trait::takes_addresses;
  return std::array{
      NameRow{},  // of `other`
#define WARPMAT_INSTRUCTION(name, mnemonic, traits) NameRow{Name::name, mnemonic, traits},
#define WARPMAT_QUALIFIER(name, text)
#include <warpmat/ptx/catalogue/names.inc>
#undef WARPMAT_INSTRUCTION
#undef WARPMAT_QUALIFIER
  };
}();
static_assert(std::ranges::is_sorted(name_rows, {}, &NameRow::mnemonic), "names.inc: the instructions in the order of their mnemonics");

constexpr std::array qualifier_rows{
#define WARPMAT_INSTRUCTION(name, mnemonic, traits)
#define WARPMAT_QUALIFIER(name, text) QualifierRow{Qualifier::name, text},
#include <warpmat/ptx/catalogue/names.inc>
#undef WARPMAT_INSTRUCTION
#undef WARPMAT_QUALIFIER
};
static_assert(std::ranges::is_sorted(qualifier_rows, {}, &QualifierRow::text), "names.inc: the qualifiers in the order of their texts");

}  // namespace

Name find_name(std::string_view mnemonic) {
  const auto found = std::ranges::lower_bound(name_rows, mnemonic, {}, &NameRow::mnemonic);
  return found != name_rows.end() && found->mnemonic == mnemonic ? found->name : Name::other;
}

const NameRow& row_of(Name name) {
  return name_rows[static_cast<std::size_t>(name)];
}

std::optional<Qualifier> find_qualifier(std::string_view text) {
  const auto found = std::ranges::lower_bound(qualifier_rows, text, {}, &QualifierRow::text);
  return found != qualifier_rows.end() && found->text == text ? std::optional(found->qualifier) : std::nullopt;
}

}  // namespace warpmat::catalogue
