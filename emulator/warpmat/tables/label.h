#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <warpmat/export.h>
#include <warpmat/tables/lowering.h>

namespace warpmat {

/// What tools say of a result's bits, from weak to strong: the evidence of the row that decides them; but of what the ISA fixes completely,
/// data movement and integers, that it does, which is more than a paper about floating point can say.
enum class Label : std::uint8_t { assumed, published, replayed, specified, measured };

/// "specified".
[[nodiscard]] WARPMAT_API std::string_view name(Label label);

/// The label of that name, or nothing.
[[nodiscard]] WARPMAT_API std::optional<Label> find_label(std::string_view name);

[[nodiscard]] WARPMAT_API Label label_of(const Lowering& lowering);

}  // namespace warpmat
