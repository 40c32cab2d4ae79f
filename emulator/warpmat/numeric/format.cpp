#include <warpmat/formats.h>

#include <algorithm>
#include <array>

namespace warpmat {
namespace {

constexpr auto ieee = Specials::ieee;
constexpr auto one_nan = Specials::one_nan;
constexpr auto none = Specials::none;

// Sources: IEEE 754 (f64, f32, f16); PTX ISA 9.1 section 5.2.3 (bf16, tf32, fp8, fp6, fp4, scales); OCP MX specification 1.0. tf32 uses the
// top 19 bits of an f32 register and ignores the others [H200].
constexpr std::array rows{
    //        format        name     bits signed exponent fraction ignored specials zero
    FormatRow{Format::f64, "f64", 64, true, 11, 52, 0, ieee, true},
    FormatRow{Format::f32, "f32", 32, true, 8, 23, 0, ieee, true},
    FormatRow{Format::tf32, "tf32", 32, true, 8, 10, 13, ieee, true},
    FormatRow{Format::bf16, "bf16", 16, true, 8, 7, 0, ieee, true},
    FormatRow{Format::f16, "f16", 16, true, 5, 10, 0, ieee, true},
    FormatRow{Format::e4m3, "e4m3", 8, true, 4, 3, 0, one_nan, true},
    FormatRow{Format::e5m2, "e5m2", 8, true, 5, 2, 0, ieee, true},
    FormatRow{Format::e3m2, "e3m2", 6, true, 3, 2, 0, none, true},
    FormatRow{Format::e2m3, "e2m3", 6, true, 2, 3, 0, none, true},
    FormatRow{Format::e2m1, "e2m1", 4, true, 2, 1, 0, none, true},
    FormatRow{Format::ue8m0, "ue8m0", 8, false, 8, 0, 0, one_nan, false},
    FormatRow{Format::ue4m3, "ue4m3", 8, false, 4, 3, 0, one_nan, true},
    FormatRow{Format::s32, "s32", 32, true, 0, 0, 0, none, true},
    FormatRow{Format::s8, "s8", 8, true, 0, 0, 0, none, true},
    FormatRow{Format::u8, "u8", 8, false, 0, 0, 0, none, true},
    FormatRow{Format::s4, "s4", 4, true, 0, 0, 0, none, true},
    FormatRow{Format::u4, "u4", 4, false, 0, 0, 0, none, true},
    FormatRow{Format::b1, "b1", 1, false, 0, 0, 0, none, true},
};

constexpr bool in_enum_order() {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (static_cast<std::size_t>(rows[i].format) != i) return false;
  return rows.size() == static_cast<std::size_t>(Format::b1) + 1;
}
static_assert(in_enum_order());

}  // namespace

std::span<const FormatRow> format_rows() {
  return rows;
}

const FormatRow& row(Format format) {
  return rows[static_cast<std::size_t>(format)];
}

const FormatRow* find_format(std::string_view name) {
  const auto found = std::ranges::find(rows, name, &FormatRow::name);
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace warpmat
