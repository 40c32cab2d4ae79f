#include <warpmat/layout/tensor_descriptor.h>

#include <array>

#include <warpmat/text.h>

namespace warpmat {
namespace {

/// A field of the descriptor that has one allowed value.
struct Fixed {
  int first, bits;
  std::uint64_t value;
  const char* reason;
};
constexpr std::array fixed_fields{
    Fixed{14, 2, 0, "belong to no field"},
    Fixed{30, 2, 0, "belong to no field"},
    Fixed{46, 3, 1, "are the descriptor's version, 0b001"},
    Fixed{52, 1, 0, "means an absolute address in place of the leading byte offset, for K = 96 of sm_103a"},
    Fixed{53, 8, 0, "are 0 in every descriptor"},
};

/// The layouts by bits 61 to 63.
struct Layout {
  int number;
  Swizzle swizzle;
  bool wide_atoms;
};
constexpr int absolute_bit = 52, swizzle_128 = 2;
constexpr std::array layouts{Layout{0, Swizzle::none, false}, Layout{1, Swizzle::bytes_128, true}, Layout{2, Swizzle::bytes_128, false},
                             Layout{4, Swizzle::bytes_64, false}, Layout{6, Swizzle::bytes_32, false}};

std::uint64_t field(std::uint64_t bits, int first, int count) {
  return bits >> first & ((std::uint64_t{1} << count) - 1);
}

}  // namespace

DecodedTensorDescriptor decode_tensor_descriptor(std::uint64_t bits, bool absolute) {
  absolute = absolute && field(bits, absolute_bit, 1) != 0;
  for (const Fixed& fixed : fixed_fields)
    if (const std::uint64_t given = field(bits, fixed.first, fixed.bits);
        given != fixed.value && !(absolute && fixed.first == absolute_bit))
      return {{},
              format_text("has {} in bits {} to {}, which {}; the descriptor is {:#018x}", given, fixed.first, fixed.first + fixed.bits - 1,
                          fixed.reason, bits)};
  const auto number = static_cast<int>(field(bits, 61, 3));
  for (const Layout& layout : layouts)
    if (layout.number == number) {
      MatrixDescriptor::Fields fields = MatrixDescriptor::decode(bits).fields();
      fields.swizzle = layout.swizzle;  // in other bits than wgmma's
      if (absolute && (layout.number != swizzle_128 || fields.base_offset != 0))
        return {{},
                format_text("has an absolute address in place of the leading byte offset, which goes with swizzling mode {} and base "
                            "offset 0; they are {} and {}",
                            swizzle_128, number, fields.base_offset)};
      return {{MatrixDescriptor(fields), layout.wide_atoms, absolute}, std::nullopt};
    }
  return {
      {},
      format_text("has swizzling mode {} in bits 61 to 63; the modes are 0 none, 1 128 bytes of 32-byte atoms, 2 128 bytes, 4 64 bytes, 6 "
                  "32 bytes; the descriptor is {:#018x}",
                  number, bits)};
}

}  // namespace warpmat
