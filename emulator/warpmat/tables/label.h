#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <warpmat/export.h>
#include <warpmat/tables/lowering.h>

namespace warpmat {

/// The confidence in a result's bits, from weak to strong: the evidence of the row that decides them. If the ISA fixes all bits (data
/// movement, integers), the label is at least `specified`, which outranks a paper about floating point.
enum class Label : std::uint8_t { assumed, published, replayed, specified, measured };

/// "specified".
[[nodiscard]] WARPMAT_API std::string_view name(Label label);

/// The label of that name, or nothing.
[[nodiscard]] WARPMAT_API std::optional<Label> find_label(std::string_view name);

[[nodiscard]] WARPMAT_API Label label_of(const Lowering& lowering);

/// How it is known which lane and register hold which element, apart from the arithmetic.
struct LayoutLabel {
  Label label;
  std::string_view source;
};
/// The ISA has the fragments of all forms but wmma's. Precondition: the hardware has the form.
[[nodiscard]] WARPMAT_API LayoutLabel layout_label(const Form& form, Hardware hardware);

}  // namespace warpmat
