#include <warpmat/launch.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::argument_test {
namespace {

struct Vector {
  float x, y;
};

// A kernel cannot reach the memory of the host.
static_assert(!std::is_convertible_v<float*, Argument> && !std::is_constructible_v<Argument, float*>);
static_assert(!std::is_constructible_v<Argument, const void*> && !std::is_constructible_v<Argument, std::nullptr_t>);
static_assert(!std::is_constructible_v<Argument, const float (&)[4]> && !std::is_constructible_v<Argument, const char (&)[6]>);
static_assert(!std::is_constructible_v<Argument, float Vector::*>);
static_assert(!std::is_constructible_v<Argument, std::string>);
static_assert(std::is_convertible_v<std::uint64_t, Argument> && std::is_convertible_v<float, Argument>);
static_assert(std::is_convertible_v<Vector, Argument> && std::is_convertible_v<bool, Argument>);

TEST_CASE("an argument has the bytes of its number or struct", "[launch]") {
  const std::vector<Argument> arguments{std::uint16_t{0x1234}, Vector{1, 2}, std::uint64_t{0x7f0000000000}};
  CHECK(arguments[0].bytes() == std::vector<std::uint8_t>{0x34, 0x12});
  CHECK(arguments[1].bytes() == std::vector<std::uint8_t>{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40});
  CHECK(arguments[2].bytes() == std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0x7f, 0, 0});
}

TEST_CASE("a kernel tells its name, its GPU and its parameters", "[launch]") {
  const Kernel kernel(module_of(".param .u64 .ptr .global x, .param .f32 factor, .param .align 16 .b8 s[24]", "ret;"), "k",
                      {.target = "sm_90a"});
  CHECK(kernel.entry() == "k");
  CHECK(kernel.target() == "sm_90a");
  const std::vector<Kernel::Parameter> all = kernel.parameters();
  REQUIRE(all.size() == 3);
  CHECK((all[0].name == "x" && all[0].offset == 0 && all[0].bytes == 8 && all[0].type == "u64" && all[0].pointer));
  CHECK((all[1].name == "factor" && all[1].offset == 8 && all[1].bytes == 4 && all[1].type == "f32" && !all[1].pointer));
  CHECK((all[2].name == "s" && all[2].offset == 16 && all[2].bytes == 24 && all[2].alignment == 16 && all[2].type == "b8"));
}

}  // namespace
}  // namespace warpmat::argument_test
