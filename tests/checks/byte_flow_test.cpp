// Which bytes of sources an operation moves and which it computes with: against what the ISA says of each instruction.

#include <warpmat/machine/internals.h>
#include <warpmat/provenance/byte_flow.h>
#include <warpmat/ptx/syntax/module.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::byte_flow_test {
namespace {

using provenance::ByteFlow;
using provenance::SourceByte;

struct alignas(64) Lanes {
  std::array<std::uint32_t, 128> words{};
};

/// The flow of the first computing statement after "marker" in a kernel of this statement, whose sources have these widths; 0: a constant
/// 0.
ByteFlow flow_of(const std::string& statement, std::vector<int> widths, std::uint32_t value = 0) {
  const Kernel kernel(
      word_kernel("mov.u32 %d, %clock; mov.b64 %l9, %clock64; mov.u32 %r1, %clock; mov.u32 %r2, %clock; mov.u32 %r3, %clock;\n" +
                  statement),
      "k");
  const auto& program = program_of(kernel);
  const std::string opcode = statement.substr(0, statement.find(' '));
  for (const code::Operation& operation : program.operations) {
    if (program.statements[operation.statement]->opcode != opcode || operation.sources != widths.size()) continue;
    std::vector<Lanes> values(widths.size());
    std::vector<provenance::FlowSource> sources;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      values[i].words.fill(value);
      sources.push_back({values[i].words.data(), widths[i]});
    }
    return byte_flow(program, operation, sources, false);
  }
  FAIL("no operation for " << statement);
  return {};
}

std::vector<SourceByte> moved(const ByteFlow& flow) {
  std::vector<SourceByte> all;
  for (const ByteFlow::Byte& byte : flow.results[0].bytes) all.push_back(byte.moved);
  return all;
}

const SourceByte none{};

bool depends(const ByteFlow::Byte& byte, SourceByte on) {
  return std::ranges::find(byte.parts, on) != byte.parts.end();
}

TEST_CASE("Bytes that an instruction moves are found", "[checks]") {
  using Bytes = std::vector<SourceByte>;
  CHECK(moved(flow_of("and.b32 %d, %r1, %r2;", {4, 0}, 0xffff)) == Bytes{{0, 0}, {0, 1}, none, none});
  CHECK(moved(flow_of("shl.b32 %d, %r1, %r2;", {4, 0}, 16)) == Bytes{none, none, {0, 0}, {0, 1}});
  CHECK(moved(flow_of("prmt.b32 %d, %r1, %r2, %r3;", {4, 4, 0}, 0x1054)) == Bytes{{1, 0}, {1, 1}, {0, 0}, {0, 1}});
  CHECK(moved(flow_of("xor.b32 %d, %r1, %r2;", {4, 4})) == Bytes{none, none, none, none});
}

TEST_CASE("Bytes that a result depends on are those of its half", "[checks]") {
  const ByteFlow flow = flow_of("add.rn.f16x2 %d, %r1, %r2;", {4, 4});
  for (std::int16_t source = 0; source < 2; ++source) {
    CHECK(depends(flow.of(0, 0, 0), {source, 0}));
    CHECK(depends(flow.of(0, 0, 3), {source, 3}));
    for (std::int16_t b = 2; b < 4; ++b) CHECK_FALSE(depends(flow.of(0, 0, 0), {source, b}));
    for (std::int16_t b = 0; b < 2; ++b) CHECK_FALSE(depends(flow.of(0, 0, 3), {source, b}));
  }
  const ByteFlow smaller = flow_of("min.u32 %d, %r1, %r2;", {4, 4});
  CHECK(smaller.of(0, 0, 3).moved == none);  // one or the other, by their values
  CHECK(depends(smaller.of(0, 0, 3), {0, 3}));
  CHECK(depends(smaller.of(0, 0, 3), {1, 3}));
}

TEST_CASE("The sources with which every byte of a result is computed", "[checks]") {
  const ByteFlow sum = flow_of("fma.rn.f32 %d, %r1, %r2, %r3;", {4, 4, 4});
  CHECK(sum.results[0].sources == 0b111);
  CHECK(sum.results[0].alike);
  const ByteFlow scaled = flow_of("fma.rn.f32 %d, %r1, %r2, %r3;", {4, 0, 4}, 0x40000000);
  CHECK(scaled.results[0].sources == 0b101);
  // Bytes 2 and 3 are zero: they have nothing to do with the source.
  const ByteFlow low = flow_of("and.b32 %d, %r1, %r2;", {4, 0}, 0xffff);
  CHECK(low.results[0].sources == 0);
  CHECK_FALSE(low.results[0].alike);
}

}  // namespace
}  // namespace warpmat::byte_flow_test
