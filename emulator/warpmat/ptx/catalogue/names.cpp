#include <warpmat/ptx/catalogue/names.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace warpmat::catalogue {
namespace {

constexpr auto name_rows = [] {
  using trait::adds, trait::carries, trait::none, trait::places_bytes, trait::takes_addresses;
  return std::array{
      NameRow{},  // of `other`
#define WARPMAT_INSTRUCTION(name, mnemonic, traits) NameRow{Name::name, mnemonic, traits},
#include <warpmat/ptx/catalogue/names.inc>
#undef WARPMAT_INSTRUCTION
  };
}();
static_assert(std::ranges::is_sorted(name_rows, {}, &NameRow::mnemonic), "names.inc: the instructions in the order of their mnemonics");

}  // namespace

Name find_name(std::string_view mnemonic) {
  const auto found = std::ranges::lower_bound(name_rows, mnemonic, {}, &NameRow::mnemonic);
  return found != name_rows.end() && found->mnemonic == mnemonic ? found->name : Name::other;
}

const NameRow& row_of(Name name) {
  return name_rows[static_cast<std::size_t>(name)];
}

}  // namespace warpmat::catalogue
