// Whether what is decided about products and sums is what machine code has, in programs that nvcc compiles with several options.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <warpmat/assembler.h>
#include <warpmat/ir/code.h>
#include <warpmat/launch.h>
#include <warpmat/machine/internals.h>
#include <warpmat/ptx/syntax/module.h>

#include "cuda/nvcc_program.h"
#include "test.h"
#include "tools/command.h"

namespace warpmat::sums_test {
namespace {

/// How many sums of a type a kernel has, rounded after their product and fused with it.
struct Sums {
  int rounded = 0, fused = 0;
  /// Whether machine code of a program may be such: it has the same kinds, and as many or, where a loop is unrolled, more of each.
  bool is_in(const Sums& code) const {
    if ((rounded > 0) != (code.rounded > 0) || (fused > 0) != (code.fused > 0)) return false;
    return rounded == 0 || fused == 0 || (code.rounded >= rounded && code.fused >= fused);
  }
};
using SumsByType = std::map<std::string, Sums>;

/// An instruction of 128 bits: its opcode, where its operands B and C are, and its registers.
struct Code {
  std::uint64_t low = 0, high = 0;
  std::uint64_t opcode() const { return low & 0x1ff; }
  std::uint64_t form() const { return low >> 9 & 7; }
  std::uint64_t a() const { return low >> 24 & 0xff; }
  std::uint64_t b() const { return low >> 32 & 0xff; }
  std::uint64_t c() const { return high & 0xff; }
  std::uint32_t immediate() const { return static_cast<std::uint32_t>(low >> 32); }
};

constexpr std::uint64_t zero = 255, of_registers = 1, immediate_c = 2, immediate_b = 4;

/// FADD, DADD and HADD2 of two numbers: with the register of zeros they move, change a sign or convert.
bool is_sum(const Code& code) {
  return code.a() != zero && !(code.form() == of_registers && code.b() == zero && code.opcode() == 0x030) &&
         !(code.form() == of_registers && code.c() == zero && code.opcode() != 0x030 && code.b() == zero);
}

void count(const Code& code, SumsByType& sums) {
  const std::string half = (code.high & 1 << 21) != 0 ? "bf16" : "f16";
  switch (code.opcode()) {
    case 0x021: sums["f32"].rounded += is_sum(code); return;
    case 0x023: ++sums["f32"].fused; return;
    case 0x029: sums["f64"].rounded += is_sum(code); return;
    case 0x02b: ++sums["f64"].fused; return;
    case 0x030: sums[half].rounded += is_sum(code); return;
    case 0x031:
    case 0x035: break;
    default: return;
  }
  // HFMA2 also moves (0 * 0 + C), multiplies (A * B - 0) and adds (A * 1 + C).
  const bool moves = code.a() == zero, multiplies = code.form() != immediate_c && code.c() == zero;
  const bool of_one =
      (code.form() == immediate_b || code.form() == immediate_c) && (code.immediate() == 0x3c003c00 || code.immediate() == 0x3f803f80);
  if (moves || multiplies) return;
  ++(of_one ? sums[half].rounded : sums[half].fused);
}

template <typename T>
T read(const std::string& bytes, std::uint64_t at) {
  T value{};
  REQUIRE(at + sizeof value <= bytes.size());
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// The sums in the machine code of each function of an ELF file, by its name.
std::map<std::string, SumsByType> sums_in_code(const std::string& cubin) {
  constexpr std::uint64_t header = 64;
  constexpr std::string_view prefix = ".text.";
  std::map<std::string, SumsByType> all;
  const auto table = read<std::uint64_t>(cubin, 0x28);
  const auto names = read<std::uint64_t>(cubin, table + header * read<std::uint16_t>(cubin, 0x3e) + 24);
  for (std::uint16_t i = 0; i < read<std::uint16_t>(cubin, 0x3c); ++i) {
    const std::uint64_t section = table + header * i;
    const std::string name = cubin.c_str() + names + read<std::uint32_t>(cubin, section);
    if (!name.starts_with(prefix)) continue;
    const auto begin = read<std::uint64_t>(cubin, section + 24), size = read<std::uint64_t>(cubin, section + 32);
    SumsByType& sums = all[name.substr(prefix.size())];
    for (std::uint64_t at = begin; at < begin + size; at += 16)
      count({read<std::uint64_t>(cubin, at), read<std::uint64_t>(cubin, at + 8)}, sums);
  }
  return all;
}

/// The type of a sum's opcode, of a pair that of its halves; empty where it is no sum of floating point.
std::string type_of(const std::string& opcode) {
  std::string type = opcode.substr(opcode.rfind('.') + 1);
  if (type.ends_with("x2")) type.resize(type.size() - 2);
  return std::set<std::string>{"f32", "f64", "f16", "bf16"}.contains(type) ? type : "";
}

/// The sums that the emulator executes.
SumsByType sums_in_program(const code::Program& program) {
  const std::set<std::uint32_t> contracted(program.contracted.begin(), program.contracted.end());
  std::set<std::uint32_t> seen;
  SumsByType sums;
  for (const code::Operation& operation : program.operations) {
    const std::string& opcode = program.statements[operation.statement]->opcode;
    const std::string type = type_of(opcode);
    if (type.empty() || !seen.insert(operation.statement).second) continue;
    if (opcode.starts_with("add.") || opcode.starts_with("sub."))
      ++(contracted.contains(operation.statement) ? sums[type].fused : sums[type].rounded);
    if (opcode.starts_with("fma.")) ++sums[type].fused;
  }
  return sums;
}

bool has_doubt(const code::Program& program) {
  return std::ranges::any_of(program.doubted, [](const code::Doubt& doubt) { return doubt.why <= code::Doubt::Why::sum_inferred; });
}

std::string text_of(const SumsByType& all) {
  std::string text;
  for (const auto& [type, sums] : all) text += fmt::format(" {}: {} rounded, {} fused;", type, sums.rounded, sums.fused);
  return text;
}

bool are_in(const SumsByType& found, SumsByType code) {
  return std::ranges::all_of(found, [&](const auto& each) { return each.second.is_in(code[each.first]); });
}

/// The sums of a kernel and of the functions that it may call, as with -G each operator is one.
SumsByType sums_of(const std::map<std::string, SumsByType>& all, const std::string& entry, const std::vector<std::string>& entries) {
  SumsByType sums = all.at(entry);
  for (const auto& [name, of_function] : all)
    if (std::ranges::find(entries, name) == entries.end())
      for (const auto& [type, more] : of_function) {
        sums[type].rounded += more.rounded;
        sums[type].fused += more.fused;
      }
  return sums;
}

struct Options {
  std::vector<std::string> of_nvcc;
  std::string of_ptxas;  ///< that lie beside the PTX in a program
};

TEST_CASE("no sum is decided otherwise than by machine code without a doubt", "[assembler][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  std::size_t kernels = 0, in_doubt = 0;
  for (const Options& options : {Options{{}, ""},
                                 {{"-fmad=false"}, "--fmad false"},
                                 {{"-use_fast_math"}, ""},
                                 {{"-lineinfo"}, ""},
                                 {{"-G"}, "-g"},
                                 {{"-Xptxas", "-O1"}, "-O1"},
                                 {{"-Xptxas", "-O0"}, "-O0"}}) {
    const std::string cubin = directory.path("sums.cubin");
    std::vector<std::string> command{"-arch=sm_90a", "-cubin", "-keep", "-keep-dir", directory.path(""), "-o", cubin};
    command.insert(command.end(), options.of_nvcc.begin(), options.of_nvcc.end());
    command.push_back(source_path("tests/assembler/programs/sums.cu"));
    REQUIRE(run_program("nvcc", command).status == 0);
    const Module module(read_text(directory.path("sums.ptx")));
    const auto all = sums_in_code(read_text(cubin));
    for (const std::string& entry : module.entries()) {
      const SumsByType truth = sums_of(all, entry, module.entries());
      for (const bool by_code : {false, true}) {
        KernelOptions how{.target = "sm_90a", .assembler_options = options.of_ptxas};
        const auto decisions = by_code ? read_machine_code(module, entry, read_text(cubin), how) : std::nullopt;
        REQUIRE(decisions.has_value() == by_code);
        how.decisions = decisions ? &*decisions : nullptr;
        const Kernel kernel(module, entry, how);
        const SumsByType found = sums_in_program(program_of(kernel));
        ++kernels;
        in_doubt += has_doubt(program_of(kernel));
        INFO(fmt::format("{} with nvcc {}, {}: machine code has{} decided are{}", entry, fmt::join(options.of_nvcc, " "),
                         by_code ? "by machine code" : "by the rule", text_of(truth), text_of(found)));
        CHECK((are_in(found, truth) || has_doubt(program_of(kernel))));
      }
    }
  }
  CHECK(kernels > 1000);
  CHECK(in_doubt < kernels / 2);  // else the doubts say nothing
  if (std::getenv("WARPMAT_COUNTS") != nullptr) WARN(in_doubt << " of " << kernels << " kernels have sums in doubt");
}

}  // namespace
}  // namespace warpmat::sums_test
