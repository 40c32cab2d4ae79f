#include <warpmat/forms.h>
#include <warpmat/layout/tensor_descriptor.h>
#include <warpmat/layout/tensor_memory.h>
#include <warpmat/warp/tensor_memory.h>

#include "test.h"

namespace warpmat::tensor_memory_test {
namespace {

/// The cell of register `r` of thread `t`, in words as figures 183 to 187 of PTX ISA 9.1 show it: eight threads of four, or pairs of rows.
using Formula = std::function<std::pair<int, int>(int t, int r)>;
const std::map<std::string, std::pair<int, Formula>> formulas{
    {"16x64b", {1, [](int t, int r) { return std::pair(t / 4 + t % 2 * 8, 2 * r + t / 2 % 2); }}},
    {"16x128b", {2, [](int t, int r) { return std::pair(t / 4 + r % 2 * 8, 4 * (r / 2) + t % 4); }}},
    {"16x256b", {4, [](int t, int r) { return std::pair(t / 4 + r / 2 % 2 * 8, 8 * (r / 4) + 2 * (t % 4) + r % 2); }}},
    {"32x32b", {1, [](int t, int r) { return std::pair(t, r); }}},
    {"16x32bx2", {1, [](int t, int r) { return std::pair(t % 16, r + (t >= 16 ? 200 : 0)); }}},
};

TEST_CASE("each register of tcgen05.ld and st is the cell that the figures show, for every shape and repeat", "[layout][tcgen05]") {
  for (const auto& [name, of_shape] : formulas) {
    const TransferShape* shape = find_transfer_shape(name);
    REQUIRE(shape != nullptr);
    for (int repeats = 1; repeats * of_shape.first <= max_transfer_registers; repeats *= 2)
      for (const bool halves : {false, true}) {
        const Transfer transfer{shape, repeats, halves, 200};
        REQUIRE(transfer.registers() == repeats * of_shape.first);
        std::set<std::pair<int, int>> cells;
        for (int t = 0; t < 32; ++t)
          for (int r = 0; r < transfer.registers(); ++r)
            for (int half = 0; half < (halves ? 2 : 1); ++half) {
              auto [lane, column] = of_shape.second(t, r);
              const bool second = name == "16x32bx2" && t >= 16;
              if (halves) column = 2 * (column - (second ? 200 : 0)) + half + (second ? 200 : 0);
              REQUIRE(transfer.place(t, r, half) == TensorCell{lane, column});
              cells.insert({lane, column});
            }
        // Every cell of the rectangle once: except where the second one of 16x32bx2 begins within the first.
        const auto expected = static_cast<std::size_t>(32 * transfer.registers() * (halves ? 2 : 1));
        if (name != "16x32bx2" || !halves || repeats < 128) CHECK(cells.size() == expected);
      }
  }
  CHECK(transfer_shapes().size() == formulas.size());
  CHECK(find_transfer_shape("32x128b") == nullptr);
}

TEST_CASE("shared memory descriptors of tcgen05 name the addresses of the canonical layouts", "[layout][tcgen05]") {
  // PTX ISA 9.1 section 9.7.16.3.3, and CuTe for atoms of 32 bytes: in units of 16 bytes, with x along the contiguous axis, y the other
  // one.
  struct Case {
    int mode, b, base, shift;
    unsigned width, lines;
    bool mn;
  };
  constexpr unsigned start = 8192, leading = 4096, stride = 2048;
  for (const Case& c : {Case{0, 0, 4, 3, 1, 8, true}, Case{6, 1, 4, 3, 2, 8, true}, Case{4, 2, 4, 3, 4, 8, true},
                        Case{2, 3, 4, 3, 8, 8, true}, Case{1, 2, 5, 2, 8, 4, true}, Case{0, 0, 4, 3, 1, 8, false},
                        Case{6, 1, 4, 3, 2, 8, false}, Case{4, 2, 4, 3, 4, 8, false}, Case{2, 3, 4, 3, 8, 8, false}}) {
    const std::uint64_t bits = std::uint64_t{start >> 4} | std::uint64_t{leading >> 4} << 16 | std::uint64_t{stride >> 4} << 32 |
                               std::uint64_t{1} << 46 | static_cast<std::uint64_t>(c.mode) << 61;
    const DecodedTensorDescriptor decoded = decode_tensor_descriptor(bits);
    REQUIRE_FALSE(decoded.problem);
    for (unsigned y = 0; y < 32; ++y)
      for (unsigned x = 0; x < 16; ++x) {
        if (!c.mn && c.mode != 0 && x >= c.width) continue;  // the leading offset is not used there
        const bool exchanged = c.mn && c.mode == 0;
        unsigned address = start + x % c.width * 16 + y % c.lines * c.width * 16;
        address += x / c.width * (exchanged ? stride : leading) + y / c.lines * (exchanged ? leading : stride);
        const unsigned chosen = address >> (c.base + c.shift) & ((1u << c.b) - 1);
        REQUIRE(decoded.descriptor.address(c.mn ? Major::mn : Major::k, y, 16 * x) == (address ^ chosen << c.base));
      }
  }
}

TEST_CASE("wrong fields of a shared memory descriptor are named", "[layout][tcgen05]") {
  const std::uint64_t good = std::uint64_t{1} << 46;
  CHECK_FALSE(decode_tensor_descriptor(good).problem);
  const auto problem = [&](std::uint64_t bits) { return decode_tensor_descriptor(bits).problem.value_or("none"); };
  CHECK_THAT(problem(0), ContainsSubstring("has 0 in bits 46 to 48, which are the descriptor's version, 0b001"));
  CHECK_THAT(problem(good | std::uint64_t{1} << 14), ContainsSubstring("has 1 in bits 14 to 15"));
  CHECK_THAT(problem(good | std::uint64_t{2} << 30), ContainsSubstring("has 2 in bits 30 to 31"));
  CHECK_THAT(problem(good | std::uint64_t{1} << 52), ContainsSubstring("absolute address"));
  CHECK_THAT(problem(good | std::uint64_t{1} << 60), ContainsSubstring("bits 53 to 60"));
  for (const std::uint64_t mode : {3u, 5u, 7u})
    CHECK_THAT(problem(good | mode << 61), ContainsSubstring("has swizzling mode " + std::to_string(mode)));
}

TEST_CASE("a tile of tensor memory lies as the accumulators of mma in registers", "[layout][tcgen05]") {
  const Fragment& fragment = find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")->operand(OperandName::d).fragment;
  TensorMemory memory;
  for (int lane = 0; lane < TensorMemory::lanes; ++lane)
    for (int column = 0; column < TensorMemory::columns; ++column)
      memory.word(lane, column) = static_cast<std::uint32_t>(lane * TensorMemory::columns + column);
  int wrong = 0;
  for (int lane = 0; lane < TensorMemory::lanes; lane += 16)
    for (int column = 0; column < TensorMemory::columns; column += 8)
      for (int row = 0; row < 16; ++row)
        for (int i = 0; i < 8; ++i) {
          const Place place = fragment.place({row, i, 0});
          const std::uint32_t word = memory.tile(lane, column)[place.reg][static_cast<std::size_t>(place.lane)];
          wrong += word != static_cast<std::uint32_t>((lane + row) * TensorMemory::columns + column + i);
        }
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace warpmat::tensor_memory_test
