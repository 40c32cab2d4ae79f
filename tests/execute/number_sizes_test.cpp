// Numbers of chosen sizes, subnormal ones among them: kernels take subnormal floats for zeros, and compute with integers where they count.

#include <warpmat/execute/fast/instruction_sets.h>
#include <warpmat/instruction.h>

#include "execute/registers.h"
#include "test.h"

namespace warpmat::number_sizes_test {

namespace {

/// Exponent fields of f32, bf16 and tf32.
struct Fields {
  unsigned first, last;
};
constexpr Fields sizes[] = {{0, 0}, {0, 2}, {1, 1}, {0, 24}, {55, 75}, {100, 110}, {125, 129}, {150, 170}, {1, 254}, {250, 254}};
constexpr Fields special = {255, 255};

class Warp {
 public:
  explicit Warp(const Form& form) : form_(form), registers_(form) {}

  Batch batch() { return registers_.batch(); }

  /// Operands with eight bits of exponent have numbers of one or two sizes, in the same rows or columns or anywhere, and zeros; some have
  /// an infinity or NaN. Others: any bits.
  void draw(std::mt19937_64& random) {
    registers_.fill(random);
    for (const OperandName name : {OperandName::a, OperandName::b, OperandName::c}) {
      const Format format = form_.format(name);
      if (format != Format::f32 && format != Format::tf32 && format != Format::bf16) continue;
      const int fraction_bits = row(format).bits - 9;
      const Fragment& f = form_.operand(name).fragment;
      const Fields most = any_size(random), few = random() % 2 == 0 ? most : any_size(random);
      const bool has_zeros = random() % 4 == 0;
      const auto of_few = random() % 3 == 0 ? random() : 0;  // rows, or columns of B
      const auto put = [&](int i, int j, Fields fields) {
        const std::uint64_t sign_and_fraction = random() >> (64 - row(format).bits) & ~(std::uint64_t{0xff} << fraction_bits);
        const std::uint64_t field = fields.first + random() % (fields.last - fields.first + 1);
        const bool infinite = fields.first == special.first && random() % 2 == 0, zero = has_zeros && random() % 4 == 0;
        const std::uint64_t sign = std::uint64_t{1} << (fraction_bits + 8);
        write_element(f, registers_[name].list(), {i, j},
                      (infinite || zero ? sign_and_fraction & sign : sign_and_fraction) | (zero ? 0 : field << fraction_bits));
      };
      for (int i = 0; i < f.rows(); ++i)
        for (int j = 0; j < f.columns(); ++j) {
          const bool is_few = of_few != 0 ? (of_few >> (name == OperandName::b ? j : i) & 1) != 0 : random() % 8 == 0;
          put(i, j, is_few ? few : most);
        }
      if (random() % 8 == 0)
        put(static_cast<int>(random() % static_cast<unsigned>(f.rows())), static_cast<int>(random() % static_cast<unsigned>(f.columns())),
            special);
    }
  }

  std::vector<Register> result() { return registers_[OperandName::d].values(); }

 private:
  static Fields any_size(std::mt19937_64& random) { return sizes[random() % std::size(sizes)]; }

  const Form& form_;
  FormRegisters registers_;
};

}  // namespace

TEST_CASE("numbers of any size, subnormal ones among them, have the reference's results with every instruction set") {
  struct Case {
    std::string_view opcode, target;
    int warps;
  };
  constexpr Case cases[] = {
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "sm_80", 1500},
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "sm_90", 1500},
      {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", "sm_90", 500},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "sm_80", 1500},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "sm_90", 1500},
      {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", "sm_90", 500},
      {"mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32", "sm_90", 500},
      {"mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", "sm_80", 500},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_80", 500},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_90", 500},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "sm_90", 500},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e5m2.f32.ue8m0", "sm_120a", 500},
  };
  std::mt19937_64 random(2811);
  Tally tally;
  std::size_t comparisons = 0;
  for (const Case& c : cases) {
    const Instruction mma(c.opcode, c.target);
    Warp warp(mma.form());
    for (int i = 0; i < c.warps; ++i) {
      warp.draw(random);
      execute(mma, warp.batch(), 1, {.path = Path::reference});
      const std::vector<Register> expected = warp.result();
      for (const std::string_view set : instruction_sets()) {
        use_instruction_set(set);
        execute(mma, warp.batch());
        ++comparisons;
        tally.expect(warp.result() == expected,
                     [&] { return std::string(c.opcode) + " on " + std::string(c.target) + " with " + std::string(set); });
      }
    }
    use_best_instruction_set();
  }
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == comparisons);
}

}  // namespace warpmat::number_sizes_test
