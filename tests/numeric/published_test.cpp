#include <fmt/format.h>
#include <warpmat/execute/instruction.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "catch.h"
#include "execute/registers.h"
#include "tally.h"
#include "vectors_published.h"

using namespace warpmat;

namespace {

/// One dot product that a GPU has computed.
struct Published {
  std::vector<double> a, b;
  double c;
  std::string f32_result, f16_result;  ///< an f32 bit pattern, or "-"
};

std::uint64_t hex(const std::string& text) {
  return std::stoull(text, nullptr, 16);
}

double f32_value(const std::string& text) {
  return to_double(Format::f32, hex(text));
}

std::vector<double> f32_values(const std::string& list) {
  std::vector<double> values;
  std::istringstream words(list);
  for (std::string word; words >> word;) values.push_back(f32_value(word));
  return values;
}

std::vector<Published> published(const Table& table) {
  std::vector<Published> out;
  for (const auto& fields : table) {
    REQUIRE(fields.size() == 5);
    out.push_back({f32_values(fields[0]), f32_values(fields[1]), f32_value(fields[2]), fields[3], fields[4]});
    REQUIRE(out.back().a.size() == out.back().b.size());
    REQUIRE(out.back().a.size() == out.front().a.size());
  }
  return out;
}

void compare(Tally& tally, const std::string& file, std::size_t line, Format format, std::uint64_t got, const std::string& published_bits) {
  const std::uint64_t expected = format == Format::f32 ? hex(published_bits) : from_double(format, f32_value(published_bits));
  tally.expect(got == expected,
               [&] { return fmt::format("{}, line {}: got {} {:#x}, the GPU {:#x}", file, line + 1, name(format), got, expected); });
}

/// The opcode of the instruction that has computed dot products of `k` elements.
std::string opcode_of(Format format, std::size_t k, Format accumulator) {
  const std::string_view in = name(format), out = name(accumulator);
  return fmt::format("mma.sync.aligned.{}k{}.row.col.{}.{}.{}.{}", k == 4 && format == Format::f16 ? "m8n8" : "m16n8", k, out, in, in, out);
}

/// Where dot product `i` of an instruction lies: on the diagonal, of m8n8k4 on those of all four products.
Element place_of(std::size_t i) {
  const int index = static_cast<int>(i % 8);
  return {index, index, static_cast<int>(i / 8)};
}

/// Executes `mma` with dot products as its diagonal, as many as fit from line `first` on, and compares them. Returns how many fit.
std::size_t replay(Tally& tally, const std::string& file, const Instruction& mma, const std::vector<Published>& all, std::size_t first) {
  const Form& form = mma.form();
  const Operand &a = form.operand(OperandName::a), &b = form.operand(OperandName::b), &c = form.operand(OperandName::c);
  const std::size_t count = std::min<std::size_t>(8 * static_cast<std::size_t>(c.fragment.matrices()), all.size() - first);
  FormRegisters registers(form);
  for (std::size_t i = 0; i < count; ++i) {
    const Published& p = all[first + i];
    const auto [row, column, matrix] = place_of(i);
    for (int k = 0; k < form.shape.k; ++k) {
      const auto index = static_cast<std::size_t>(k);
      write_element(a.fragment, registers[OperandName::a].list(), {row, k, matrix}, from_double(*a.format, p.a[index]));
      write_element(b.fragment, registers[OperandName::b].list(), {k, column, matrix}, from_double(*b.format, p.b[index]));
    }
    write_element(c.fragment, registers[OperandName::c].list(), place_of(i), from_double(*c.format, p.c));
  }
  mma.execute(registers.arguments());
  for (std::size_t i = 0; i < count; ++i) {
    const Published& p = all[first + i];
    const std::string& bits = *c.format == Format::f32 ? p.f32_result : p.f16_result;
    if (bits != "-") compare(tally, file, first + i, *c.format, read_element(c.fragment, registers[OperandName::d].list(), place_of(i)), bits);
  }
  return count;
}

constexpr auto directory = "published";
constexpr std::size_t lines = 2500;  // of every file

struct Gpu {
  std::string_view name, target;  ///< the target's lowering decides the arithmetic
  std::vector<Format> formats;
  std::vector<Format> fp8_results = {};  ///< f16 has results in f32 and f16, bf16 and tf32 in f32
};

using enum Format;
const Gpu gpus[] = {{"V100", "sm_70", {f16}},
                    {"A100", "sm_80", {f16, bf16, tf32}},
                    {"A2", "sm_86", {f16, bf16, tf32}},
                    {"Ada", "sm_89", {f16, bf16, tf32, e4m3, e5m2}, {f32, f16}},
                    {"L40S", "sm_89", {f16, bf16, tf32, e4m3, e5m2}, {f32}},
                    {"H100", "sm_90", {f16, bf16, tf32, e4m3, e5m2}, {f16}},
                    {"H200", "sm_90a", {f16, bf16, tf32, e4m3, e5m2}, {f16}},
                    {"B200", "sm_100", {f16, bf16, tf32, e4m3, e5m2}, {f32, f16}}};

std::vector<Format> results(const Gpu& gpu, Format format) {
  if (row(format).bits == 8) return gpu.fp8_results;
  return format == f16 ? std::vector{f32, f16} : std::vector{f32};
}

}  // namespace

TEST_CASE("mma returns what published outputs of real GPUs say, bit for bit", "[vectors]") {
  if (!has_vectors(directory)) {
    WARN(no_vectors(directory));
    return;
  }
  std::string report;
  std::size_t compared = 0;
  for (const Gpu& gpu : gpus)
    for (const Format format : gpu.formats) {
      const std::string file = fmt::format("{}/{}_{}.tsv.gz", directory, gpu.name, name(format));
      const std::vector<Published> all = published(read_vectors(file));
      REQUIRE(all.size() == lines);
      for (const Format accumulator : results(gpu, format)) {
        const Instruction mma(opcode_of(format, all.front().a.size(), accumulator), gpu.target);
        Tally tally;
        for (std::size_t line = 0; line < lines;) line += replay(tally, file, mma, all, line);
        CHECK(tally.failures() == "");
        CHECK(tally.comparisons() == lines);
        CHECK(mma.lowering().evidence >= Evidence::replayed);
        compared += tally.comparisons();
        report += fmt::format("{} {} of {} as {} by {}\n", gpu.name, gpu.target, name(format), name(accumulator),
                              machine_name(mma.form(), mma.lowering()));
      }
    }
  CHECK(compared == 44 * lines);
  WARN(fmt::format("compared {} results of mma with published ones, {} of each:\n{}", compared, lines, report));
}
