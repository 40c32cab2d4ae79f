
#include <warpmat/machine/texture.h>
#include <warpmat/machine/texture_filter.h>

#include "machine/kernel.h"
#include "test.h"

// Textures and surfaces, by numbers that follow from the CUDA C++ Programming Guide, appendix "Texture Fetching".

namespace warpmat::texture_test {
namespace {

/// Four numbers of a lane: coordinates in their order, as the statement of a test takes them.
struct Place {
  float x = 0, y = 0, z = 0, w = 0;
};

/// `statement` reads {%f0, %f1, %f2, %f3} (or the same as integers, {%r0, ...}) and the handle %h, and writes {%d0, %d1, %d2, %d3}.
Module texture_kernel(const std::string& statement) {
  return module_of(".param .u64 out, .param .u64 handle, .param .u64 at", R"(
    .reg .b64 %o, %h, %a, %s; .reg .b32 %i, %d<4>, %r<4>; .reg .f32 %f<4>; .reg .b16 %b<4>; .reg .pred %p;
    ld.param.u64 %o, [out]; ld.param.u64 %h, [handle]; ld.param.u64 %a, [at];
    mov.u32 %i, %tid.x;
    mul.wide.u32 %s, %i, 16;
    add.u64 %o, %o, %s;
    add.u64 %a, %a, %s;
    ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%a];
    cvt.rni.s32.f32 %r0, %f0; cvt.rni.s32.f32 %r1, %f1; cvt.rni.s32.f32 %r2, %f2; cvt.rni.s32.f32 %r3, %f3;
    mov.b32 %d0, 0; mov.b32 %d1, 0; mov.b32 %d2, 0; mov.b32 %d3, 0;
)" + statement + R"(
    st.global.v4.b32 [%o], {%d0, %d1, %d2, %d3};
    ret;
)");
}

struct Memory {
  DeviceMemory memory;
  Texture texture;

  /// A texture of these texels, of one channel unless said.
  template <typename Value>
  explicit Memory(const std::vector<Value>& texels, std::uint32_t width, std::uint32_t height = 1, std::uint32_t depth = 1) {
    const std::uint64_t row = width * sizeof(Value);
    texture.levels = {{memory.allocate(texels, "texels"), width, height, depth, row, row * height}};
    texture.dimensions = depth > 1 ? 3 : height > 1 ? 2 : 1;
    texture.channel_bits = 8 * sizeof(Value);
  }

  std::vector<std::uint32_t> read(const std::string& statement, const std::vector<Place>& places) {
    return read_object(statement, places, add_texture(memory, texture));
  }

  std::vector<std::uint32_t> read_object(const std::string& statement, const std::vector<Place>& places, std::uint64_t handle) {
    const std::uint64_t at = memory.allocate(places, "at"), out = memory.allocate(16 * places.size(), "out");
    launch(Kernel(texture_kernel(statement), "k"), {.block = {static_cast<std::uint32_t>(places.size())}}, memory, {out, handle, at});
    return memory.read<std::uint32_t>(out, 4 * places.size());
  }

  /// The first component of each place, as a float.
  std::vector<float> numbers(const std::string& statement, const std::vector<Place>& places) {
    const std::vector<std::uint32_t> words = read(statement, places);
    std::vector<float> out;
    for (std::size_t i = 0; i < places.size(); ++i) out.push_back(std::bit_cast<float>(words[4 * i]));
    return out;
  }
};

const std::string results = "{%d0, %d1, %d2, %d3}, ";
const std::string tex_1d = "tex.1d.v4.f32.f32 " + results + "[%h, {%f0}];", tex_2d = "tex.2d.v4.f32.f32 " + results + "[%h, {%f0, %f1}];";
const std::vector<float> ramp{10, 20, 30, 40};

TEST_CASE("point sampling takes the texel that has the coordinate", "[machine][texture]") {
  Memory m(ramp, 4);
  CHECK(m.numbers(tex_1d, {{0}, {0.99f}, {1}, {3.5f}, {-7}, {4}, {100}, {NAN}}) == std::vector<float>{10, 10, 20, 40, 10, 40, 40, 10});
  m.texture.normalised_coordinates = true;
  CHECK(m.numbers(tex_1d, {{0}, {0.25f}, {0.74f}, {0.99f}, {1}, {-0.1f}}) == std::vector<float>{10, 20, 30, 40, 40, 10});
}

TEST_CASE("linear filtering weighs two texels by 8 bits of the fraction", "[machine][texture]") {
  Memory m(std::vector<float>{0, 1}, 2);
  m.texture.filters = true;
  std::vector<Place> places;
  std::vector<float> expected;
  for (int i = 0; i <= 256; i += 16) {
    places.push_back({0.5f + static_cast<float>(i) / 256});
    expected.push_back(static_cast<float>(i) / 256);
  }
  CHECK(m.numbers(tex_1d, places) == expected);
  CHECK(m.numbers(tex_1d, {{0.5f + 5.1f / 256}, {0.5f + 5.9f / 256}}) == std::vector<float>{5.0f / 256, 6.0f / 256});
}

TEST_CASE("linear filtering in two and three dimensions weighs four and eight texels", "[machine][texture]") {
  Memory square(ramp, 2, 2);
  square.texture.filters = true;
  CHECK(square.numbers(tex_2d, {{1, 1}, {0.5f, 1}, {1.25f, 0.5f}, {1.5f, 1.5f}}) == std::vector<float>{25, 20, 17.5f, 40});
  Memory cube(std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}, 2, 2, 2);
  cube.texture.filters = true;
  CHECK(cube.numbers("tex.3d.v4.f32.f32 " + results + "[%h, {%f0, %f1, %f2, %f2}];", {{1, 1, 1}, {0.5f, 0.5f, 1}, {1.5f, 1, 1.5f}}) ==
        std::vector<float>{3.5f, 2, 6});
}

TEST_CASE("coordinates outside wrap, clamp, mirror or give the border", "[machine][texture]") {
  Memory m(ramp, 4);
  m.texture.normalised_coordinates = true;
  m.texture.border = {7, 8, 9, 10};
  const std::vector<Place> places{{-0.1f}, {1.1f}, {-0.3f}, {1.3f}, {2.1f}};
  const auto with = [&](Texture::Address mode) {
    m.texture.address = {mode, mode, mode};
    return m.numbers(tex_1d, places);
  };
  CHECK(with(Texture::Address::wrap) == std::vector<float>{40, 10, 30, 20, 10});
  CHECK(with(Texture::Address::clamp) == std::vector<float>{10, 40, 10, 40, 40});
  CHECK(with(Texture::Address::mirror) == std::vector<float>{10, 40, 20, 30, 10});
  CHECK(with(Texture::Address::border) == std::vector<float>{7, 7, 7, 7, 7});
  m.texture.filters = true;
  // Between the last and the first. The row is read at y = 0, so half of it is the texels beside it: a border, or the row again.
  m.texture.address[0] = Texture::Address::wrap;
  CHECK(m.numbers(tex_1d, {{0}, {1}}) == std::vector<float>{16, 16});
  m.texture.address[1] = Texture::Address::wrap;
  CHECK(m.numbers(tex_1d, {{0}, {1}}) == std::vector<float>{25, 25});
}

// From here to the next comment of this kind: an H200's answers, each of which a nearby rule would miss.

TEST_CASE("gradients choose the levels of an H200", "[machine][texture]") {
  const auto level = [](double a, double b, double c, double d) { return machine::level_of_gradients({a, b, 0}, {c, d, 0}) * 256; };
  CHECK(level(4, 0, 0, 0) == 512);
  CHECK(level(4 * (1 + 1.0 / 256), 0, 0, 0) == 514);
  CHECK(level(141.0 / 64, 141.0 / 64, 0, 0) == 401);  // an exact 11 / 32 of the second component is not enough
  CHECK(level(4, 0, 0, 4) == 512);
  CHECK(level(-4, 0, 2, 0) == 524);  // a diagonal of the pixel
  CHECK(level(12.94061, 11.27298, 0, 0) == 1042);
  CHECK(level(0, 0, 0, 0) == 0);
}

TEST_CASE("gradients of three components choose the levels of an H200", "[machine][texture]") {
  CHECK(machine::level_of_gradients({-7.9580078125, -7.1650390625, -5.349609375}, {}) * 256 == 910);
  CHECK(machine::level_of_gradients({}, {42.1015625, -1.057861328125, -37.546875}) * 256 == 1481);
  CHECK(machine::level_of_gradients({1.39306640625, 6.9052734375, 12.26171875}, {-3.46484375, -24.1953125, -58.8359375}) * 256 == 1558);
  // A whole quarter of the third component would be too much.
  CHECK(machine::level_of_gradients({-1.697265625, 1.178955078125, -1.478759765625}, {}) * 256 == 338);
}

TEST_CASE("filters of sRGB cut texels that are smaller than the largest one", "[machine][texture]") {
  Memory m(std::vector<std::uint8_t>{154, 6}, 2);
  m.texture.filters = m.texture.reads_fractions = m.texture.srgb = true;
  m.texture.numbers = Texture::Numbers::unsigned_integer;
  CHECK(m.numbers(tex_1d, {{0.5f + 251.0f / 256}})[0] == 103.125f / 16384);
}

TEST_CASE("sums of a filter are those of an H200", "[machine][texture]") {
  Memory wide(std::vector<float>{137244.0625f, -30.779550552368164f}, 2);  // cut at 2^-10 before they are weighted
  wide.texture.filters = true;
  CHECK(wide.numbers(tex_1d, {{0.5f + 251.0f / 256}})[0] == 2650.3699f);
  Memory tie(std::vector<float>{0.7418322563171387f, -1.2413249015808105f}, 2);  // half of the last bit goes away from zero
  tie.texture.filters = true;
  CHECK(tie.numbers(tex_1d, {{0.5f + 111.0f / 256}})[0] == -0.1180523f);
  Memory alone(std::vector<float>{1.9388324022293091f, 236.15335f}, 2);  // a texel without weight does not cut
  alone.texture.filters = true;
  CHECK(alone.numbers(tex_1d, {{0.5f}})[0] == 1.9388324022293091f);
  Memory halves(std::vector<std::uint16_t>{0x2e96, 0xc63c}, 2);  // 0.1029052734375 and -6.234375
  halves.texture.filters = true;
  CHECK(halves.numbers(tex_1d, {{0.5f + 2.0f / 256}})[0] == 0.05328369140625f);
  Memory bytes(std::vector<std::uint8_t>{194, 195}, 2);
  bytes.texture.filters = bytes.texture.reads_fractions = true;
  bytes.texture.numbers = Texture::Numbers::unsigned_integer;
  CHECK(bytes.numbers(tex_1d, {{0.5f + 64.0f / 256}})[0] == 0x1.860586p-1f);  // 49922 of 65535
  Memory nan(std::vector<float>{std::bit_cast<float>(0x7fcf67cbu), 1}, 2);
  nan.texture.filters = true;
  CHECK(nan.read(tex_1d, {{1}})[0] == 0x7fffffff);
}

TEST_CASE("weights of two and three dimensions are rounded at each share", "[machine][texture]") {
  std::vector<float> one(8);
  one[0] = 256;
  const auto at = [](int x, int y, int z) {
    const auto place = [](int weight) { return 0.5f + static_cast<float>(weight) / 256; };
    return Place{place(x), place(y), place(z)};
  };
  Memory cube(one, 2, 2, 2);
  cube.texture.filters = true;
  const std::string tex = "tex.3d.v4.f32.f32 " + results + "[%h, {%f0, %f1, %f2, %f2}];";
  CHECK(cube.numbers(tex, {at(72, 230, 208), at(112, 47, 24), at(76, 111, 96)}) == std::vector<float>{3, 106, 63});
  Memory square(std::vector<float>{256, 0, 0, 0}, 2, 2);
  square.texture.filters = true;
  CHECK(square.numbers(tex_2d, {at(3, 1, 0), at(129, 1, 0), at(192, 2, 0)}) == std::vector<float>{252, 127, 64});
}

TEST_CASE("normalised coordinates are cut at 21 bits, and mirrored ones come from the other side", "[machine][texture]") {
  Memory three(std::vector<float>{0, 1, 2}, 3);
  three.texture.filters = three.texture.normalised_coordinates = true;
  CHECK(three.numbers(tex_1d, {{0.72200525f}})[0] == 1.6640625f);
  Memory two(std::vector<float>{0, 1}, 2);
  two.texture.filters = two.texture.normalised_coordinates = true;
  two.texture.address = {Texture::Address::mirror, Texture::Address::mirror, Texture::Address::mirror};
  CHECK(two.numbers(tex_1d, {{-0.31933594f}})[0] == 0.13671875f);
}

TEST_CASE("sRGB is a table of an H200", "[machine][texture]") {
  Memory m(std::vector<std::uint8_t>{1, 68, 184, 255}, 4);
  m.texture.numbers = Texture::Numbers::unsigned_integer;
  m.texture.reads_fractions = m.texture.srgb = true;
  CHECK(m.numbers(tex_1d, {{0}, {1}, {2}, {3}}) == std::vector<float>{5.0f / 16384, 944.0f / 16384, 7872.0f / 16384, 1});
}

// By the Programming Guide.

TEST_CASE("integers are read as they are, or as fractions", "[machine][texture]") {
  Memory m(std::vector<std::uint8_t>{0, 51, 255, 129}, 4);
  m.texture.numbers = Texture::Numbers::unsigned_integer;
  const std::vector<Place> places{{0}, {1}, {2}, {3}};
  const std::string tex = "tex.1d.v4.u32.f32 " + results + "[%h, {%f0}];";
  const auto firsts = [&] {
    std::vector<std::uint32_t> out;
    const std::vector<std::uint32_t> words = m.read(tex, places);
    for (std::size_t i = 0; i < 4; ++i) out.push_back(words[4 * i]);
    return out;
  };
  CHECK(firsts() == std::vector<std::uint32_t>{0, 51, 255, 129});
  m.texture.numbers = Texture::Numbers::signed_integer;
  CHECK(firsts() == std::vector<std::uint32_t>{0, 51, 0xffffffff, 0xffffff81});
  m.texture.reads_fractions = true;
  CHECK(m.numbers(tex_1d, places) == std::vector<float>{0, 51.0f / 127, -1.0f / 127, -1});
  m.texture.numbers = Texture::Numbers::unsigned_integer;
  CHECK(m.numbers(tex_1d, places) == std::vector<float>{0, 0.2f, 1, 129.0f / 255});
}

TEST_CASE("tex with integer coordinates reads linear memory, and zero outside", "[machine][texture]") {
  Memory m(ramp, 4);
  m.texture.linear_memory = true;
  CHECK(m.numbers("tex.1d.v4.f32.s32 " + results + "[%h, {%r0}];", {{-1}, {0}, {3}, {4}}) == std::vector<float>{0, 10, 40, 0});
}

TEST_CASE("layers are chosen by a number that clamps, faces by a direction", "[machine][texture]") {
  Memory m(std::vector<float>{1, 2, 3, 4, 5, 6}, 2, 1, 3);
  m.texture.dimensions = 1;
  m.texture.layered = true;
  CHECK(m.numbers("tex.a1d.v4.f32.f32 " + results + "[%h, {%r1, %f0}];", {{0, 0}, {1, 1}, {0, 2}, {0, 9}}) ==
        std::vector<float>{1, 4, 5, 5});
  Memory cube(std::vector<float>{0, 1, 2, 3, 4, 5}, 1, 1, 6);
  cube.texture.cube = true;
  cube.texture.dimensions = 2;
  cube.texture.normalised_coordinates = true;
  CHECK(cube.numbers("tex.cube.v4.f32.f32 " + results + "[%h, {%f0, %f1, %f2, %f2}];",
                     {{1, 0.5f, 0}, {-2, 0, 1}, {0, 1, 0.5f}, {0.5f, -1, 0}, {0, 0, 3}, {0.1f, 0.2f, -0.3f}}) ==
        std::vector<float>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("tld4 gives a component of four texels, txq the extents", "[machine][texture]") {
  Memory m(ramp, 2, 2);
  const std::vector<std::uint32_t> words = m.read("tld4.r.2d.v4.f32.f32 " + results + "[%h, {%f0, %f1}];", {{1, 1}});
  std::vector<float> numbers;
  for (const std::uint32_t word : words) numbers.push_back(std::bit_cast<float>(word));
  CHECK(numbers == std::vector<float>{30, 40, 20, 10});
  CHECK(m.read("txq.width.b32 %d0, [%h]; txq.height.b32 %d1, [%h]; txq.num_mipmap_levels.b32 %d2, [%h];", {{}}) ==
        std::vector<std::uint32_t>{2, 2, 1, 0});
}

TEST_CASE("a mipmap is read at a level, or between two", "[machine][texture]") {
  Memory m(std::vector<float>{1, 1, 1, 1, 3, 3, 9}, 4);
  m.texture.levels = {{m.texture.levels[0].address, 4, 1, 1, 16, 16},
                      {m.texture.levels[0].address + 16, 2, 1, 1, 8, 8},
                      {m.texture.levels[0].address + 24, 1, 1, 1, 4, 4}};
  m.texture.normalised_coordinates = m.texture.filters = true;
  m.texture.most_level = 10;
  const std::string tex = "tex.level.1d.v4.f32.f32 " + results + "[%h, {%f0}], %f1;";
  const std::vector<Place> places{{0.5f, 0}, {0.5f, 0.4f}, {0.5f, 0.75f}, {0.5f, 1.5f}, {0.5f, 7}, {0.5f, -3}};
  CHECK(m.numbers(tex, places) == std::vector<float>{1, 1, 3, 9, 9, 1});
  m.texture.filters_levels = true;
  CHECK(m.numbers(tex, {{0.5f, 0}, {0.5f, 0.5f}, {0.5f, 1.25f}, {0.5f, 7}}) == std::vector<float>{1, 2, 4.5f, 9});
  // four texels of level 0 from one lane's neighbour to the next
  CHECK(m.numbers("tex.grad.1d.v4.f32.f32 " + results + "[%h, {%f0}], {%f1}, {%f2};", {{0.5f, 1, 0}, {0.5f, 0, 0.5f}}) ==
        std::vector<float>{9, 3});
}

TEST_CASE("surfaces are written and read by bytes and rows", "[machine][texture]") {
  Memory m(std::vector<std::uint32_t>(8), 4, 2);
  m.texture.surface = true;
  m.read("sust.b.2d.b32.trap [%h, {%r0, %r1}], {%r2};", {{0, 0, 11}, {12, 0, 14}, {4, 1, 22}});
  CHECK(m.memory.read<std::uint32_t>(m.texture.levels[0].address, 8) == std::vector<std::uint32_t>{11, 0, 0, 14, 0, 22, 0, 0});
  const auto loaded = m.read("suld.b.2d.b32.zero {%d0}, [%h, {%r0, %r1}]; suld.b.2d.b32.clamp {%d1}, [%h, {%r0, %r1}];",
                             {{12, 0}, {16, 0}, {4, 7}, {-4, -1}});
  CHECK(loaded == std::vector<std::uint32_t>{14, 14, 0, 0, 0, 14, 0, 0, 0, 22, 0, 0, 0, 11, 0, 0});
  CHECK(m.read("suld.b.2d.v2.b16.trap {%b0, %b1}, [%h, {%r0, %r1}]; cvt.u32.u16 %d0, %b0;", {{12, 0}})[0] == 14);
  m.read("sust.b.2d.b8.zero [%h, {%r0, %r1}], {%b0};", {{99, 0}});  // dropped
  CHECK(m.memory.read<std::uint32_t>(m.texture.levels[0].address, 8) == std::vector<std::uint32_t>{11, 0, 0, 14, 0, 22, 0, 0});
}

TEST_CASE("wrong handles and places trap with a reason", "[machine][texture]") {
  Memory m(ramp, 4);
  const auto trap = [&](const std::string& statement, std::uint64_t handle, const Place& place = {}) {
    return message_of([&] { m.read_object(statement, {place}, handle); });
  };
  CHECK_THAT(trap(tex_1d, 77), ContainsSubstring("the handle names no texture or surface object, or one that was destroyed"));
  const std::uint64_t texture = add_texture(m.memory, m.texture);
  CHECK(trap(tex_1d, texture) == "nothing");
  CHECK_THAT(trap(tex_2d, texture), ContainsSubstring("the object has another number of dimensions"));
  CHECK_THAT(trap("tex.a1d.v4.f32.f32 " + results + "[%h, {%r1, %f0}];", texture), ContainsSubstring("the object has no layers"));
  CHECK_THAT(trap("suld.b.1d.b32.trap {%d0}, [%h, {%r0}];", texture), ContainsSubstring("suld and sust take surface objects"));
  CHECK(remove_texture(m.memory, texture));
  CHECK_FALSE(remove_texture(m.memory, texture));
  CHECK_THAT(trap(tex_1d, texture), ContainsSubstring("or one that was destroyed"));
  m.texture.surface = true;
  const std::uint64_t surface = add_texture(m.memory, m.texture);
  CHECK_THAT(trap(tex_1d, surface), ContainsSubstring("tex and tld4 take texture objects"));
  CHECK_THAT(trap("suld.b.1d.b32.trap {%d0}, [%h, {%r0}];", surface, {16}), ContainsSubstring("(16, 0, 0) is outside of the surface"));
  CHECK_THAT(trap("suld.b.1d.b32.zero {%d0}, [%h, {%r0}];", surface, {2}), ContainsSubstring("x is 2, not a multiple of the 4 bytes"));
  m.memory.free(m.texture.levels[0].address);
  CHECK_THAT(trap("suld.b.1d.b32.trap {%d0}, [%h, {%r0}];", surface), ContainsSubstring("which was freed"));
}

TEST_CASE("wrong statements of textures are refused with a reason", "[machine][texture]") {
  const auto refusal = [](const std::string& statement) { return message_of([&] { Kernel(texture_kernel(statement), "k"); }); };
  CHECK(refusal(tex_2d) == "nothing");
  CHECK_THAT(refusal("tex.2d.v4.f32.f32 " + results + "[%h, {%f0}];"), ContainsSubstring("lists 2 coordinates, 1 are given"));
  CHECK_THAT(refusal("tex.2d.v4.f32.f32 {%d0, %d1}, [%h, {%f0, %f1}];"), ContainsSubstring("has 4 registers here, 2 are given"));
  CHECK_THAT(refusal("tex.2d.v4.f32.f32 " + results + "[%h];"), ContainsSubstring("takes [handle, {coordinates}]"));
  CHECK_THAT(refusal("suld.b.1d.b64.trap {%d0}, [%h, {%r0}];"), ContainsSubstring("gives 64 bits, '%d0' has 32"));
  CHECK(refusal("tex.2d.v4.f32.f32 " + results.substr(0, 20) + "|%p, [%h, {%f0, %f1}];") == "nothing");
}

TEST_CASE("whatever floats the host and a kernel give, a fetch reads texels of the texture or its border", "[machine][texture]") {
  constexpr float largest = std::numeric_limits<float>::max(), infinite = std::numeric_limits<float>::infinity();
  const std::vector<float> strange{NAN, -NAN, infinite, -infinite, largest, -largest, 1e10f, -1e10f, -5, 5, 0.5f};
  std::vector<Place> places;
  for (const float x : strange)
    for (const float y : strange) places.push_back({x, y, 0.5f, y});
  Memory m(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}, 4, 2);
  m.texture.border = {9, 9, 9, 9};
  const Texture::Level base = m.texture.levels.front();
  m.texture.levels.push_back({base.address, 2, 1, 1, base.row_pitch, base.slice_pitch});
  m.texture.levels.push_back({base.address, 1, 1, 1, base.row_pitch, base.slice_pitch});
  const auto check_all = [&] {
    for (const char* fetch : {"tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%h, {%f0, %f1}];",
                              "tex.level.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%h, {%f2, %f2}], %f3;",
                              "tex.grad.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%h, {%f0, %f1}], {%f0, %f1}, {%f3, %f2};",
                              "tld4.r.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%h, {%f0, %f1}];"})
      for (const float number : m.numbers(fetch, places)) CHECK((number >= 1 && number <= 9));
  };
  for (const float most : strange)
    for (const float least : strange) {
      m.texture.most_level = most;
      m.texture.least_level = least;
      m.texture.level_bias = most == 5 ? least : 0;
      INFO(most << " " << least);
      m.texture.filters = m.texture.filters_levels = least < 0;
      m.texture.normalised_coordinates = most > 0;
      m.texture.address = {most > 5 ? Texture::Address::wrap : Texture::Address::mirror,
                           least > 5 ? Texture::Address::border : Texture::Address::clamp, Texture::Address::clamp};
      check_all();
    }
}

TEST_CASE("a level without texels, and a cube without six faces, is the object's error", "[machine][texture]") {
  Memory m(ramp, 4);
  for (const Texture::Level& level :
       {Texture::Level{m.texture.levels.front().address, 0, 1, 1, 16, 16},
        Texture::Level{m.texture.levels.front().address, 4, 0, 1, 16, 16},
        Texture::Level{m.texture.levels.front().address, 4, 1, 0, 16, 16},
        Texture::Level{m.texture.levels.front().address, 4, 3, 2, ~std::uint64_t{0} / 2, ~std::uint64_t{0} / 2}}) {
    m.texture.levels = {level};
    CHECK(message_of([&] { m.numbers(tex_1d, {{0}}); }).find("the object's memory") != std::string::npos);
  }
}

}  // namespace
}  // namespace warpmat::texture_test
