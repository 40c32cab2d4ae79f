// The reference takes its arithmetic as a class: the one that ships costs nothing, and a class that derives from it sees or replaces rules.

#include <warpmat/execute/reference/execute_with.h>

#include "execute/registers.h"
#include "test.h"

namespace warpmat::reference_test {
namespace {

static_assert(std::is_empty_v<PlainUnit> && std::is_empty_v<PlainArithmetic>);
static_assert(!std::is_polymorphic_v<PlainArithmetic>);

constexpr auto f16_product = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";

/// Counts the terms of all sums.
struct TermCounter : ReferenceArithmetic<TermCounter> {
  using Base = ReferenceArithmetic<TermCounter>;
  std::size_t sums = 0, terms = 0, results = 0;

  void result(std::size_t) { ++results; }
  std::uint64_t sum(const DotModel& model, Format accumulator, std::span<const Value> all) {
    ++sums;
    return Base::sum(model, accumulator, all);
  }
  std::int64_t cut(const Value& term, int unit_exponent) {
    ++terms;
    return Base::cut(term, unit_exponent);
  }
};

/// Loses every term.
struct Loser : ReferenceArithmetic<Loser> {
  std::int64_t cut(const Value&, int) { return 0; }
};

/// Operands of small f16 numbers, and a destination of ones.
struct Operands {
  Registers a{4}, b{2}, c{4}, d{4};

  Operands() {
    std::mt19937_64 random(28);
    for (Registers* registers : {&a, &b})
      for (std::size_t i = 0; i < registers->size(); ++i)
        for (std::uint32_t& word : (*registers)[i]) word = (static_cast<std::uint32_t>(random()) & 0x83ff83ff) | 0x3c003c00;
    for (std::size_t i = 0; i < d.size(); ++i) d[i].fill(~0u);
  }
  Batch batch() {
    Batch all;
    all.source(OperandName::a) = std::as_const(a).list();
    all.source(OperandName::b) = std::as_const(b).list();
    all.source(OperandName::c) = std::as_const(c).list();
    all.destination = d.list();
    return all;
  }
};

template <typename Arithmetic>
std::vector<Register> results(Arithmetic& arithmetic, Hardware hardware) {
  const Form& form = *find_form(f16_product);
  Operands operands;
  execute_with(arithmetic, form, *find_lowering(form, hardware), operands.batch(), ExecutionOptions{});
  return operands.d.values();
}

std::vector<Register> shipped(Hardware hardware) {
  const Form& form = *find_form(f16_product);
  Operands operands;
  execute(form, *find_lowering(form, hardware), operands.batch(), ExecutionOptions{});
  return operands.d.values();
}

TEST_CASE("a class that derives from the reference's arithmetic is called for every result, sum and term", "[reference]") {
  struct Row {
    Hardware hardware;
    std::size_t steps, products;  ///< of a result; products of a step
  };
  for (const Row& row : {Row{Hardware::sm_90, 1, 16}, Row{Hardware::sm_80, 2, 8}}) {
    TermCounter counter;
    CHECK(results(counter, row.hardware) == shipped(row.hardware));
    CHECK(counter.results == 16 * 8);
    CHECK(counter.sums == 16 * 8 * row.steps);
    CHECK(counter.terms == 16 * 8 * row.steps * (row.products + 1));
  }
}

TEST_CASE("a replaced rule decides, and the rest is what ships", "[reference]") {
  Loser loser;
  const std::vector<Register> zeros(4, Register{});
  CHECK(results(loser, Hardware::sm_90) == zeros);
  CHECK(shipped(Hardware::sm_90) != zeros);
}

}  // namespace
}  // namespace warpmat::reference_test
