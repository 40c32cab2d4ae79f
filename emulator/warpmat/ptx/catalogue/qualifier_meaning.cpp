#include <warpmat/ptx/catalogue/qualifier_meaning.h>

#include <charconv>
#include <cstddef>

#include <warpmat/tables/opcode.h>

namespace warpmat::catalogue {
namespace {

/// The shapes of tcgen05.cp in whose names, "64x128b.warpx2::02_13", `text` is a part: a bit each.
std::uint8_t copies_with(std::string_view text) {
  std::uint8_t found = 0;
  for (std::size_t i = 0; i < copy_shapes().size(); ++i)
    for (std::string_view name = copy_shapes()[i].name; !name.empty();) {
      const std::string_view part = take_part(name);
      if (part.substr(part.starts_with('.') ? 1 : 0) == text) found |= static_cast<std::uint8_t>(1 << i);
    }
  return found;
}

/// 4 of "x4"; 0 of others.
int repeats_of(std::string_view text) {
  int repeats = 0;
  if (!text.starts_with('x')) return 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), repeats);
  return error == std::errc() && end == text.data() + text.size() ? repeats : 0;
}

}  // namespace

QualifierMeaning meaning_of(std::string_view qualifier) {
  const std::string_view text = qualifier.substr(1);
  return {find_ptx_type(text),       Qualifier::of(qualifier), find_tensor_kind(text),
          find_transfer_shape(text), copies_with(text),        repeats_of(text)};
}

}  // namespace warpmat::catalogue
