#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "gpu/cases/random.h"
#include "gpu/lab/kernels/kernel_drawing.h"
#include "gpu/lab/kernels/kernel_program.h"
#include "gpu/lab/kernels/kernel_statements.h"

namespace warpmat {
namespace {

/// Draws a kernel: units of statements (kernel_statements.h), and the branches and loops around them.
class KernelGenerator {
 public:
  KernelGenerator(const Target& target, std::uint64_t key, int max_units) : d_(target, key, max_units) {}

  KernelProgram kernel() {
    KernelProgram program;
    program.launch.entry = "k";
    program.launch.config.grid = {d_.blocks};
    program.launch.config.block = {d_.threads_of_block};
    add_buffers(d_, program);
    while (d_.left > 0) program.units.push_back(unit(0));
    program.begin = kernel_begin(d_);
    program.end = kernel_end();
    return program;
  }

 private:
  KernelUnit unit(int depth) {
    --d_.left;
    if (d_.shape == KernelDrawing::Shape::contractions) return contraction(d_);
    if (d_.has_branches() && depth < 3 && d_.left > 1 && d_.random.one_in(7)) return d_.random.one_in(2) ? branch(depth) : loop(depth);
    if (d_.shape == KernelDrawing::Shape::sums && !d_.random.one_in(6)) return mixed_sum(d_);
    if (d_.shape == KernelDrawing::Shape::any && d_.random.one_in(10)) return unit_of({absence(d_, depth)});
    switch (d_.random.below(depth == 0 ? 14 : 10)) {
      case 0: return contraction(d_);
      case 1: return contraction(d_);
      case 2: return unit_of(memory_statements(d_));
      case 3: return unit_of(memory_statements(d_));
      case 4: return unit_of({atomic_statement(d_)});
      case 5: return unit_of({vote_statement(d_, depth)});
      case 6: return unit_of({special_statement(d_)});
      case 10: return unit_of({shuffle_statement(d_)});
      case 11: return unit_of(barrier_statements(d_));
      case 12:
      case 13: return unit_of(d_.parted ? scalar_statement(d_) : matrix_statements(d_));
      default: return unit_of(scalar_statement(d_));
    }
  }

  std::vector<KernelUnit> body(int depth) {
    std::vector<KernelUnit> units;
    const int wanted = d_.random.between(1, 5);
    for (int i = 0; i < wanted && d_.left > 0; ++i) units.push_back(unit(depth));
    return units;
  }

  /// Lanes part by a predicate; %m of the next depth names those that go on together. The predicate is not changed in either part:
  /// ptxas 13.0 takes it for what it was there.
  KernelUnit branch(int depth) {
    const int label = labels_++;
    const std::string p = fmt::format("%k{}", depth);
    const std::uint32_t lanes = 1u << d_.random.below(32);
    const std::string condition = d_.drawn(fmt::format(
        "and.b32 %t0, ?r, {};\nsetp.ne.u32 {}, %t0, 0;\nvote.sync.ballot.b32 %m{}, {}, %m{};\n", lanes, p, depth + 1, p, depth));
    if (d_.random.one_in(2))
      return {{fmt::format("{}@!{} bra $end{};", condition, p, label), fmt::format("$end{}:", label)}, {body(depth + 1)}};
    const std::string others = fmt::format("not.b32 %o{0}, %m{0};\nand.b32 %o{0}, %o{0}, %m{1};\n", depth + 1, depth);
    return {{fmt::format("{}{}@!{} bra $else{};", condition, others, p, label),
             fmt::format("bra $end{0};\n$else{0}:\nmov.b32 %m{1}, %o{1};", label, depth + 1), fmt::format("$end{}:", label)},
            {body(depth + 1), body(depth + 1)}};
  }

  /// One to four times round, as often for all lanes or not; ptxas does not know how often.
  KernelUnit loop(int depth) {
    const int label = labels_++;
    ++d_.loops_around;
    const std::string count = d_.random.one_in(2)
                                  ? fmt::format("ld.global.u32 %c{}, [%counters+{}];", depth, 8 * (counters - 1) + 4 * d_.random.below(2))
                                  : fmt::format("and.b32 %c{0}, {1}, 3;\nadd.u32 %c{0}, %c{0}, 1;", depth, d_.any(pool_named('r')));
    KernelUnit unit{
        {fmt::format("{}\nmov.b32 %m{}, %m{};\n$loop{}:", count, depth + 1, depth, label),
         fmt::format(
             "sub.u32 %c{0}, %c{0}, 1;\nsetp.ne.u32 %q{0}, %c{0}, 0;\nvote.sync.ballot.b32 %m{1}, %q{0}, %m{1};\n@%q{0} bra $loop{2};",
             depth, depth + 1, label)},
        {body(depth + 1)}};
    --d_.loops_around;
    return unit;
  }

  KernelDrawing d_;
  int labels_ = 0;
};

/// Whether the opcode is a sum or product of floating point without a rounding modifier.
bool is_plain_sum(std::string_view opcode) {
  constexpr std::array mnemonics{"add.", "sub.", "mul."};
  constexpr std::array types{".f32", ".f64", ".f16", ".f16x2", ".bf16", ".bf16x2"};
  constexpr std::array modifiers{".rn", ".rz", ".rm", ".rp"};
  const auto has = [&](std::string_view modifier) { return opcode.find(modifier) != std::string_view::npos; };
  return std::ranges::any_of(mnemonics, [&](std::string_view name) { return opcode.starts_with(name); }) &&
         std::ranges::any_of(types, [&](std::string_view type) { return opcode.ends_with(type); }) && std::ranges::none_of(modifiers, has);
}

/// The statements of a text, with .rn behind each such mnemonic.
std::string rounded(const std::string& text) {
  constexpr std::size_t mnemonic = 3;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n\t;", at), text.size() - 1) + 1;
    std::string word = text.substr(at, end - at);
    if (is_plain_sum(std::string_view(word).substr(0, word.size() - 1))) word.insert(mnemonic, ".rn");
    out += word;
    at = end;
  }
  return out;
}

void round_sums(std::vector<KernelUnit>& units) {
  for (KernelUnit& unit : units) {
    for (std::string& line : unit.lines) line = rounded(line);
    for (std::vector<KernelUnit>& block : unit.blocks) round_sums(block);
  }
}

}  // namespace

KernelProgram random_kernel(const Target& target, std::uint64_t seed, std::uint64_t index, int max_units, DrawnSums sums) {
  KernelProgram kernel = KernelGenerator(target, combine(combine(seed, hash_name("kernel")), index), max_units).kernel();
  if (sums == DrawnSums::rounded) round_sums(kernel.units);
  return kernel;
}

}  // namespace warpmat
