// The way of one element of C backwards: who stored it, which products formed it, which elements of A and B met in each.

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/provenance/pairing.h>

namespace warpmat::provenance {

using machine::WarpState;

namespace {

constexpr std::size_t most_recorded = std::size_t{512} << 20;  // bytes of steps of a cluster

}  // namespace

/// Keeps what a product multiplied where the element may have a part in it: one of its rows is that of the element, or one of its columns.
void Pairing::record(const OriginProduct& product, const Operand& a, const Operand& b, Sum& sum) {
  const auto [row, column] = sum.swapped ? std::pair(launch_.element->place.second, launch_.element->place.first) : launch_.element->place;
  const bool concerns = sum.gemm != &launch_.gemms[launch_.element->gemm] || std::ranges::find(a.lines, row) != a.lines.end() ||
                        std::ranges::find(b.lines, column) != b.lines.end();
  const std::size_t bytes = sizeof(Origin) * (product.a.elements.size() + product.b.elements.size()) +
                            sizeof(Origin) * static_cast<std::size_t>(product.a.lines * product.b.lines);
  if (!concerns || recorded_ + bytes > most_recorded) return;
  recorded_ += bytes;
  auto step = std::make_shared<Sum::Step>(Sum::Step{product.a, product.b, {}, {}, {}, {}});
  for (int r = 0; r < product.a.lines; ++r)
    for (int c = 0; c < product.b.lines; ++c) step->c.push_back(product.c_at(r, c));
  const auto& operation = operation_of(product.event);
  if (operation.semantics == catalogue::Semantics::matrix) {
    const auto words = [&](OperandName name, std::vector<std::uint32_t>& to) {
      int next = 0;
      for (const warpmat::Operand& operand : product.form.operands) {
        if (operand.written) continue;
        if (operand.name == name && operand.fragment.register_bits() == 32)
          for (int i = 0; i < operand.registers(); ++i)
            for (int lane = 0; lane < warp_size; ++lane) to.push_back(warp_of(product.event).source_word(operation, next + i, lane));
        next += operand.registers();
      }
    };
    words(OperandName::a, step->words_a);
    words(OperandName::b, step->words_b);
    words(OperandName::c, step->words_c);
  }
  sum.step = std::move(step);
}

/// Adds the elements of one line of an operand to a step, and returns them as text: "A[5,0] to A[5,7] at 0x400; A[5,8] to A[5,15] at 0x420:
/// line 40 (ldmatrix) read ...".
std::string Pairing::factors_of(const OperandOrigins& operand, const GemmMatrix& matrix, int line, const WarpState& warp,
                                Why::Step& step) const {
  struct Run {
    int first, last;  ///< along k of the operand
  };
  const auto place = [&](int k) {
    const Origin& origin = operand.at(line, k);
    return place_of(matrix, origin);
  };
  std::vector<Run> runs;
  for (int k = 0; k < operand.depth; ++k) {
    const auto now = place(k);
    if (!runs.empty()) {
      const auto before = place(k - 1);
      const Origin& one = operand.at(line, k - 1);
      const Origin& next = operand.at(line, k);
      const bool neighbours = now.has_value() == before.has_value() &&
                              (!now || std::abs(now->first - before->first) + std::abs(now->second - before->second) == 1);
      if (neighbours && one.way == next.way) {
        runs.back().last = k;
        continue;
      }
    }
    runs.push_back({k, k});
  }
  std::string text;
  for (const Run& run : runs) {
    const Origin& first = operand.at(line, run.first);
    const auto from = place(run.first), to = place(run.last);
    const std::string what = !from ? fmt::format("no element of {}", matrix.name)
                             : run.first == run.last
                                 ? matrix.element(from->first, from->second)
                                 : matrix.element(from->first, from->second) + " to " + matrix.element(to->first, to->second);
    const std::string way = way_of(first, warp);
    text += fmt::format("    {}{}: {}\n", what, first.derived() ? ", converted" : "", way);
    Why::Source source{.matrix = from ? std::string(matrix.name) : "", .way = way};
    const auto stored = [&](const std::pair<int, int>& at) {
      return matrix.transposed ? std::array{at.second, at.first} : std::array{at.first, at.second};
    };
    if (from) source.first = stored(*from), source.last = stored(*to);
    step.sources.push_back(std::move(source));
  }
  return text;
}

void Pairing::add_steps(std::uint32_t product, int row, int column, const WarpState& warp, Why& why) const {
  std::vector<std::uint32_t> chain{product};
  for (bool more = true; more;) {
    const Sum& sum = sums_[chain.back()];
    more = false;
    if (sum.addends || !sum.step) continue;
    const Origin& before = sum.step->c[static_cast<std::size_t>(row) * sum.columns->numbers.size() + static_cast<std::size_t>(column)];
    more = before.kind() == Origin::Kind::sum;
    if (more) chain.push_back(before.product());
  }
  std::ranges::reverse(chain);
  for (const std::uint32_t number : chain) {
    const Sum& sum = sums_[number];
    if (sum.addends) {
      add_steps(sum.addends->first, row, column, warp, why);
      add_steps(sum.addends->second, row, column, warp, why);
      why.text += "  both sums are added\n";
      continue;
    }
    why.text += fmt::format("  product {} at {}, row {} and column {} of its result\n", why.steps.size() + 1,
                            warp.statement_name(sum.statement), row, column);
    Why::Step step{std::string(warp.program().statements[sum.statement]->opcode), row, column, {}, {}, {}, {}, {}, {}};
    step.where = warp.statement_name(sum.statement);
    if (sum.step) {
      for (int k = 0; k < sum.step->a.depth; ++k) {
        const auto place = place_of(sum.swapped ? sum.gemm->b : sum.gemm->a, sum.step->a.at(row, k));
        step.depths.push_back(!place ? -1 : sum.swapped ? place->first : place->second);
      }
      why.text += factors_of(sum.step->a, sum.swapped ? sum.gemm->b : sum.gemm->a, row, warp, step);
      why.text += factors_of(sum.step->b, sum.swapped ? sum.gemm->a : sum.gemm->b, column, warp, step);
      step.a = sum.step->words_a;
      step.b = sum.step->words_b;
      step.c = sum.step->words_c;
    } else {
      why.text += "    its factors were not kept: it forms no sum in this row or column, or too many products came before\n";
    }
    why.steps.push_back(std::move(step));
  }
}

void Pairing::explain(const Origin& origin, const GlobalWrite& write, const WarpState& warp) {
  const Dim3 block = warp.block().index();
  const auto [row, column] = launch_.element->place;
  Why why;
  why.text = fmt::format("{} is stored by block ({}, {}, {}), warp {}, lane {}, {}\n", gemm_->c.element(row, column), block.x, block.y,
                         block.z, write.warp, write.lane, warp.statement_name(write.statement));
  if (origin.kind() == Origin::Kind::sum) {
    const auto [m, n] = sums_[origin.product()].element(origin.row(), origin.column());
    if (m != row || n != column) why.text += fmt::format("  it is the sum for {}\n", sums_[origin.product()].gemm->c.element(m, n));
    add_steps(origin.product(), origin.row(), origin.column(), warp, why);
  } else {
    why.text += "  it is no sum of products of the matrices: " + way_of(origin, warp) + "\n";
  }
  const std::lock_guard lock(launch_.mutex);
  launch_.ways[block_number(warp)] = std::move(why);
}

}  // namespace warpmat::provenance
