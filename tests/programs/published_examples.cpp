#include "programs/published_examples.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include <warpmat/warpmat.h>

namespace warpmat {
namespace {

constexpr std::size_t f16_bytes = 2;

using Halves = std::vector<double>;  ///< values of f16 elements

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("cannot read {}", path.string()));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A warp with a program of this folder, its shared variables as lists of f16.
class Machine {
 public:
  explicit Machine(const std::filesystem::path& file) : program_(parse(read_file(file))), warp_(program_) {}
  Machine(const Machine&) = delete;  // the warp points to the program
  Machine& operator=(const Machine&) = delete;

  void write(std::string_view variable, const Halves& values) {
    auto bytes = warp_.shared().bytes().subspan(address(variable), values.size() * f16_bytes);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t bits = from_double(Format::f16, values[i]);
      bytes[2 * i] = static_cast<std::uint8_t>(bits);
      bytes[2 * i + 1] = static_cast<std::uint8_t>(bits >> 8);
    }
  }

  Halves read(std::string_view variable) const {
    const auto count = static_cast<std::size_t>(program_.find_variable(variable)->count);
    const auto bytes = warp_.shared().bytes().subspan(address(variable), count * f16_bytes);
    Halves values(count);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = to_double(Format::f16, bytes[2 * i] | static_cast<std::uint64_t>(bytes[2 * i + 1]) << 8);
    return values;
  }

  /// The two f16 of each of `registers` in `lane`: "0 1, 128 129".
  std::string pairs(const std::vector<std::string>& registers, std::size_t lane) const {
    std::string text;
    for (const std::string& name : registers) {
      const std::uint32_t word = warp_.reg(name)[lane];
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_double(Format::f16, word & 0xffff), to_double(Format::f16, word >> 16));
    }
    return text;
  }

  void run() { warpmat::run(warp_); }

 private:
  std::size_t address(std::string_view variable) const { return static_cast<std::size_t>(program_.find_variable(variable)->address); }

  Program program_;
  Warp warp_;
};

/// 0, 1, 2, …
Halves counting(std::size_t count) {
  Halves values(count);
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

/// Row-major `values` as text, one line a row, `format` for each element.
std::string matrix_text(const Halves& values, std::size_t columns, std::string_view format) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    text += fmt::format(fmt::runtime(format), values[i]);
    text += (i + 1) % columns == 0 ? '\n' : ' ';
  }
  return text;
}

Comparison compare_text(std::string what, const std::string& computed, const std::string& published) {
  std::istringstream ours(computed), theirs(published);
  std::string our_line, their_line;
  for (int line = 1;; ++line) {
    const bool more = !std::getline(ours, our_line).fail(), expected = !std::getline(theirs, their_line).fail();
    if (!more && !expected) return {std::move(what), ""};
    if (more != expected) return {std::move(what), fmt::format("line {} is {}", line, expected ? "missing" : "too many")};
    if (our_line != their_line) return {std::move(what), fmt::format("line {} is '{}', expected '{}'", line, our_line, their_line)};
  }
}

// ---- The examples -------------------------------------------------------------------------------------------------------------------

constexpr std::string_view one_decimal = "{:5.1f}";
constexpr std::string_view four_decimals = "{:7.4f}";

/// What lanes hold after ldmatrix .x4.trans and write one after another, from the definition: it is not among the published figures.
std::string x4_trans_from_definition() {
  Halves result;
  for (std::size_t lane = 0; lane < warp_size; ++lane)
    for (std::size_t matrix = 0; matrix < 4; ++matrix)
      for (std::size_t i = 0; i < 2; ++i) {
        const std::size_t row = 8 * (matrix / 2) + 2 * (lane % 4) + i, column = 8 * (matrix % 2) + lane / 4;
        result.push_back(static_cast<double>(16 * row + column));
      }
  return matrix_text(result, 16, one_decimal);
}

Example load_and_store_back(const std::filesystem::path& programs) {
  Example example{"ldmatrix .x1, .x2, .x4 of 8x8, 8x16, 16x16, stored as the lanes hold them", {}, {}};
  struct Case {
    std::string name;
    std::size_t columns;
  };
  const Case cases[] = {{"ldmatrix_x1", 8},        {"ldmatrix_x1_trans", 8}, {"ldmatrix_x2", 16},
                        {"ldmatrix_x2_trans", 16}, {"ldmatrix_x4", 16},      {"ldmatrix_x4_trans", 16}};
  for (const Case& c : cases) {
    Machine machine(programs / (c.name + ".ptx"));
    machine.write("source", counting(machine.read("source").size()));
    machine.run();
    const std::string result = matrix_text(machine.read("result"), c.columns, one_decimal);
    example.computed += fmt::format("{}: Result Matrix:\n{}\n", c.name, result);
    const bool published = c.name != "ldmatrix_x4_trans";
    example.comparisons.push_back(
        compare_text(c.name + (published ? "" : " (with its definition)"), result,
                     published ? read_file(programs / "expected" / (c.name + ".txt")) : x4_trans_from_definition()));
  }
  return example;
}

Example corner_of_a_tile(const std::filesystem::path& programs) {
  Example example{"the upper left 8x8 corner of a 64x64 tile", {}, {}};
  Machine machine(programs / "tile_64x64.ptx");
  machine.write("source", counting(64 * 64));
  machine.run();
  const Halves result = machine.read("result");
  for (std::size_t lane = 0; lane < warp_size; ++lane)
    example.computed += fmt::format("Thread {}, row {} : Values -> ({:f}, {:f})\n", lane, lane % 8, result[2 * lane], result[2 * lane + 1]);
  example.comparisons.push_back(compare_text("tile_64x64: 32 lines", example.computed, read_file(programs / "expected/tile_64x64.txt")));
  return example;
}

/// A of the product, (16 i + k) / 100 at (i, k), row-major; the same numbers, fewer, are B, (16 n + k) / 100 at (k, n), column-major.
Halves hundredths(std::size_t count) {
  Halves values = counting(count);
  std::ranges::for_each(values, [](double& value) { value /= 100; });
  return values;
}

std::string product_text(const std::filesystem::path& program) {
  Machine machine(program);
  machine.write("a", hundredths(16 * 16));
  machine.write("b", hundredths(16 * 8));
  machine.run();
  return matrix_text(machine.read("c"), 8, four_decimals);
}

Example product(const std::filesystem::path& programs) {
  Example example{"mma.m16n8k16, f16 x f16 -> f32, rounded to f16", {}, {}};
  for (const std::string name : {"mma_m16n8k16_elements", "mma_m16n8k16_ldmatrix"}) {
    const std::string result = product_text(programs / (name + ".ptx"));
    example.computed += fmt::format("{}: Device Results:\n{}\n", name, result);
    example.comparisons.push_back(compare_text(name + " on sm_80", result, read_file(programs / "expected/mma_m16n8k16.txt")));
  }
  return example;
}

Example fragments(const std::filesystem::path& programs) {
  Example example{"what lanes hold of A and B, and C through stmatrix", {}, {}};
  Machine machine(programs / "fragments_b_trans.ptx");
  machine.write("a", counting(16 * 16));
  machine.write("b_columns", counting(16 * 8));
  Halves by_rows;  // the same B: element (k, n) is 16 n + k
  for (int k = 0; k < 16; ++k)
    for (int n = 0; n < 8; ++n) by_rows.push_back(16 * n + k);
  machine.write("b_rows", by_rows);
  machine.run();

  struct Case {
    std::string what;
    std::vector<std::string> registers;
    std::size_t lane;
    std::string published;
  };
  const Case cases[] = {
      {"A", {"%a0", "%a1", "%a2", "%a3"}, 0, "0 1, 128 129, 8 9, 136 137"},
      {"A", {"%a0", "%a1", "%a2", "%a3"}, 1, "2 3, 130 131, 10 11, 138 139"},
      {"B from columns", {"%from_columns0", "%from_columns1"}, 0, "0 1, 8 9"},
      {"B from columns", {"%from_columns0", "%from_columns1"}, 1, "2 3, 10 11"},
      {"B from rows by .trans", {"%from_rows0", "%from_rows1"}, 0, "0 1, 8 9"},
      {"B from rows without .trans, wrong", {"%wrong0", "%wrong1"}, 0, "0 16, 8 24"},
  };
  for (const Case& c : cases) {
    const std::string held = machine.pairs(c.registers, c.lane);
    const std::string what = fmt::format("{} in lane {}", c.what, c.lane);
    example.computed += fmt::format("{}: {}\n", what, held);
    example.comparisons.push_back(compare_text(what, held, c.published));
  }

  const std::string c = product_text(programs / "stmatrix_c.ptx");
  example.computed += "\nstmatrix_c: C:\n" + c;
  example.comparisons.push_back(compare_text("stmatrix_c on sm_90", c, read_file(programs / "expected/mma_m16n8k16.txt")));
  return example;
}

Example transposition(const std::filesystem::path& programs) {
  Example example{"a 16x16 transposition through ldmatrix, movmatrix and stores", {}, {}};
  Machine machine(programs / "transpose_16x16.ptx");
  machine.write("source", counting(16 * 16));
  machine.run();
  example.computed = matrix_text(machine.read("result"), 16, one_decimal);
  Halves transposed;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) transposed.push_back(16 * j + i);
  example.comparisons.push_back(compare_text("transpose_16x16", example.computed, matrix_text(transposed, 16, one_decimal)));
  return example;
}

}  // namespace

std::vector<Example> run_published_examples(const std::filesystem::path& programs) {
  return {load_and_store_back(programs), corner_of_a_tile(programs), product(programs), fragments(programs), transposition(programs)};
}

}  // namespace warpmat
