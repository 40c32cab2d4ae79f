#include <warpmat/layout.h>

#include "compressed_table.h"
#include "test.h"

namespace warpmat::matrix_descriptor_test {
namespace {

int bits_of(const std::string& type) {
  return type == "tf32" ? 32 : type == "f16" || type == "bf16" ? 16 : 8;
}

TEST_CASE("every element is at the address from which an H200 read it, whatever the descriptor", "[layout][wgmma]") {
  int descriptors = 0, elements = 0;
  for (const auto& row : read_table(source_path("tests/vectors/wgmma_descriptors_sm_90.tsv.gz"))) {
    if (row.front().starts_with('#')) continue;
    const auto bytes = static_cast<std::uint32_t>(bits_of(row[1]) / 8);
    const Major major = row[2] == "1" ? Major::mn : Major::k;
    const MatrixDescriptor descriptor = MatrixDescriptor::decode(std::stoull(row[3], nullptr, 16));
    ++descriptors;
    for (std::size_t i = 4; i < row.size(); ++i) {
      std::istringstream text(row[i]);
      std::uint32_t mn = 0, k = 0, address = 0;
      text >> mn >> k >> address;
      INFO(row[0] << ' ' << row[1] << " major " << row[2] << ' ' << row[3] << ": " << row[i]);
      REQUIRE((major == Major::k ? descriptor.address(major, mn, k * bytes) : descriptor.address(major, k, mn * bytes)) == address);
      ++elements;
    }
  }
  CHECK(descriptors > 2000);
  CHECK(elements > 15'000);
}

TEST_CASE("a descriptor's fields come back from its 64 bits, and the other bits are ignored", "[layout][wgmma]") {
  std::mt19937_64 random(3);
  constexpr std::uint64_t ignored = 0x3ff1'c000'c000'c000;  // bits 14, 15, 30, 31, 46 to 48, 52 to 61
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t bits = random();
    const MatrixDescriptor descriptor = MatrixDescriptor::decode(bits);
    CHECK(descriptor.encode() == (bits & ~ignored));
    CHECK(MatrixDescriptor::decode(descriptor.encode()) == descriptor);
  }
}

TEST_CASE("fields that a descriptor cannot hold are refused", "[layout][wgmma]") {
  CHECK_THROWS_WITH((MatrixDescriptor({.start = 8})),
                    "start address 8 does not fit a matrix descriptor, which takes multiples of 16 from 0 to 262128");
  CHECK_THROWS_WITH((MatrixDescriptor({.leading = 1 << 18})), ContainsSubstring("leading byte offset 262144"));
  CHECK_THROWS_WITH((MatrixDescriptor({.stride = 24})), ContainsSubstring("stride byte offset 24"));
  for (const int offset : {-1, 8})
    CHECK_THROWS_WITH((MatrixDescriptor({.base_offset = offset})),
                      "a matrix descriptor's base offset is 0 to 7, not " + std::to_string(offset));
  CHECK_THROWS_WITH((MatrixDescriptor({.swizzle = static_cast<Swizzle>(4)})),
                    "a matrix descriptor's swizzle is none, bytes_32, bytes_64 or bytes_128, not 4");
}

TEST_CASE("a descriptor has the fields that it was made of", "[layout][wgmma]") {
  const MatrixDescriptor::Fields fields{.start = 262128, .leading = 16, .stride = 0, .base_offset = 7, .swizzle = Swizzle::bytes_64};
  const MatrixDescriptor descriptor(fields);
  CHECK(descriptor.fields() == fields);
  CHECK(MatrixDescriptor::decode(descriptor.encode()).fields() == fields);
  CHECK(MatrixDescriptor().encode() == 0);
  CHECK(MatrixDescriptor() == MatrixDescriptor::decode(0));
}

TEST_CASE("the swizzle of a descriptor is that of shared memory", "[layout][wgmma]") {
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::bytes_32, Swizzle::bytes_64, Swizzle::bytes_128}) {
    const MatrixDescriptor plain({.start = 0, .leading = 0, .stride = 0, .base_offset = 0, .swizzle = swizzle});
    const LinearLayout layout = swizzle_layout(swizzle);
    for (std::uint32_t line = 0; line < 8; ++line)
      for (std::uint32_t byte = 0; byte < plain.line_bytes(); ++byte) {
        Point address;
        address[LayoutAxis::address] = line * plain.line_bytes() + byte;
        CHECK(plain.address(Major::k, line, byte) == layout(address)[LayoutAxis::address]);
      }
  }
}

}  // namespace
}  // namespace warpmat::matrix_descriptor_test
