// alloca, stacksave and stackrestore; vector registers; sources such as %r1+4. Each module is one that ptxas 13.0 assembles.

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::stack_test {
namespace {

/// What `body` leaves in %d, by thread.
std::vector<std::uint32_t> words(const std::string& body) {
  return words_of(word_kernel(body), {1}, {4});
}

constexpr const char* two = "stacksave.u64 %l1; mov.u64 %l2, 16; alloca.u64 %l3, %l2, 8; alloca.u64 %l4, %l2, 8;\n";

TEST_CASE("alloca gives each thread memory of its own, until stackrestore", "[machine][stack]") {
  const std::string stores = std::string(two) + "st.local.u32 [%l3], %i; st.local.u32 [%l4], 7; ";
  CHECK(words(stores + "ld.local.u32 %d, [%l3];") == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(words(stores + "ld.local.u32 %d, [%l4];") == std::vector<std::uint32_t>(4, 7));
  CHECK(words(std::string(two) + "sub.u64 %l5, %l3, %l4; abs.s64 %l5, %l5; setp.ge.u64 %p1, %l5, 16; selp.u32 %d, 1, 0, %p1;") ==
        std::vector<std::uint32_t>(4, 1));
  const std::string again = "alloca.u64 %l5, %l2, 8; setp.eq.u64 %p1, %l5, %l3; selp.u32 %d, 1, 0, %p1;";
  CHECK(words(two + again) == std::vector<std::uint32_t>(4, 0));
  CHECK(words(std::string(two) + "stackrestore.u64 %l1; " + again) == std::vector<std::uint32_t>(4, 1));
  CHECK(words("mov.u64 %l2, 4; alloca.u64 %l3, %l2, 64; and.b64 %l3, %l3, 63; cvt.u32.u64 %d, %l3;") == std::vector<std::uint32_t>(4, 0));
}

TEST_CASE("alloca of more than is left ends the launch with a report", "[machine][stack]") {
  const std::string trap = trap_of(word_kernel("mov.u64 %l2, 0x40000000; alloca.u64 %l3, %l2, 8; st.local.u32 [%l3], %i;"), {4});
  CHECK(contains(trap, "alloca.u64"));
}

TEST_CASE("the elements of a vector register are registers", "[machine][vector]") {
  const std::string vector = ".reg .v4 .b32 %v; mov.b32 %v.x, 5; mov.b32 %v.y, %i; mov.b32 %v.z, 100; mov.b32 %v.w, 1000;\n";
  CHECK(words(vector + "add.u32 %d, %v.x, %v.y; add.u32 %d, %d, %v.z;") == std::vector<std::uint32_t>{105, 106, 107, 108});
  CHECK(words(vector + ".local .align 16 .b32 m[4]; st.local.v4.b32 [m], %v; ld.local.u32 %d, [m+12];") ==
        std::vector<std::uint32_t>(4, 1000));
  CHECK(words(vector + ".local .align 16 .b32 m[4]; st.local.v4.b32 [m], {1, 2, 3, 4}; ld.local.v4.b32 %v, [m]; mov.u32 %d, %v.z;") ==
        std::vector<std::uint32_t>(4, 3));
}

TEST_CASE("a source may be a register plus a number", "[machine][offset]") {
  CHECK(words("add.u32 %d, %i+4, 0;") == std::vector<std::uint32_t>{4, 5, 6, 7});
  CHECK(words("mad.lo.u32 %d, %i+1, 10, %i+-1;") == std::vector<std::uint32_t>{9, 20, 31, 42});
}

}  // namespace
}  // namespace warpmat::stack_test
