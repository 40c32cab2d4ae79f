#include <warpmat/execute/fast/instruction_sets.h>
#include <warpmat/execute/wgmma_products.h>
#include <warpmat/wgmma.h>

#include "compressed_table.h"
#include "test.h"

namespace warpmat::wgmma_test {
namespace {

using Catch::Matchers::StartsWith;

using Words = std::vector<std::uint32_t>;

std::vector<std::uint8_t> bytes_of(const std::string& hex) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes.push_back(static_cast<std::uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

Words words_of(const std::string& hex) {
  const std::vector<std::uint8_t> bytes = bytes_of(hex);
  Words words(bytes.size() / 4);
  for (std::size_t i = 0; i < bytes.size(); ++i) words[i / 4] |= std::uint32_t{bytes[i]} << 8 * (i % 4);
  return words;
}

/// The registers of one warp, from those of 128 threads: `count` of them.
Words of_warp(const Words& all, int warp, int count) {
  Words words;
  for (int i = 0; i < count; ++i)
    for (int lane = 0; lane < warp_size; ++lane) words.push_back(all[static_cast<std::size_t>(i * 128 + warp * warp_size + lane)]);
  return words;
}

std::vector<std::uint32_t*> pointers(Words& words) {
  std::vector<std::uint32_t*> all;
  for (std::size_t i = 0; i < words.size(); i += warp_size) all.push_back(words.data() + i);
  return all;
}

const Target& hopper() {
  return *find_target("sm_90a");
}

Wgmma wgmma(const std::string& opcode, const WgmmaImmediates& immediates = {}) {
  return {*find_wgmma(opcode), hopper(), newest_ptx, immediates};
}

TEST_CASE("wgmma has the H200's bits, by the fast path and by the reference", "[execute][wgmma]") {
  std::set<std::string> types;
  for (const auto& row : read_table(source_path("tests/vectors/wgmma_sm_90.tsv.gz"))) {
    if (row.front().starts_with('#')) continue;
    const WgmmaForm* form = find_wgmma(row[0]);
    REQUIRE(form != nullptr);
    const Wgmma instruction(*form, hopper(), newest_ptx,
                            {.negates_a = row[2] == "-1", .negates_b = row[3] == "-1", .selector = std::stoi(row[1])});
    SharedMemory memory(bytes_of(row[7]), 1024);
    const std::uint64_t descriptor = MatrixDescriptor({.start = 1024, .leading = 128, .stride = 4096}).encode();
    Words b(b_words(instruction.form()));
    read_b(instruction, memory, descriptor, b.data());
    const Words a = words_of(row[5]), metadata = words_of(row[6]), c = words_of(row[8]), d = words_of(row[9]);
    for (int warp = 0; warp < 4; ++warp)
      for (const Path path : {Path::fast, Path::reference}) {
        INFO(row[0] << " warp " << warp << " path " << static_cast<int>(path));
        Words result = of_warp(c, warp, form->d_registers());
        const Words own_metadata = form->sparse() ? of_warp(metadata, warp, 1) : Words();
        multiply(instruction, pointers(result), of_warp(a, warp, 4).data(), b.data(), own_metadata.data(), row[4] == "1", {.path = path});
        REQUIRE(result == of_warp(d, warp, form->d_registers()));
      }
    types.insert(row[0]);
  }
  CHECK(types.size() == 17 + 4 + 16 + 4);  // dense, .satfinite, sparse, sparse .satfinite: every pair of types, of width 8
}

TEST_CASE("the registers of D may be those of A", "[execute][wgmma]") {
  const Wgmma instruction = wgmma("wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16");
  Words a(a_words(instruction.form())), b(b_words(instruction.form())),
      c(static_cast<std::size_t>(instruction.form().d_registers()) * warp_size);
  std::mt19937 random(1);
  for (Words* words : {&a, &b, &c})
    for (std::uint32_t& word : *words) word = random() & 0x3fff3fff;  // numbers from 0 to 2
  // A's registers are the first of D: what is read is what they held before.
  Words both = c;
  std::copy(a.begin(), a.end(), both.begin());
  Words alone = both;
  multiply(instruction, pointers(alone), a.data(), b.data(), nullptr, true);
  multiply(instruction, pointers(both), both.data(), b.data(), nullptr, true);
  CHECK(both == alone);
}

TEST_CASE("operands in memory come to the places that the fragments of the tile name", "[execute][wgmma]") {
  // Each byte of memory tells its address, which the fragment's element says in another way.
  std::vector<std::uint8_t> low(1 << 16), high(1 << 16);
  for (std::size_t i = 0; i < low.size(); ++i) {
    low[i] = static_cast<std::uint8_t>(i);
    high[i] = static_cast<std::uint8_t>(i >> 8);
  }
  const MatrixDescriptor descriptor({.start = 4096, .leading = 2064, .stride = 1040, .base_offset = 3, .swizzle = Swizzle::bytes_64});
  for (const char* opcode :
       {"wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16", "wgmma.mma_async.sync.aligned.m64n24k8.f32.tf32.tf32",
        "wgmma.mma_async.sp.sync.aligned.m64n24k64.s32.s8.u8", "wgmma.mma_async.sp.sync.aligned.m64n24k32.f16.f16.f16"})
    for (const Major major : {Major::k, Major::mn}) {
      const WgmmaForm& form = *find_wgmma(opcode);
      if (major == Major::mn && !form.transposes()) continue;
      INFO(opcode << " major " << static_cast<int>(major));
      const Wgmma instruction(form, hopper(), newest_ptx, {.major_a = major, .major_b = major});
      const Fragment &a = form.tile->operand(OperandName::a).fragment, &b = form.tile->operand(OperandName::b).fragment;
      const auto bytes = static_cast<std::uint32_t>(a.element_bits() / 8);
      const auto expected = [&](std::uint32_t mn, std::uint32_t k) {
        return major == Major::k ? descriptor.address(major, mn, k * bytes) : descriptor.address(major, k, mn * bytes);
      };
      const auto check = [&](const Fragment& fragment, bool is_a, auto read, std::size_t words, std::uint32_t first_mn) {
        Words from_low(words), from_high(words);
        read(SharedMemory(low), from_low.data());
        read(SharedMemory(high), from_high.data());
        for (int reg = 0; reg < fragment.registers(); ++reg)
          for (int lane = 0; lane < warp_size; ++lane)
            for (int i = 0; i < fragment.elements_per_register(); ++i) {
              const int bit = i * fragment.element_bits();
              const Element e = fragment.element({lane, reg, bit});
              const auto word = static_cast<std::size_t>(reg * warp_size + lane);
              const std::uint32_t address = (from_low[word] >> bit & 0xff) | (from_high[word] >> bit & 0xff) << 8;
              const auto line = static_cast<std::uint32_t>(is_a ? e.row : e.column),
                         k = static_cast<std::uint32_t>(is_a ? e.column : e.row);
              REQUIRE(address == expected(first_mn + line, k));
            }
      };
      for (int warp = 0; warp < 4; ++warp)
        check(
            a, true, [&](const SharedMemory& m, std::uint32_t* to) { read_a(instruction, m, descriptor.encode(), warp, to); },
            a_words(instruction.form()), static_cast<std::uint32_t>(16 * warp));
      const std::size_t tile_words = static_cast<std::size_t>(form.tile_b_registers()) * warp_size;
      for (std::uint32_t tile = 0; tile < 3; ++tile)
        check(
            b, false,
            [&](const SharedMemory& m, std::uint32_t* to) {
              Words all(b_words(instruction.form()));
              read_b(instruction, m, descriptor.encode(), all.data());
              std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(tile * tile_words), tile_words, to);
            },
            tile_words, 8 * tile);
    }
}

TEST_CASE("the columns of a wide product are those of narrow ones", "[execute][wgmma]") {
  std::mt19937 random(1);
  const Wgmma wide = wgmma("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16");
  const Wgmma narrow = wgmma("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16");
  Words a(a_words(wide.form())), b(b_words(wide.form())), d(128 * warp_size);
  for (Words* words : {&a, &b, &d})
    for (std::uint32_t& word : *words) word = static_cast<std::uint32_t>(random());
  Words result = d;
  multiply(wide, pointers(result), a.data(), b.data(), nullptr, true);
  for (std::size_t tile = 0; tile < 32; ++tile) {
    Words part(d.begin() + static_cast<std::ptrdiff_t>(tile * 4 * warp_size),
               d.begin() + static_cast<std::ptrdiff_t>((tile + 1) * 4 * warp_size));
    multiply(narrow, pointers(part), a.data(), b.data() + tile * 2 * warp_size, nullptr, true);
    REQUIRE(std::equal(part.begin(), part.end(), result.begin() + static_cast<std::ptrdiff_t>(tile * 4 * warp_size)));
  }
}

TEST_CASE("a product that leaves shared memory names operand and address", "[execute][wgmma]") {
  const Wgmma instruction = wgmma("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16");
  Words b(b_words(instruction.form()));
  const std::uint64_t descriptor = MatrixDescriptor({.start = 1024, .leading = 1024, .stride = 0}).encode();
  CHECK_THROWS_WITH(
      read_b(instruction, SharedMemory(1024, 1024), descriptor, b.data()),
      ContainsSubstring("the matrix that the descriptor of operand b names leaves shared memory, which has 1024 bytes from 0x400 on"));
  CHECK_NOTHROW(read_b(instruction, SharedMemory(1152, 1024), descriptor, b.data()));
}

TEST_CASE("a call whose descriptor leaves shared memory names the warp that reads there", "[execute][wgmma]") {
  const Instruction instruction = find("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "sm_90a");
  constexpr std::size_t warps = 8, group = 4, memory_bytes = 1024;
  const std::uint64_t inside = MatrixDescriptor({.start = 0, .leading = 128, .stride = 0}).encode();
  const std::uint64_t from_warp_2 = MatrixDescriptor({.start = 0, .leading = 128, .stride = 256}).encode();  // 512 bytes for each warp
  const std::uint64_t outside = MatrixDescriptor({.start = memory_bytes, .leading = 128, .stride = 0}).encode();
  std::vector<std::uint8_t> memory(memory_bytes);
  Words d(warps * group * warp_size), one{1};
  const auto message = [&](std::uint64_t a, std::uint64_t b, std::int64_t warp) {  // of the second warpgroup
    Words descriptors;
    for (const auto& [first, second] : {std::pair(inside, a), std::pair(inside, b)})
      for (std::size_t i = 0; i < warps; ++i) {
        const std::uint64_t descriptor = i < group ? first : second;
        descriptors.push_back(static_cast<std::uint32_t>(descriptor));
        descriptors.push_back(static_cast<std::uint32_t>(descriptor >> 32));
      }
    std::vector<RegisterView> views(instruction.operands().size());
    for (std::size_t i = 0; i < views.size(); ++i) {
      const std::string_view name = instruction.operands()[i].name();
      if (name == "d") views[i] = {d.data(), group * warp_size};
      if (name == "a-desc") views[i] = {descriptors.data(), 2, 1, 0};
      if (name == "b-desc") views[i] = {descriptors.data() + 2 * warps, 2, 1, 0};
      if (name == "scale-d") views[i] = {one.data(), 0, 1, 0};
    }
    Call call;
    call.shared = memory.data();
    call.shared_bytes = memory.size();
    call.operands = views;
    REQUIRE_FALSE(instruction.problem(call, warps));
    try {
      instruction.execute(call, warps);
    } catch (const Trap& trap) {
      CHECK(trap.site.warp == warp);
      return std::string(trap.what());
    }
    return std::string("nothing");
  };
  CHECK(message(inside, inside, 0) == "nothing");
  CHECK_THAT(message(from_warp_2, inside, 6), StartsWith("warp 6: ") && ContainsSubstring("operand a names leaves"));
  CHECK_THAT(message(inside, outside, 4), StartsWith("warp 4: ") && ContainsSubstring("operand b names leaves"));
}

TEST_CASE("immediates that a form does not have are refused", "[execute][wgmma]") {
  const std::string integers = "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8",
                    tf32 = "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32";
  CHECK_THROWS_WITH(wgmma(integers, {.negates_a = true}), ContainsSubstring("it has no imm-scale-a"));
  CHECK_THROWS_WITH(wgmma(tf32, {.major_b = Major::mn}), ContainsSubstring("only 16-bit types may be transposed"));
  CHECK_THROWS_WITH(wgmma(tf32, {.selector = 1}), ContainsSubstring("no such selector"));
  CHECK_THROWS_WITH(Wgmma(*find_wgmma(tf32), *find_target("sm_90"), newest_ptx, {}),
                    ContainsSubstring("needs sm_90a; the target is sm_90"));
}

TEST_CASE("The registers of D of a wgmma may lie in any order", "[execute][wgmma]") {
  std::mt19937 random(5);
  for (const char* const opcode :
       {"wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16", "wgmma.mma_async.sync.aligned.m64n24k16.f16.f16.f16",
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", "wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e4m3",
        "wgmma.mma_async.sync.aligned.m64n32k32.s32.s8.s8"}) {
    const Wgmma product = wgmma(opcode);
    CAPTURE(opcode);
    Words a(a_words(product.form())), b(b_words(product.form())), d(static_cast<std::size_t>(product.form().d_registers()) * warp_size);
    for (Words* const words : {&a, &b, &d})
      for (std::uint32_t& word : *words) word = static_cast<std::uint32_t>(random()) & 0xbf3fbf3f;
    a[17] |= 0x7c007c00;  // special in f16
    for (const bool accumulates : {false, true}) {
      Words expected = d;
      multiply(product, pointers(expected), a.data(), b.data(), nullptr, accumulates);
      for (const Path path : {Path::fast, Path::reference})
        for (int order = 0; order < 3; ++order) {  // downwards, with gaps, and any
          Words apart(2 * d.size());
          std::vector<std::uint32_t*> places = pointers(apart);
          for (std::size_t i = 0; i < places.size() / 2; ++i)
            if (order == 1) places[i] = places[2 * i];
          places.resize(places.size() / 2);
          if (order == 0) std::reverse(places.begin(), places.end());
          if (order == 2) std::shuffle(places.begin(), places.end(), random);
          for (std::size_t i = 0; i < places.size(); ++i) std::copy_n(d.data() + i * warp_size, warp_size, places[i]);
          multiply(product, places, a.data(), b.data(), nullptr, accumulates, {.path = path});
          Words found;
          for (const std::uint32_t* const place : places) found.insert(found.end(), place, place + warp_size);
          CHECK(found == expected);
        }
    }
  }
}

TEST_CASE("a chain of wgmma has the results of its products one after the other", "[execute][wgmma]") {
  std::mt19937 random(7);
  // All bits, and numbers around 1, among them a few NaNs and infinities.
  const auto number = [&](bool any) {
    const auto word = static_cast<std::uint32_t>(random());
    return any || random() % 500 == 0 ? word : (word & 0x807f807f) | 0x3f003f00;
  };
  std::vector<std::string_view> sets = instruction_sets();
  const bool executes = !sets.empty();
  if (!executes) sets.push_back({});
  for (const std::string_view set : sets)
    for (const char* const opcode :
         {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "wgmma.mma_async.sync.aligned.m64n40k16.f32.f16.f16",
          "wgmma.mma_async.sync.aligned.m64n24k16.f32.bf16.bf16", "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16",
          "wgmma.mma_async.sync.aligned.m64n24k16.f16.f16.f16", "wgmma.mma_async.sync.aligned.m64n16k8.f32.tf32.tf32",
          "wgmma.mma_async.sync.aligned.m64n24k32.f32.e4m3.e5m2", "wgmma.mma_async.sync.aligned.m64n16k32.f16.e5m2.e4m3",
          "wgmma.mma_async.sync.aligned.m64n24k32.s32.s8.u8.satfinite", "wgmma.mma_async.sync.aligned.m64n16k32.s32.u8.s8",
          "wgmma.mma_async.sync.aligned.m64n16k256.s32.b1.b1.and.popc"})
      for (std::size_t count = 2; count <= most_in_chain; ++count)
        for (int how = 0; how < 24; ++how) {
          const bool accumulates = (how & 1) != 0, any = (how & 2) != 0, gaps = (how & 4) != 0, down = (how & 8) != 0;
          const bool mixed = how >= 16;  // neither up nor down
          CAPTURE(set, opcode, count, accumulates, any, gaps, down, mixed);
          if (executes) use_instruction_set(set);
          const Wgmma product = wgmma(opcode);
          const auto registers = static_cast<std::size_t>(product.form().d_registers());
          std::vector<Words> a(count, Words(a_words(product.form()))), b(count, Words(b_words(product.form())));
          for (std::vector<Words>* const operand : {&a, &b})
            for (Words& words : *operand) std::ranges::generate(words, [&] { return number(any); });
          Words expected(registers * warp_size);
          std::ranges::generate(expected, [&] { return number(any); });
          Words memory(2 * expected.size());
          std::vector<std::uint32_t*> d;
          for (std::size_t i = 0; i < registers; ++i) d.push_back(memory.data() + (gaps ? 2 : 1) * i * warp_size);
          if (down) std::ranges::reverse(d);
          if (mixed) std::ranges::shuffle(d, random);
          for (std::size_t i = 0; i < registers; ++i) std::copy_n(expected.data() + i * warp_size, warp_size, d[i]);
          std::vector<TileFactors> chain;
          for (std::size_t i = 0; i < count; ++i) {
            chain.push_back({a[i].data(), b[i].data()});
            multiply(product, pointers(expected), a[i].data(), b[i].data(), nullptr, accumulates || i != 0);
          }
          REQUIRE(multiply_chain(product, d, chain, accumulates, {}) == executes);
          if (!executes) continue;
          Words found;
          for (const std::uint32_t* const place : d) found.insert(found.end(), place, place + warp_size);
          CHECK(found == expected);
        }
  use_best_instruction_set();
}

TEST_CASE("a chain of wgmma that is none changes nothing", "[execute][wgmma]") {
  const Wgmma product = wgmma("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16");
  const Words a(a_words(product.form()), 0x3c003c00), b(b_words(product.form()), 0x3c003c00);
  const std::vector<TileFactors> chain(2, {a.data(), b.data()});
  Words d(5 * warp_size, 0x3f800000);
  const Words before = d;
  const std::vector<std::uint32_t*> even = {&d[0], &d[32], &d[64], &d[96]}, overlapping = {&d[0], &d[64], &d[32], &d[80]};
  const std::vector<TileFactors> own(2, {d.data(), b.data()});
  CHECK_FALSE(multiply_chain(product, overlapping, chain, true, {}));
  CHECK_FALSE(multiply_chain(product, even, own, true, {}));  // A is D
  CHECK_FALSE(multiply_chain(product, even, chain, true, {.path = Path::reference}));
  CHECK_FALSE(multiply_chain(wgmma("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", {.negates_a = true}), even, chain, true, {}));
  CHECK(d == before);
}

}  // namespace
}  // namespace warpmat::wgmma_test
