#include "gpu/programs/compared_launch.h"

#include <warpmat/assembler/ptxas.h>

#include "test.h"
#include "tools/command.h"

// Launches as a GPU would leave them, written by hand.

namespace warpmat::compared_launch_test {
namespace {

using namespace warpmat::programs;

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t first_address = 0x7f12'3400'0000, second_address = 0x7f12'3500'0100;

const char* const text = R"(
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 offset = 1;

.visible .entry _Z3addPsPKs(.param .u64 to, .param .u64 from) {
  .reg .u64 %to, %from; .reg .u32 %i, %x, %y;
  ld.param.u64 %to, [to];
  ld.param.u64 %from, [from];
  ld.global.u64 %from, [%from];
  mov.u32 %i, %tid.x;
  mad.wide.u32 %from, %i, 2, %from;
  mad.wide.u32 %to, %i, 2, %to;
  ld.global.u16 %x, [%from];
  ld.global.u32 %y, [offset];
  add.u32 %x, %x, %y;
  st.global.u16 [%to], %x;
  ret;
}

.visible .entry forever() {
again:
  bra again;
}

.visible .entry in_order(.param .u64 tickets) {  // ends only where the warps come in their order
  .reg .u64 %to; .reg .u32 %i, %ticket; .reg .pred %other;
  ld.param.u64 %to, [tickets];
  mov.u32 %i, %tid.x;
  rem.u32 %ticket, %i, 32;
  setp.ne.u32 %other, %ticket, 0;
  @%other ret;
  div.u32 %i, %i, 32;
  atom.global.add.u32 %ticket, [%to], 1;
again:
  setp.ne.u32 %other, %i, %ticket;
  @%other bra again;
  ret;
}

.visible .entry product_and_sum(.param .u64 p) {
  .reg .u64 %p; .reg .f32 %a, %b, %c;
  ld.param.u64 %p, [p];
  ld.global.f32 %a, [%p];
  ld.global.f32 %b, [%p+4];
  ld.global.f32 %c, [%p+8];
  mul.f32 %a, %a, %b;
  add.f32 %a, %a, %c;
  st.global.f32 [%p], %a;
  ret;
}
)";

Bytes bytes_of(const std::vector<std::uint16_t>& numbers) {
  Bytes bytes(2 * numbers.size());
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

Bytes bytes_of(std::uint64_t address) {
  Bytes bytes(8);
  std::memcpy(bytes.data(), &address, 8);
  return bytes;
}

/// An archive with one launch, as it is compared.
class Recording {
 public:
  Recording() : writer_(directory_.path("a")) {
    launch.number = 7;
    launch.ptx = put({text, text + std::strlen(text)});
  }
  Content put(const Bytes& bytes) { return writer_.put(bytes); }
  void add(const char* name, std::uint64_t address, const Bytes& before, const Bytes& after, bool variable = false) {
    launch.buffers.push_back({name, variable, address, put(before), put(after), {}});
  }
  std::string file() {
    writer_.put_line(to_line(RecordedProgram{"a GPU", "sm_90a"}));
    writer_.put_line(to_line(launch));
    return directory_.path("a");
  }
  programs::Comparison compared(std::chrono::seconds time = std::chrono::seconds(60), const std::function<bool()>& stop = {}) {
    const ArchiveReader archive(file());
    const ArchiveLine line = parse_line(archive.line(1));
    REQUIRE(line.launch);
    return LaunchComparer(archive, {.target = "", .jobs = 2, .most_time = time, .stop = stop}).compare(*line.launch, "sm_90a");
  }

  RecordedLaunch launch;

 private:
  TemporaryDirectory directory_;
  ArchiveWriter writer_;
};

/// Four sums: to[i] = from[i] + offset, where the buffer `from` begins with the address of its numbers.
void fill(Recording& recording, const std::vector<std::uint16_t>& gpu) {
  recording.launch.kernel = "_Z3addPsPKs";
  recording.launch.config = {.grid = {1}, .block = {4}};
  recording.launch.arguments = {bytes_of(first_address), bytes_of(second_address)};
  Bytes from = bytes_of(second_address + 8);
  const Bytes numbers = bytes_of(std::vector<std::uint16_t>{10, 20, 30, 0xffff});
  from.insert(from.end(), numbers.begin(), numbers.end());
  recording.add("to", first_address, Bytes(8), bytes_of(gpu));
  recording.add("from", second_address, from, from);
  recording.add("offset", 0x7f12'3600'0000, {5, 0, 0, 0}, {5, 0, 0, 0}, true);
}

TEST_CASE("a launch is executed from the memory that the GPU had, at its addresses", "[programs]") {
  Recording recording;
  fill(recording, {15, 25, 35, 4});
  const programs::Comparison comparison = recording.compared();
  CHECK(comparison.not_compared == "");
  CHECK(comparison.bytes == 28);
  CHECK(comparison.different == 0);
  CHECK(comparison.buffers.empty());
}

TEST_CASE("each element that differs is named, in the parameter's type", "[programs]") {
  Recording recording;
  fill(recording, {15, 24, 35, 0xff04});
  const programs::Comparison comparison = recording.compared();
  CHECK(comparison.different == 2);
  REQUIRE(comparison.buffers.size() == 1);
  const BufferDifference& difference = comparison.buffers.front();
  CHECK(difference.buffer == 0);
  CHECK(difference.parameter == "parameter 0");
  CHECK(difference.type.ptx == "s16");
  CHECK(difference.elements == 2);
  REQUIRE(difference.first.size() == 2);
  CHECK(difference.first[0].index == 1);
  CHECK(difference.first[0].gpu == 24);
  CHECK(difference.first[0].emulator == 25);
  CHECK(difference.first[1].index == 3);
  CHECK(difference.first[1].gpu == 0xff04);
}

TEST_CASE("memory that the kernel does not write must stay as it is", "[programs]") {
  Recording recording;
  fill(recording, {15, 25, 35, 4});
  recording.add("other", 0x7f12'3700'0000, Bytes(100, 1), Bytes(100, 2));
  const programs::Comparison comparison = recording.compared();
  CHECK(comparison.different == 100);
  REQUIRE(comparison.buffers.size() == 1);
  CHECK(comparison.buffers.front().parameter == "");
  CHECK(comparison.buffers.front().elements == 25);
}

TEST_CASE("elements that vary on the GPU are not compared, the others are", "[programs]") {
  Recording recording;
  fill(recording, {15, 24, 35, 0xff04});
  recording.launch.twice = true;
  recording.launch.buffers[0].again = recording.put(bytes_of(std::vector<std::uint16_t>{15, 24, 35, 0xfe04}));  // one byte of an element
  const programs::Comparison comparison = recording.compared();
  CHECK(comparison.nondeterministic == 2);
  CHECK(comparison.different == 1);
  CHECK(comparison.bytes == 26);
}

TEST_CASE("a launch that is not compared has a reason", "[programs]") {
  Recording endless;
  endless.launch.kernel = "forever";
  endless.launch.config = {.grid = {1}, .block = {1}};
  const programs::Comparison late = endless.compared(std::chrono::seconds(1));
  CHECK(contains(late.not_compared, "longer than 1 s"));
  CHECK_FALSE(late.stopped);

  Recording beyond;
  fill(beyond, {15, 25, 35, 4});
  beyond.launch.config.block = {200};
  const programs::Comparison stopped = beyond.compared();
  CHECK(contains(stopped.not_compared, "outside of any buffer"));
  CHECK(stopped.stopped);

  Recording unknown;
  fill(unknown, {15, 25, 35, 4});
  unknown.launch.kernel = "other";
  CHECK(contains(unknown.compared().not_compared, "warpmat does not execute it"));

  Recording overlapping;
  fill(overlapping, {15, 25, 35, 4});
  overlapping.add("again", first_address + 4, Bytes(8), Bytes(8));
  CHECK(contains(overlapping.compared().not_compared, "overlap another buffer"));
}

TEST_CASE("a launch is given up when that is asked", "[programs]") {
  using Clock = std::chrono::steady_clock;
  Recording endless;
  endless.launch.kernel = "forever";
  endless.launch.config = {.grid = {1}, .block = {1}};
  const auto start = Clock::now();
  const programs::Comparison comparison =
      endless.compared(std::chrono::seconds(60), [start] { return Clock::now() - start > std::chrono::milliseconds(300); });
  CHECK(comparison.given_up);
  CHECK_FALSE(comparison.stopped);
  CHECK(comparison.not_compared == "interrupted");
  CHECK(Clock::now() - start < std::chrono::seconds(20));  // 0.4 s where nothing else runs

  Recording early;
  fill(early, {15, 25, 35, 4});
  CHECK(early.compared(std::chrono::seconds(60), [] { return true; }).given_up);
  CHECK_FALSE(early.compared(std::chrono::seconds(60), [] { return false; }).given_up);
}

TEST_CASE("a difference stays where the run in another order of warps is given up", "[programs]") {
  const TemporaryDirectory directory;
  using Clock = std::chrono::steady_clock;
  Recording recording;
  recording.launch.kernel = "in_order";
  recording.launch.config = {.grid = {1}, .block = {256}};
  recording.launch.arguments = {bytes_of(first_address)};
  recording.add("tickets", first_address, Bytes(4), {9, 0, 0, 0});  // eight warps take a ticket
  const auto check = [](const programs::Comparison& comparison, const char* reason) {
    CHECK(comparison.not_compared == "");
    CHECK(comparison.different == 1);
    REQUIRE(comparison.buffers.size() == 1);
    CHECK(comparison.buffers.front().first.front().emulator == 8);
    CHECK(comparison.unsettled == reason);
  };
  check(recording.compared(std::chrono::seconds(1)), "the emulation took longer than 1 s (--seconds)");
  const auto start = Clock::now();
  check(recording.compared(std::chrono::seconds(60), [start] { return Clock::now() - start > std::chrono::seconds(1); }), "interrupted");
  const Outcome outcome = run_command({"replay", "--seconds", "1", "--keep", directory.path(""), recording.file()});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.out, "differ; whether they depend on the order of warps is not known: the emulation took longer than 1 s"));
}

TEST_CASE("Ctrl-C ends replay within a launch, with the report", "[programs]") {
  Recording endless;
  endless.launch.kernel = "forever";
  endless.launch.config = {.grid = {1}, .block = {1}};
  const Outcome outcome =
      run_program("/usr/bin/timeout", {"--preserve-status", "-s", "INT", "0.5", command_path(), "replay", endless.file()});
  INFO(outcome.err);
  CHECK(outcome.status == 130);
  CHECK(contains(outcome.out, "not compared: 1 launch of 'forever': interrupted\n"));
  CHECK(contains(outcome.out, "0 launches, 0 bytes compared"));
  CHECK(contains(outcome.err, "1 recorded launches were not compared"));
}

TEST_CASE("lines of an archive that are wrong are refused", "[programs]") {
  RecordedLaunch launch;
  launch.kernel = "k";
  launch.arguments = {Bytes(8)};
  launch.printed = std::string("\xff\n", 2);
  CHECK(parse_line(to_line(launch)).launch->printed == launch.printed);
  for (const char* const wrong : {"", "[]", "{}", R"({"line": "launch"})", R"({"line": "skipped", "process": "x"})"})
    CHECK_THROWS_WITH(parse_line(wrong), ContainsSubstring("a line of the archive is wrong"));
  CHECK_FALSE(parse_line(R"({"line": "of a later version"})").launch);
}

TEST_CASE("numbers of an archive fit, and a tensor map lies in its argument", "[programs]") {
  RecordedLaunch launch;
  launch.kernel = "k";
  launch.arguments = {Bytes(3 * TensorMap::bytes)};
  TensorMap::Arguments map{.type = TensorMap::Type::u8, .rank = 1, .address = 0x1000};
  map.dims[0] = map.box[0] = 16;
  const auto with_map_at = [&](std::uint64_t at) {
    launch.maps = {{.argument = 0, .at = at, .map = map}};
    return to_line(launch);
  };
  CHECK(parse_line(with_map_at(2 * TensorMap::bytes)).launch->maps.front().at == 2 * TensorMap::bytes);
  for (const std::uint64_t at : {2 * TensorMap::bytes + 1, ~std::uint64_t{0}, ~std::uint64_t{0} - TensorMap::bytes + 1})
    CHECK_THROWS_WITH(parse_line(with_map_at(at)), ContainsSubstring("a tensor map leaves its argument"));
  const std::string line = with_map_at(0), number = "\"shared_bytes\":0";
  REQUIRE(contains(line, number));
  for (const char* const wrong : {"-1", "1.5", "4294967296", "184467440737095516150", "1e400", "\"1\"", "true"}) {
    std::string changed = line;
    INFO(wrong);
    CHECK_THROWS_WITH(parse_line(changed.replace(line.find(number), number.size(), fmt::format("\"shared_bytes\":{}", wrong))),
                      ContainsSubstring("a line of the archive is wrong"));
  }
}

/// A launch of product_and_sum on an H200, where the assembler fused nothing.
void fill_rounded(Recording& recording) {
  const auto words = [](std::uint32_t first) {
    const std::array<std::uint32_t, 3> all{first, 0xef378e9a, 0xd2a2a099};
    Bytes bytes(sizeof all);
    std::memcpy(bytes.data(), all.data(), bytes.size());
    return bytes;
  };
  recording.launch.kernel = "product_and_sum";
  recording.launch.arguments = {bytes_of(first_address)};
  recording.add("p", first_address, words(0xa53db7bc), words(0x5502f300));
}

TEST_CASE("the assembler's options and the machine code of a recorded program decide which sums are fused", "[programs]") {
  Recording by_rule, by_options, by_code;
  for (Recording* recording : {&by_rule, &by_options, &by_code}) fill_rounded(*recording);
  CHECK(by_rule.compared().different != 0);
  by_options.launch.assembler_options = "--fmad false";
  CHECK(by_options.compared().different == 0);
  const auto ptxas = find_ptxas();
  if (!ptxas) {
    WARN("skipped: no ptxas");
    return;
  }
  const std::string code = assemble(*ptxas, text, "sm_90a", "product_and_sum", "--fmad false");
  by_code.launch.machine_code = by_code.put({code.begin(), code.end()});
  CHECK(by_code.compared().different == 0);
}

}  // namespace
}  // namespace warpmat::compared_launch_test
