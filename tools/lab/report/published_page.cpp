#include "tools/lab/report/published_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/formats.h>
#include <warpmat/forms.h>

#include <algorithm>
#include <future>
#include <map>

#include "gpu/cases/cases.h"
#include "gpu/lab/mutants/variant_runner.h"

namespace warpmat {
namespace {

/// Whether some published result differs from that of `varied`; runs the warps of `initial` up to the first difference.
bool refutes(const Program& program, const WarpStates& initial, const PublishedProducts& published, const VariedLowering& varied) {
  VariantRunner runner(varied);
  const std::size_t all = published.products.size(), a_warp = (all + initial.warps - 1) / initial.warps;
  for (std::size_t warp = 0; warp < initial.warps; ++warp) {
    WarpStates one(program, 1);
    std::ranges::copy(initial.registers_of(warp), one.registers.begin());
    runner.run(program, one);
    const std::size_t first = warp * a_warp;
    for (std::size_t i = first; i < std::min(first + a_warp, all); ++i)
      if (result_bits(program, published, one, i - first) != published.products[i].result) return true;
  }
  return false;
}

/// The exponents of the nonzero numbers, and the counts of zeros, of subnormals, and of NaNs and infinities.
struct Region {
  int least = 0, most = 0;
  std::size_t numbers = 0, zeros = 0, subnormals = 0, special = 0;

  void add(Format format, std::uint64_t bits) {
    const Value value = decode(format, bits);
    if (value.kind == Value::Kind::zero) ++zeros;
    if (value.kind == Value::Kind::nan || value.kind == Value::Kind::infinity) ++special;
    if (value.kind != Value::Kind::finite) return;
    subnormals += value.significand >> value.fraction_bits == 0;
    least = numbers == 0 ? value.exponent : std::min(least, value.exponent);
    most = numbers == 0 ? value.exponent : std::max(most, value.exponent);
    ++numbers;
  }

  std::string text() const { return fmt::format("2^{} to 2^{} | {} | {} | {}", least, most, zeros, subnormals, special); }
};

std::string region_lines(const std::vector<PublishedProducts>& all) {
  std::map<std::pair<std::string, std::string>, Region> regions;
  for (const PublishedProducts& published : all) {
    const Format multiplicands = published.form->format(OperandName::a), result = published.form->format(OperandName::d);
    for (const PublishedProducts::Product& product : published.products) {
      for (const auto& elements : {product.a, product.b})
        for (const std::uint64_t bits : elements) regions[{"A and B", std::string(row(multiplicands).name)}].add(multiplicands, bits);
      regions[{"C", std::string(row(result).name)}].add(result, product.c);
      regions[{"D", std::string(row(result).name)}].add(result, product.result);
    }
  }
  std::string text = "| operand | format | exponents | zeros | subnormals | NaNs and infinities |\n|---|---|---|---|---|---|\n";
  for (const auto& [key, region] : regions) text += fmt::format("| {} | {} | {} |\n", key.first, key.second, region.text());
  return text;
}

std::string list(const std::vector<std::string>& changes) {
  return changes.empty() ? "none" : fmt::format("{}", fmt::join(changes, ", "));
}

constexpr const char* published_introduction = R"(# Published outputs and mutants of the emulator's arithmetic

)";

constexpr const char* about_mutants = R"(
So the data hold no case of the floors of exponents, of NaNs, of infinities, of overflow, or of results that are subnormal: whatever the
emulator does there on such hardware rests on other sources.

Mutants of the emulator's arithmetic ([coverage.md](coverage.md) lists them) are executed on the same operands. One that some published result
contradicts is refuted; one that gives every published result cannot be told from the emulator's arithmetic by these data. Products are of one
form for each GPU and format: other shapes of the same row are taken to be computed alike.

| GPU | hardware | form | products | label | refuted | not told apart |
|---|---|---|---|---|---|---|
)";

}  // namespace

PublishedVerdict verdict_on(const PublishedProducts& published) {
  const Lowering& row = *find_lowering(*published.form, published.target->hardware);
  const Program program = program_for(*published.form, *published.target);
  const WarpStates states = states_of(program, published);
  PublishedVerdict verdict;
  for (const Mutant& mutant : mutants_of(*published.form, row)) {
    const VariedLowering varied(*published.form, row, mutant.variant);
    const bool refuted = refutes(program, states, published, varied);
    (refuted ? verdict.refuted : verdict.not_refuted).push_back(mutant.change);
  }
  return verdict;
}

std::string published_line(const PublishedProducts& published) {
  const Lowering& row = *find_lowering(*published.form, published.target->hardware);
  const PublishedVerdict verdict = verdict_on(published);
  return fmt::format("| {} | {} | `{}` | {} | {} | {} | {} |\n", published.gpu, name(published.target->hardware), published.form->opcode,
                     published.products.size(), name(row.evidence), list(verdict.refuted), list(verdict.not_refuted));
}

std::string published_page(const std::vector<PublishedProducts>& all) {
  std::vector<std::future<std::string>> lines;
  for (const PublishedProducts& published : all)
    lines.push_back(std::async(std::launch::async, [&published] { return published_line(published); }));
  std::string text = published_introduction + region_lines(all) + about_mutants;
  for (std::future<std::string>& line : lines) text += line.get();
  return text;
}

}  // namespace warpmat
