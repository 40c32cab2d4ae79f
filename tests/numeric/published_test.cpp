#include <fmt/format.h>
#include <warpmat/isa/instruction.h>
#include <warpmat/isa/matrix.h>

#include <bit>
#include <sstream>
#include <vector>

#include "catch.h"
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

/// Calls `visit(format, text)` for the results that `p` has: in f32 and in f16.
template <typename Visit>
void for_each_result(const Published& p, Visit visit) {
  if (p.f32_result != "-") visit(Format::f32, p.f32_result);
  if (p.f16_result != "-") visit(Format::f16, p.f16_result);
}

void compare(Tally& tally, const std::string& file, std::size_t line, Format format, std::uint64_t got, const std::string& published_bits) {
  const std::uint64_t expected = format == Format::f32 ? hex(published_bits) : from_double(format, f32_value(published_bits));
  tally.expect(got == expected,
               [&] { return fmt::format("{}, line {}: got {} {:#x}, the GPU {:#x}", file, line + 1, name(format), got, expected); });
}

struct Registers {
  std::array<Register, 4> words{};
  std::array<Register*, 4> pointers{&words[0], &words[1], &words[2], &words[3]};

  RegisterList of(const Operand& operand) { return std::span(pointers).first(static_cast<std::size_t>(operand.words())); }
};

/// Executes `instruction` with the dot products as its diagonal, from line `first` on, and compares that.
void replay_diagonal(Tally& tally, const std::string& file, const Instruction& instruction, const std::vector<Published>& all,
                     std::size_t first) {
  const Form& form = instruction.form();
  const Operand &a = form.operand(OperandName::a), &b = form.operand(OperandName::b), &c = form.operand(OperandName::c);
  const std::size_t count = std::min<std::size_t>(8, all.size() - first);
  Eigen::MatrixXd a_matrix = Eigen::MatrixXd::Zero(form.shape.m, form.shape.k),
                  b_matrix = Eigen::MatrixXd::Zero(form.shape.k, form.shape.n),
                  c_matrix = Eigen::MatrixXd::Zero(form.shape.m, form.shape.n);
  for (std::size_t i = 0; i < count; ++i) {
    const Published& p = all[first + i];
    const auto index = static_cast<Eigen::Index>(i);
    a_matrix.row(index) = Eigen::Map<const Eigen::RowVectorXd>(p.a.data(), form.shape.k);
    b_matrix.col(index) = Eigen::Map<const Eigen::VectorXd>(p.b.data(), form.shape.k);
    c_matrix(index, index) = p.c;
  }
  Registers ra, rb, rc, rd;
  scatter(a.fragment, *a.format, a_matrix, ra.of(a));
  scatter(b.fragment, *b.format, b_matrix, rb.of(b));
  scatter(c.fragment, *c.format, c_matrix, rc.of(c));
  Arguments arguments{.sources = {}, .destination = rd.of(c)};
  arguments.source(OperandName::a) = ra.of(a);
  arguments.source(OperandName::b) = rb.of(b);
  arguments.source(OperandName::c) = rc.of(c);
  instruction.execute(arguments);

  for (std::size_t i = 0; i < count; ++i)
    for_each_result(all[first + i], [&](Format format, const std::string& bits) {
      const Element element{static_cast<int>(i), static_cast<int>(i)};
      if (format == *c.format) compare(tally, file, first + i, format, read_element(c.fragment, rd.of(c), element), bits);
    });
}

struct Gpu {
  std::string_view name, target;
};

// A target of each GPU's hardware: its lowering decides the arithmetic.
constexpr Gpu gpus[] = {{"A100", "sm_80"}, {"A2", "sm_86"},    {"Ada", "sm_89"},  {"L40S", "sm_89"},
                        {"H100", "sm_90"}, {"H200", "sm_90a"}, {"B200", "sm_100"}};

/// Compares `file` with dot products of one step after the other under `model`.
void replay_steps(Tally& tally, const std::string& file, const DotModel& model, Format format, const std::vector<Published>& all) {
  for (std::size_t line = 0; line < all.size(); ++line) {
    std::vector<Value> a, b;
    for (const double x : all[line].a) a.push_back(decode(format, from_double(format, x)));
    for (const double x : all[line].b) b.push_back(decode(format, from_double(format, x)));
    for_each_result(all[line], [&](Format accumulator, const std::string& bits) {
      const std::uint64_t c = from_double(accumulator, all[line].c);
      compare(tally, file, line, accumulator, dot(model, step_elements(model, format), accumulator, a, b, c), bits);
    });
  }
}

constexpr auto directory = "published";

/// The results of `gpu` for `format`. The directory is whole where it is there at all: a missing file is an error.
struct Source {
  std::string file;
  std::vector<Published> all;

  Source(std::string_view gpu, Format format)
      : file(fmt::format("{}/{}_{}.tsv.gz", directory, gpu, name(format))), all(published(read_vectors(file))) {}
};

/// One line of a report: how many results of which table.
std::string counted(std::size_t results, std::string_view gpu, Format format) {
  return fmt::format("{} {} {}\n", results, gpu, name(format));
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
    for (const Format format : {Format::f16, Format::bf16, Format::tf32}) {
      const Source source(gpu.name, format);
      const std::size_t k = source.all.front().a.size();
      Tally tally;
      for (const std::string_view accumulator : {"f32", "f16"}) {
        if (accumulator == "f16" && format != Format::f16) continue;
        const std::string_view in = name(format);
        const Instruction mma(fmt::format("mma.sync.aligned.m16n8k{}.row.col.{}.{}.{}.{}", k, accumulator, in, in, accumulator),
                              gpu.target);
        for (std::size_t first = 0; first < source.all.size(); first += 8) replay_diagonal(tally, source.file, mma, source.all, first);
      }
      CHECK(tally.failures() == "");
      CHECK(tally.comparisons() == source.all.size() * (format == Format::f16 ? 2 : 1));
      compared += tally.comparisons();
      report += counted(tally.comparisons(), gpu.name, format);
    }
  WARN(fmt::format("compared {} results of mma with published ones:\n{}", compared, report));
}

TEST_CASE("one step of Volta and fp8 on Ada return what published outputs say, bit for bit", "[vectors]") {
  if (!has_vectors(directory)) {
    WARN(no_vectors(directory));
    return;
  }
  struct Row {
    std::string_view gpu;
    Format format;
    const DotModel* model;
    int accumulators;
  };
  // No forms use these models yet, so no lowering can be asked.
  constexpr Row rows[] = {{"V100", Format::f16, &dot_models::volta, 2},
                          {"Ada", Format::e4m3, &dot_models::ada_fp8, 2},
                          {"Ada", Format::e5m2, &dot_models::ada_fp8, 2},
                          {"L40S", Format::e4m3, &dot_models::ada_fp8, 1},
                          {"L40S", Format::e5m2, &dot_models::ada_fp8, 1}};
  std::string report;
  for (const Row& r : rows) {
    const Source source(r.gpu, r.format);
    Tally tally;
    replay_steps(tally, source.file, *r.model, r.format, source.all);
    CHECK(tally.failures() == "");
    CHECK(tally.comparisons() == source.all.size() * static_cast<std::size_t>(r.accumulators));
    report += counted(tally.comparisons(), r.gpu, r.format);
  }
  WARN("compared dot products with published ones:\n" + report);
}
