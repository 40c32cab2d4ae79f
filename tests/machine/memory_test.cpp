
#include "machine/kernel.h"
#include "test.h"

namespace warpmat::memory_test {
namespace {

TEST_CASE("shared variables have the addresses that ptxas gives them: in order, at their declared alignment, the dynamic array last",
          "[machine][memory]") {
  const std::string body = R"(
    .shared .align 2 .b8 a[6];
    .shared .align 2 .b8 b[512];
    .shared .align 4 .b8 c[6];
    .shared .align 64 .b8 e[4];
    mov.u32 %r0, a;
    mov.u32 %r1, b;
    mov.u32 %r2, c;
    mov.u32 %r3, e;
    mov.u32 %r4, dynamic;
    setp.eq.u32 %p1, %i, 1;
    setp.eq.u32 %p2, %i, 2;
    setp.eq.u32 %p3, %i, 3;
    setp.eq.u32 %p4, %i, 4;
    mov.u32 %d, %r0;
    @%p1 mov.u32 %d, %r1;
    @%p2 mov.u32 %d, %r2;
    @%p3 mov.u32 %d, %r3;
    @%p4 mov.u32 %d, %r4;
)";
  const std::string before = ".extern .shared .align 16 .b8 dynamic[];\n.shared .b32 unused[100];";
  // Figures of ptxas 13.0.
  for (const auto& [target, base] : {std::pair{"sm_80", 0u}, std::pair{"sm_90", 0x400u}, std::pair{"sm_120", 0x400u}}) {
    const std::vector<std::uint32_t> expected{base, base + 0x6, base + 0x208, base + 0x240, base + 0x250};
    CHECK(words_of(word_kernel(body, target, before), {1}, {5}, {}, 64) == expected);
  }
}

TEST_CASE("of lanes that store to one place the first of the last 128 bytes' stays, in shared and in global memory", "[machine][memory]") {
  // As an H200 did, in all of 147,603 groups of lanes of random stores.
  const std::string before = ".global .align 16 .b8 of_module[512];";
  const std::string body = R"(
    .shared .align 16 .b8 of_block[512];
    mov.u64 %l1, PLACE;
    cvt.u16.u32 %s1, %i;
    cvt.u64.u32 %l2, %i;
    setp.ge.u32 %p1, %i, FIRST;
    @%p1 st.SPACE.u8 [%l1], %s1;
    @%p1 st.SPACE.u16 [%l1+16], %s1;
    @%p1 st.SPACE.u32 [%l1+32], %i;
    @%p1 st.SPACE.u64 [%l1+48], %l2;
    @%p1 st.SPACE.v4.u32 [%l1+64], {%i, %i, %i, %i};
    @%p1 st.SPACE.v4.u8 [%l1+80], {%i, %i, %i, %i};
    @%p1 st.SPACE.v2.u64 [%l1+96], {%l2, %l2};
    bar.warp.sync -1;
    mul.wide.u32 %l3, %i, 16;
    add.s64 %l1, %l1, %l3;
    setp.lt.u32 %p2, %i, 7;
    @%p2 ld.SPACE.u8 %d, [%l1];
)";
  for (const auto& [space, place] : {std::pair{"shared", "of_block"}, std::pair{"global", "of_module"}})
    for (const std::uint32_t first : {0u, 5u, 27u}) {
      CAPTURE(space, first);
      std::string text = body;
      for (const auto& [word, by] : {std::pair{"PLACE", std::string(place)}, {"SPACE", space}, {"FIRST", std::to_string(first)}})
        for (std::size_t at; (at = text.find(word)) != std::string::npos;) text.replace(at, std::string_view(word).size(), by);
      const std::vector<std::uint32_t> found = words_of(word_kernel(text, "sm_90", before), {1}, {32});
      const std::uint32_t of_16 = std::max(first, 16u), of_8 = std::max(first, 24u);
      CHECK(std::vector(found.begin(), found.begin() + 7) == std::vector{first, first, first, of_16, of_8, first, of_8});
    }
}

TEST_CASE("loads and stores of every width, signed ones extended to their register", "[machine][memory]") {
  const Module module = word_kernel(R"(
    .shared .align 16 .b8 buffer[1024];
    mov.u32 %r0, buffer;
    shl.b32 %r1, %i, 4;
    add.u32 %r0, %r0, %r1;
    mov.u32 %r2, 0x80818283;
    st.shared.u32 [%r0], %r2;
    st.shared.u64 [%r0+8], 0x1122334455667788;
    ld.shared.s8 %r3, [%r0+3];
    ld.shared.u8 %r4, [%r0+3];
    ld.shared.s16 %s1, [%r0+2];
    cvt.u32.u16 %r5, %s1;
    ld.shared.s8 %s2, [%r0+1];
    cvt.u32.u16 %r6, %s2;
    ld.shared.s32 %l1, [%r0];
    shr.u64 %l1, %l1, 32;
    cvt.u32.u64 %r7, %l1;
    ld.shared.v2.u16 {%s3, %s4}, [%r0+12];
    cvt.u32.u16 %r8, %s4;
    st.shared.u8 [%r0], %l1;
    ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r0];
    add.u32 %d, %r3, %r4;          // 0xffffff80 + 0x80
    add.u32 %d, %d, %r5;           // 0x8081
    add.u32 %d, %d, %r6;           // 0xff82
    add.u32 %d, %d, %r7;           // 0xffffffff
    add.u32 %d, %d, %r8;           // 0x1122
    add.u32 %d, %d, %r10;          // 0x808182ff
    add.u32 %d, %d, %r13;          // 0x11223344
)");
  const std::uint32_t expected = 0xffffff80u + 0x80u + 0x8081u + 0xff82u + 0xffffffffu + 0x1122u + 0x808182ffu + 0x11223344u;
  CHECK(words_of(module, {1}, {40}) == std::vector<std::uint32_t>(40, expected));
}

TEST_CASE("generic addresses reach every space; the low half of a shared one is the shared address", "[machine][memory]") {
  const Module module = word_kernel(
      R"(
    .shared .u32 word[32];
    .local .u32 mine[4];
    mov.u64 %l0, word;
    shl.b32 %r0, %i, 2;
    cvt.u64.u32 %l9, %r0;
    add.u64 %l0, %l0, %l9;
    cvta.shared.u64 %l1, %l0;
    st.u32 [%l1], %i;
    cvt.u32.u64 %r1, %l1;
    ld.shared.u32 %r2, [%r1];
    mov.u64 %l2, mine;
    cvta.local.u64 %l3, %l2;
    st.u32 [%l3+4], 100;
    ld.local.u32 %r3, [mine+4];
    cvta.to.local.u64 %l4, %l3;
    ld.local.u32 %r4, [%l4+4];
    mov.u64 %l5, constant;
    cvta.const.u64 %l5, %l5;
    ld.u32 %r5, [%l5+4];
    ld.const.u32 %r6, [constant];
    ld.global.u64 %l6, [pointer];
    ld.u32 %r7, [%l6];
    isspacep.shared %p1, %l1;
    isspacep.global %p2, %l1;
    isspacep.global %p3, %out;
    isspacep.local %p4, %l3;
    and.pred %p1, %p1, %p3;
    and.pred %p1, %p1, %p4;
    not.pred %p2, %p2;
    and.pred %p1, %p1, %p2;
    selp.u32 %d, 1000, 0, %p1;
    add.u32 %d, %d, %r2;
    add.u32 %d, %d, %r3;
    add.u32 %d, %d, %r4;
    add.u32 %d, %d, %r5;
    add.u32 %d, %d, %r6;
    add.u32 %d, %d, %r7;
)",
      "sm_90",
      ".const .align 4 .u32 constant[2] = {20000, 300000};\n.global .u32 target = 4000000;\n.global .u64 pointer = generic(target);");
  std::vector<std::uint32_t> expected;
  for (std::uint32_t i = 0; i < 32; ++i) expected.push_back(1000 + i + 200 + 320000 + 4000000);
  CHECK(words_of(module, {1}, {32}) == expected);
}

/// Bit i of %d says whether the address is in the space of question i.
std::string are_in_spaces(const std::vector<std::string>& questions) {
  std::string text;
  for (std::size_t i = 0; i < questions.size(); ++i)
    text += "isspacep." + questions[i] + "; selp.u32 %r0, " + std::to_string(1 << i) + ", 0, %p0; or.b32 %d, %d, %r0;\n";
  return text;
}

// As an H200 has them.
TEST_CASE("isspacep: global addresses are all but those of shared and local memory", "[machine][memory]") {
  const Module module = word_kernel(R"(
    .shared .u32 shared; .local .u32 local;
    mov.u64 %l0, shared; cvta.shared.u64 %l0, %l0;
    mov.u64 %l1, local; cvta.local.u64 %l1, %l1;
    mov.u64 %l2, 0x200000000000;
    mov.u64 %l3, 0x7fff00000000;
    mov.u64 %l4, out; cvta.param.u64 %l4, %l4;
)" + are_in_spaces({"global %p0, %l0", "global %p0, %l1", "global %p0, %l2", "global %p0, %l3", "global %p0, %l4", "global %p0, %out",
                    "const %p0, %l2", "param %p0, %l4"}));
  CHECK(words_of(module, {1}, {1}) == std::vector<std::uint32_t>{4 + 8 + 16 + 32 + 128});
}

TEST_CASE("isspacep: addresses of constants are in .const and not in .global", "[machine][memory]") {
  const Module module = word_kernel(R"(
    mov.u64 %l0, small; cvta.const.u64 %l0, %l0;
    mov.u64 %l1, large; cvta.const.u64 %l1, %l1; add.u64 %l1, %l1, 60;
    mov.u64 %l2, variable; cvta.global.u64 %l2, %l2;
    add.u64 %l3, %l1, 4;
)" + are_in_spaces({"const %p0, %l0", "const %p0, %l1", "const %p0, %l2", "const %p0, %l3", "global %p0, %l0", "global %p0, %l1",
                    "global %p0, %l2"}),
                                    "sm_90", ".const .u32 small; .global .u32 variable; .const .align 4 .b8 large[64];");
  CHECK(words_of(module, {1}, {1}) == std::vector<std::uint32_t>{1 + 2 + 64});
}

TEST_CASE("parameters: structs, offsets, addresses of parameters", "[machine][memory]") {
  struct Parameters {
    std::uint8_t a;
    double b;
    std::uint16_t c[3];
  };
  const Module module = module_of(".param .u64 out, .param .align 8 .b8 s[24], .param .u8 small, .param .f32 f", R"(
    .reg .b32 %r<9>; .reg .b64 %l<9>; .reg .f64 %f<3>; .reg .f32 %g<3>; .reg .b16 %s<3>;
    ld.param.u64 %l0, [out];
    ld.param.u8 %r0, [s];
    ld.param.f64 %f0, [s+8];
    cvt.rzi.u32.f64 %r1, %f0;
    mov.b64 %l1, s;
    ld.param.u16 %s1, [%l1+20];
    cvt.u32.u16 %r2, %s1;
    cvta.param.u64 %l2, %l1;
    ld.u16 %r3, [%l2+16];
    ld.param.u8 %r4, [small];
    ld.param.f32 %g0, [f];
    cvt.rzi.u32.f32 %r5, %g0;
    st.global.v4.u32 [%l0], {%r0, %r1, %r2, %r3};
    st.global.v2.u32 [%l0+16], {%r4, %r5};
    ret;
)");
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(24, "out");
  const Kernel kernel(module, "k");
  launch(kernel, {{1}, {1}}, memory, {out, Parameters{7, 123.0, {11, 22, 33}}, std::uint8_t{200}, 9.5f});
  CHECK(memory.read<std::uint32_t>(out, 6) == std::vector<std::uint32_t>{7, 123, 33, 11, 200, 9});

  CHECK_THROWS_AS(launch(kernel, {{1}, {1}}, memory, {out}), std::invalid_argument);
  CHECK(message_of([&] {
          launch(kernel, {{1}, {1}}, memory, {out, Parameters{}, 200, 9.5f});
        }).find("small) has 1 bytes, its argument has 4") != std::string::npos);
}

TEST_CASE("an access outside of a buffer names lane, line, address and the nearest buffer", "[machine][memory]") {
  const Module module = module_of(".param .u64 out", R"(
    .reg .b32 %r<9>; .reg .b64 %l<9>;
    ld.param.u64 %l0, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %l1, %r0, 4;
    add.u64 %l0, %l0, %l1;
    st.global.u32 [%l0], %r0;
    ret;
)");
  DeviceMemory memory;
  (void)memory.allocate(4096, "before");
  const std::uint64_t out = memory.allocate(4 * 40, "out");
  try {
    launch(Kernel(module, "k"), {{1}, {64}}, memory, {out});
    FAIL("no trap");
  } catch (const Trap& trap) {
    CHECK(trap.site.kernel == "k");
    CHECK(trap.site.warp == 1);
    CHECK(trap.site.lane == 8);
    CHECK(trap.site.line == 13);
    CHECK(trap.address == out + 160);
    CHECK(trap.reason.find("0 bytes beyond the end of buffer 'out' of 160 bytes") != std::string::npos);
  }
  // Lanes before it have not stored either: a statement that traps has changed nothing.
  CHECK(memory.read<std::uint32_t>(out, 40)[33] == 0);

  memory.free(out);
  CHECK(message_of([&] { launch(Kernel(module, "k"), {{1}, {32}}, memory, {out}); }).find("which was freed") != std::string::npos);
}

TEST_CASE("misaligned addresses and shared memory's end", "[machine][memory]") {
  CHECK(trap_of(word_kernel("ld.global.v2.u32 {%r1, %r2}, [%out];"), {32}).find("not a multiple of 8") != std::string::npos);
  const std::string trap = trap_of(word_kernel(".shared .u32 x[4]; mov.u32 %r1, x; ld.shared.u32 %d, [%r1+16];"), {32});
  CHECK(trap.find("outside of shared memory, which has 16 bytes from 0x400 on") != std::string::npos);
}

TEST_CASE("a read reaches across no gap between two buffers", "[machine][memory]") {
  DeviceMemory memory;
  const std::uint64_t a = memory.allocate(1000, "a"), b = memory.allocate(1000, "b");
  CHECK(a % 256 == 0);
  CHECK(b - (a + 1000) >= 4096);
  CHECK_THROWS_AS(memory.read<std::uint8_t>(a, 1001), std::out_of_range);
  CHECK(memory.describe(b - 8).find("8 bytes before buffer 'b'") != std::string::npos);
}

TEST_CASE("a variable of the module is found by its name, read and set, and keeps its contents between launches", "[machine][memory]") {
  const Module module = word_kernel(R"(
    mov.u64 %l0, counter;
    atom.global.add.u32 %r0, [%l0+4], 1;
    ld.const.u32 %r1, [scale];
    mul.lo.u32 %d, %r0, %r1;
)",
                                    "sm_90", ".global .align 4 .u32 counter[2] = {7, 40};\n.const .align 4 .u32 scale = 2;");
  const Kernel kernel(module, "k");
  std::map<std::string, std::uint64_t> sizes;
  for (const Kernel::Variable& variable : kernel.variables()) sizes[variable.name + (variable.constant ? " const" : "")] = variable.bytes;
  CHECK(sizes == std::map<std::string, std::uint64_t>{{"counter", 8}, {"scale const", 4}});
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4, "out");
  const std::uint64_t counter = variable_address(kernel, memory, "counter"), scale = variable_address(kernel, memory, "scale");
  CHECK(memory.read<std::uint32_t>(counter, 2) == std::vector<std::uint32_t>{7, 40});
  launch(kernel, {}, memory, {out});
  CHECK(memory.read<std::uint32_t>(out, 1)[0] == 80);
  memory.bytes(scale, 4)[0] = 3;
  launch(kernel, {}, memory, {out});
  CHECK(memory.read<std::uint32_t>(out, 1)[0] == 123);
  CHECK(memory.read<std::uint32_t>(counter, 2) == std::vector<std::uint32_t>{7, 42});
  CHECK_THROWS_WITH(variable_address(kernel, memory, "count"), "the module has no .global or .const variable 'count'");
}

TEST_CASE(".global and .const variables of a body are there once, with their contents, hidden in their scope", "[machine][memory]") {
  const std::string before = ".global .u32 number = 1;\n";
  const std::string body = R"(
    .reg .b32 %a;
    .const .u32 seven = 7;
    { .global .u32 number = 2; ld.global.u32 %a, [number]; add.u32 %d, %d, %a; add.u32 %a, %a, 1; st.global.u32 [number], %a; }
    { .global .u32 number = 10; ld.global.u32 %a, [number]; add.u32 %d, %d, %a; }
    ld.global.u32 %a, [number]; mad.lo.u32 %d, %a, 100, %d;
    ld.const.u32 %a, [seven]; mad.lo.u32 %d, %a, 1000, %d;
  )";
  const Module module = word_kernel(body, "sm_90", before);
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4, "out");
  const Kernel kernel(module, "k");
  for (const std::uint32_t first : {2u, 3u}) {
    launch(kernel, {{1}, {1}}, memory, {out});
    CHECK(memory.read<std::uint32_t>(out, 1).front() == 7000 + 100 + 10 + first);
  }
  CHECK(memory.read<std::uint32_t>(variable_address(kernel, memory, "number"), 1).front() == 1);
}

TEST_CASE("memory is placed at addresses that another memory gave it, without overlap", "[machine]") {
  DeviceMemory memory(0x1000'0000);
  const std::vector<std::uint8_t> contents{1, 2, 3, 4};
  memory.place(0x7000, contents, "a");
  memory.place(0x7004, contents, "b");
  memory.place(0x6000, {}, "empty");
  CHECK(memory.read<std::uint8_t>(0x7000, 4) == contents);
  CHECK(memory.read<std::uint8_t>(0x7006, 2) == std::vector<std::uint8_t>{3, 4});
  CHECK_THROWS_AS(memory.read<std::uint8_t>(0x7002, 4), std::out_of_range);  // they are two buffers
  for (const std::uint64_t address : {0x6ffdu, 0x7000u, 0x7003u, 0x7007u})
    CHECK_THROWS_AS(memory.place(address, contents, "c"), std::invalid_argument);
  CHECK(memory.allocate(8) >= 0x1000'0000);
}

TEST_CASE("what is allocated keeps away from what is placed", "[machine]") {
  DeviceMemory memory(0x10'0000);
  memory.place(0x10'0800, std::vector<std::uint8_t>(0x1000, 9), "placed");
  const std::uint64_t address = memory.allocate(0x8000, "allocated");
  CHECK(address >= 0x10'1800 + 4096);
  CHECK(memory.read<std::uint8_t>(0x10'0800, 0x1000) == std::vector<std::uint8_t>(0x1000, 9));
  CHECK_THROWS_WITH(memory.place(0x7e00'0000'0000, std::vector<std::uint8_t>{1}, "shared"),
                    ContainsSubstring("global memory lies elsewhere"));
  CHECK_THROWS_AS(memory.place(~std::uint64_t{0}, std::vector<std::uint8_t>{1}, "last"), std::invalid_argument);
}

TEST_CASE("a buffer is found by its addresses and its name, and is read alone", "[machine][memory]") {
  DeviceMemory memory;
  const std::uint64_t a = memory.allocate(std::vector<std::uint32_t>{7, 8}, "a");
  const std::optional<DeviceMemory::Buffer> found = memory.find(a + 7);
  REQUIRE(found);
  for (int i = 0; i < 100; ++i) CHECK(memory.allocate(8, "twice") > a);
  CHECK(found->name == "a");  // as long as the memory has it
  CHECK(found->address == a);
  CHECK(found->end() == a + 8);
  CHECK_FALSE(found->freed);
  REQUIRE(found->contents.size() == 8);
  CHECK(found->contents[4] == std::byte{8});
  CHECK(memory.find_name("a")->address == a);
  CHECK_FALSE(memory.find_name("twice"));
  CHECK_FALSE(memory.find(a + 8));
  CHECK_FALSE(memory.find(a - 1));
  memory.free(a);
  CHECK(memory.find(a)->freed);
  CHECK(memory.find(a)->contents.empty());
  CHECK_FALSE(memory.find_name("a"));

  DeviceMemory moved = std::move(memory);
  CHECK(moved.find(a)->name == "a");
}

TEST_CASE("a module's variables may lie where another memory had them", "[machine]") {
  const Module module(R"(
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 here = 5;
.global .align 4 .u32 there = 6;
.visible .entry read(.param .u64 to) {
  .reg .u64 %to; .reg .u32 %x, %y;
  ld.param.u64 %to, [to];
  ld.global.u32 %x, [here];
  ld.global.u32 %y, [there];
  st.global.u32 [%to], %x;
  st.global.u32 [%to+4], %y;
  ret;
}
)");
  const Kernel kernel(module, "read");
  DeviceMemory memory(0x1000'0000);
  memory.place(0x7000, std::vector<std::uint8_t>{99, 0, 0, 0}, "there");
  CHECK_THROWS_WITH(place_variables(kernel, memory, {{"nowhere", 0x7000}}), ContainsSubstring("no .global or .const variable 'nowhere'"));
  CHECK_THROWS_WITH(place_variables(kernel, memory, {{"there", 0x7001}}), ContainsSubstring("does not lie in one buffer at 0x7001"));
  place_variables(kernel, memory, {{"there", 0x7000}});
  CHECK_THROWS_WITH(place_variables(kernel, memory, {{"there", 0x7000}}), ContainsSubstring("lie in this memory already"));
  CHECK(variable_address(kernel, memory, "there") == 0x7000);
  const std::uint64_t to = memory.allocate(8, "to");
  launch(kernel, {.grid = {1}, .block = {1}}, memory, {to});
  CHECK(memory.read<std::uint32_t>(to, 2) == std::vector<std::uint32_t>{5, 99});
}

TEST_CASE("a large buffer keeps its place for the next of its size, which is all zero", "[machine][memory]") {
  constexpr std::uint64_t bytes = 1 << 20;
  DeviceMemory memory;
  const std::uint64_t first = memory.allocate(bytes);
  const auto of_first = memory.bytes(first, bytes);
  const void* const place = of_first.data();
  std::ranges::fill(of_first, std::uint8_t{7});
  memory.free(first);
  const std::uint64_t second = memory.allocate(bytes), third = memory.allocate(bytes);
  CHECK(second != first);
  CHECK(memory.bytes(second, bytes).data() == place);
  CHECK(memory.bytes(third, bytes).data() != place);
  CHECK(std::ranges::all_of(memory.bytes(second, bytes), [](std::uint8_t byte) { return byte == 0; }));
}

}  // namespace
}  // namespace warpmat::memory_test
