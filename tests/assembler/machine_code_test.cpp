// What is read from machine code, and whether the rule of contraction agrees with it.

#include <fmt/format.h>

#include <warpmat/assembler.h>
#include <warpmat/assembler/cubin.h>
#include <warpmat/assembler/fused_sums.h>
#include <warpmat/assembler/immediates.h>
#include <warpmat/assembler/numbered_module.h>
#include <warpmat/assembler/ptxas.h>
#include <warpmat/ir/code.h>
#include <warpmat/launch.h>
#include <warpmat/machine/internals.h>

#include "test.h"
#include "tools/command.h"

namespace warpmat::machine_code_test {
namespace {

std::string entry(const std::string& body) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .f32 %f<9>; .reg .pred %p<2>; "
         ".reg .b64 %l<2>;\n" +
         body + "\nret;\n}\n";
}

/// A machine instruction of registers: its opcode, destination, operands A, B and C.
MachineInstruction registers(std::uint64_t opcode, int destination, int a, int b, int c, int line) {
  const auto place = [](int reg, int bit) { return static_cast<std::uint64_t>(reg) << bit; };
  return {opcode | place(destination, 16) | place(a, 24) | place(b, 32), place(c, 0), line};
}

/// What `code` of function k shows of the numbered module.
AssemblerDecisions read(std::vector<MachineInstruction> code, const NumberedModule& numbered) {
  AssemblerDecisions decisions;
  read_sums(numbered, {{"k", std::move(code)}}, "k", decisions);
  return decisions;
}

constexpr std::uint64_t fadd = 0x221, fmul = 0x220, ffma = 0x223, hfma2 = 0x231, hfma2_immediate = 0x831, hfma2_move = 0x431, ldg = 0x981;

TEST_CASE("each statement gets a line of its own, and the text's own lines go", "[assembler]") {
  const Module module(
      entry(".file 7 \"x.cu\"\n.loc 7 5 1\nmul.f32 %f1, %f2, %f3; @%p1 add.f32 %f4, %f1, %f2;\n"
            ".loc 7 6 3, function_name $L__info, inlined_at 7 9 1\nL: sub.f32 %f5, %f4, %f1;"));
  const NumberedModule numbered = number_statements(syntax_of(module));
  REQUIRE(numbered.lines.size() == 4);
  CHECK(numbered.at_line(2)->opcode == "add.f32");
  CHECK(numbered.at_line(0) == nullptr);
  CHECK(numbered.at_line(5) == nullptr);
  CHECK(contains(numbered.text, "\n.loc 1 1 1\nmul.f32"));
  CHECK(contains(numbered.text, "\n.loc 1 2 1\n@%p1 add.f32"));
  CHECK(contains(numbered.text, "L: \n.loc 1 3 1\nsub.f32"));
  CHECK_FALSE(contains(numbered.text, ".loc 7"));
  CHECK_FALSE(contains(numbered.text, "x.cu"));
  CHECK_NOTHROW(Module(numbered.text));
}

TEST_CASE("a sum is fused or rounded as the instructions of its line are", "[assembler]") {
  // Lines: 1 and 2 products, 3 to 5 sums.
  const Module module(
      entry("mul.f32 %f1, %f2, %f3;\nmul.f32 %f4, %f5, %f6;\nadd.f32 %f7, %f1, %f4;\nadd.f16x2 %f7, %f1, %f4;\n"
            "add.rn.f32 %f8, %f1, %f1;"));
  const NumberedModule numbered = number_statements(syntax_of(module));
  struct Case {
    std::vector<MachineInstruction> code;
    std::vector<bool> fused;  ///< of lines 3 and 4, as far as they are there
    int addend = 0;           ///< the statement of line 3's
    std::size_t open = 0;     ///< of lines 3 and 4
  };
  const int statement_line = numbered.at_line(1)->location.line - 1;
  for (const Case& c : {
           Case{{registers(fadd, 1, 2, 3, 0, 3), registers(hfma2, 1, 2, 3, 4, 4)}, {false, true}},
           Case{{registers(fmul, 9, 2, 3, 0, 2), registers(ffma, 1, 2, 3, 9, 3)}, {true}, 2, 1},
           // A load that may write four registers: the product of the sum stays known, another one does not.
           Case{{registers(fmul, 9, 2, 3, 0, 2), registers(ldg, 8, 2, 0, 0, 0), registers(ffma, 1, 2, 3, 9, 3)}, {true}, 2, 1},
           Case{{registers(fadd, 9, 2, 3, 0, 5), registers(ldg, 8, 2, 0, 0, 0), registers(ffma, 1, 2, 3, 9, 3)}, {true}, 0, 1},
           Case{{registers(fmul, 9, 2, 3, 0, 2), registers(ldg, 9, 2, 0, 0, 0), registers(ffma, 1, 2, 3, 9, 3)}, {true}, 0, 1},
           Case{{registers(ffma, 1, 2, 3, 9, 3), registers(fadd, 1, 2, 3, 0, 3)}, {}, 0, 2},
           // ptxas has moved the sum, and its fma has the line of a product.
           Case{{registers(fmul, 9, 2, 3, 0, 2), registers(ffma, 1, 2, 3, 9, 1)}, {true}, 2, 1},
           Case{{registers(fadd, 1, 2, 3, 0, 1)}, {}, 0, 2},
           Case{{registers(hfma2_move, 5, 255, 7, 255, 3), registers(fadd, 1, 2, 3, 0, 3)}, {false}, 0, 1},  // a number for it
           Case{{registers(hfma2, 1, 2, 3, 255, 4), registers(ffma, 1, 2, 3, 9, 5)}, {}, 0, 2},              // a product; a sum with .rn
           Case{{{hfma2_immediate | std::uint64_t{0x3c003c00} << 32, 4, 4}}, {false}, 0, 1},                 // times 1
           Case{{{hfma2_immediate | std::uint64_t{0x40004000} << 32, 4, 4}}, {true}, 0, 1},
       }) {
    const AssemblerDecisions found = read(c.code, numbered);
    std::vector<bool> fused;
    for (const AssemblerDecisions::Sum& sum : found.sums) fused.push_back(sum.fused);
    CHECK(fused == c.fused);
    CHECK(found.open.size() == c.open);
    if (c.addend != 0) CHECK(found.sums.front().addend.line == statement_line + c.addend);
    if (c.addend == 0 && !found.sums.empty()) CHECK(found.sums.front().addend.line == 0);
  }
}

// HADD2 R1, R2, R3 computes two halves, HADD2 R1, R2.H0_H0, R3.H0_H0 one.
TEST_CASE("an instruction of pairs with the line of a half's sum is another's, too", "[assembler]") {
  constexpr std::uint64_t hadd2 = 0x230;
  const auto one = [](std::uint64_t opcode, int line) {
    MachineInstruction instruction = registers(opcode, 1, 2, 3, 4, line);
    instruction.low |= std::uint64_t{2} << 60;
    instruction.high |= 2 << 10 | 2 << 17;
    return instruction;
  };
  const auto with_pair_of_addends = [&](int line) {
    MachineInstruction instruction = one(hfma2, line);
    instruction.high &= ~(std::uint64_t{3} << 17);
    return instruction;
  };
  const auto two = [](std::uint64_t opcode, int line) { return registers(opcode, 1, 2, 3, 4, line); };
  const Module module(entry(".reg .b16 %h<9>;\nmul.f16 %h1, %h2, %h3;\nadd.f16 %h4, %h1, %h5;\nadd.f16 %h6, %h1, %h7;"));
  const NumberedModule numbered = number_statements(syntax_of(module));
  struct Case {
    std::vector<MachineInstruction> code;
    std::vector<bool> fused, inferred;  ///< of lines 2 and 3, as far as they are there
    std::size_t absent = 0;
  };
  for (const Case& c : {
           Case{{one(hadd2, 2), one(hfma2, 3)}, {false, true}, {false, false}},
           Case{{two(hfma2, 2)}, {true, true}, {false, true}},
           Case{{one(hfma2, 2)}, {true}, {false}, 1},
           // The pair may be a copy of the other sum.
           Case{{one(hadd2, 2), two(hfma2, 2)}, {false, true}, {true, true}},
           Case{{one(hadd2, 2), with_pair_of_addends(2)}, {false, true}, {true, true}},
           Case{{two(hadd2, 2), one(hfma2, 2)}, {true, false}, {true, true}},
           // Two pairs that are not alike.
           Case{{one(hfma2, 2), two(hadd2, 2), two(hfma2, 2)}, {true}, {true}, 1},
       }) {
    const AssemblerDecisions found = read(c.code, numbered);
    std::vector<bool> fused, inferred;
    for (const AssemblerDecisions::Sum& sum : found.sums) {
      fused.push_back(sum.fused);
      inferred.push_back(sum.inferred);
    }
    CHECK(fused == c.fused);
    CHECK(inferred == c.inferred);
    CHECK(found.open.size() == c.absent);
  }
}

// FMUL R1, R2, R3 with D4 in bits 84 to 86 of the instruction, of which 4 says that there is no scale.
TEST_CASE("a product's instruction says whether it has a scale", "[assembler]") {
  const Module module(entry("mul.f32 %f1, %f2, %f3;\nmul.f32 %f4, %f1, 0f3E800000;\nmul.f32 %f5, %f1, %f2;"));
  const NumberedModule numbered = number_statements(syntax_of(module));
  const auto product = [](std::uint64_t scale, int line) {
    MachineInstruction instruction = registers(fmul, 1, 2, 3, 0, line);
    instruction.high |= scale << 20;
    return instruction;
  };
  const AssemblerDecisions found = read({product(2, 1), product(4, 2), product(4, 3), product(2, 3)}, numbered);
  REQUIRE(found.products.size() == 2);  // two copies that differ say nothing
  CHECK(found.products[0].scaled);
  CHECK_FALSE(found.products[1].scaled);
}

TEST_CASE("of machine code of another text the kinds of sums decide", "[assembler]") {
  const Module module(entry("mul.f32 %f1, %f2, %f3;\nadd.f32 %f4, %f1, %f2;\nadd.f64 %d1, %d2, %d3;\nadd.ftz.f32 %f5, %f1, %f2;"));
  constexpr std::uint64_t dadd = 0x229;
  const auto sums = [&](std::vector<MachineInstruction> code) {
    AssemblerDecisions found;
    read_kinds_of_sums(syntax_of(module), {"k", std::move(code)}, "k", found);
    std::vector<bool> fused;
    for (const AssemblerDecisions::Sum& sum : found.sums) fused.push_back(sum.fused);
    CHECK(fused.size() + found.open.size() == 3);
    return fused;
  };
  CHECK(sums({registers(ffma, 1, 2, 3, 4, 0)}) == std::vector{true});
  CHECK(sums({registers(fadd, 1, 2, 3, 4, 0), registers(dadd, 1, 2, 3, 4, 0)}) == std::vector{false, false});
  CHECK(sums({registers(fadd, 1, 2, 3, 4, 0), registers(ffma, 1, 2, 3, 4, 0)}).empty());
  CHECK(sums({}).empty());
}

TEST_CASE("what a probe stores is an immediate or computed", "[assembler]") {
  // Line 2 stores the result of the statement of line 1.
  const Module module(entry("rsqrt.approx.f32 %f1, %f2;"));
  const NumberedModule numbered = number_statements(syntax_of(module), is_approximate);
  REQUIRE(numbered.lines.size() == 3);
  CHECK(numbered.lines[1].probe);
  CHECK(contains(numbered.text, "rsqrt.approx.f32 %f1, %f2;\n.loc 1 2 1\nst.volatile.global.b32 [warpmat_probe], %f1;"));
  CHECK(contains(numbered.text, ".global .align 4 .b32 warpmat_probe;\n.visible .entry"));
  CHECK_NOTHROW(Module(numbered.text));
  constexpr std::uint64_t always = 7ULL << 12, mov = 0x802 | always, mov_of_uniform = 0xc02 | always, uniform = 0x882 | always,
                          half = 0x435 | always, mufu = 0x308 | always, stg = 0x986 | always;
  const auto moves = [](std::uint64_t opcode, int destination, std::uint32_t bits, int a = 0) {
    return MachineInstruction{
        opcode | static_cast<std::uint64_t>(destination) << 16 | static_cast<std::uint64_t>(a) << 24 | std::uint64_t{bits} << 32, 0, 2};
  };
  const auto stores = [&](int reg) { return registers(stg, 0, 2, reg, 0, 2); };
  constexpr std::uint32_t root = 0x3db504f3;
  struct Case {
    std::vector<MachineInstruction> code;
    std::vector<bool> immediate;
  };
  for (const Case& c : {
           Case{{moves(mov, 5, root), stores(5)}, {true}},
           Case{{moves(half, 5, root, 255), stores(5)}, {true}},
           Case{{moves(uniform, 4, root), registers(mov_of_uniform, 5, 0, 4, 0, 2), stores(5)}, {true}},
           Case{{registers(mufu, 5, 0, 6, 0, 1), stores(5)}, {false}},
           Case{{moves(mov, 5, root), registers(mufu, 5, 0, 6, 0, 1), stores(5)}, {false}},
           Case{{moves(mov & ~always, 5, root), stores(5)}, {false}},                       // with a guard
           Case{{moves(mov, 5, root), stores(5), moves(mov, 5, root + 1), stores(5)}, {}},  // copies that differ
           Case{{registers(mufu, 5, 0, 6, 0, 1)}, {}},
       }) {
    const std::vector<AssemblerDecisions::Result> results = read_results(numbered, {{"k", c.code}}, "k");
    std::vector<bool> immediate;
    for (const AssemblerDecisions::Result& result : results) immediate.push_back(result.immediate);
    CHECK(immediate == c.immediate);
    if (immediate == std::vector{true}) CHECK(results[0].bits == root);
  }
}

TEST_CASE("what kinds of results are probed", "[assembler]") {
  const auto probed = [](const std::string& opcode) {
    syntax::Statement statement;
    statement.opcode = opcode;
    return is_approximate(statement);
  };
  for (const char* opcode : {"rsqrt.approx.f32", "ex2.approx.ftz.f32", "sin.approx.f32", "tanh.approx.f32"}) CHECK(probed(opcode));
  for (const char* opcode : {"rcp.rn.f32", "ex2.approx.f16", "rsqrt.approx.f64", "div.approx.f32", "add.f32"}) CHECK_FALSE(probed(opcode));
}

TEST_CASE("what is no object file of ptxas is refused", "[assembler]") {
  CHECK_THROWS_WITH(read_cubin("PTX"), "what ptxas wrote is no ELF file of 64 bits");
  CHECK_THROWS_WITH(read_cubin(std::string("\177ELF\2", 5) + std::string(20, '\0')), "ptxas's object file ends too early");
}

TEST_CASE("what kinds of sums may be fused", "[assembler]") {
  const auto may = [](const std::string& opcode) {
    syntax::Statement statement;
    statement.opcode = opcode;
    return may_be_fused(statement);
  };
  for (const char* opcode : {"add.f32", "sub.ftz.f32", "add.ftz.sat.f32", "add.f64", "sub.bf16x2", "add.f16"}) CHECK(may(opcode));
  for (const char* opcode : {"add.rn.f32", "add.rz.ftz.f32", "add.s32", "fma.rn.f32", "mul.f32", "add.cc.u32"}) CHECK_FALSE(may(opcode));
}

bool is_module(const std::filesystem::path& path) {
  const std::string text = read_text(path);
  return text.find(".entry") != std::string::npos && text.find(".target") != std::string::npos;
}

/// The modules that examples, tests and, where they are, the kernels of test_inputs_path() and the folder WARPMAT_MODULES of the
/// environment have.
std::vector<std::filesystem::path> modules() {
  std::vector<std::filesystem::path> paths, roots{source_path("examples"), source_path("tests")};
  if (!test_inputs_path().empty()) roots.emplace_back(test_inputs_path() + "/kernels");
  if (const char* const more = std::getenv("WARPMAT_MODULES"); more != nullptr) roots.emplace_back(more);
  for (const std::filesystem::path& root : roots) {
    if (!std::filesystem::exists(root)) continue;
    for (const auto& file : std::filesystem::recursive_directory_iterator(root))
      if (file.path().extension() == ".ptx" && is_module(file.path())) paths.push_back(file.path());
  }
  std::ranges::sort(paths);
  return paths;
}

TEST_CASE("the rule is what ptxas does in all kernels that are at hand", "[assembler][ptxas]") {
  const auto ptxas = find_ptxas();
  if (!ptxas) {
    WARN("skipped: no ptxas");
    return;
  }
  CHECK(version_of(*ptxas).starts_with("ptxas "));
  std::size_t sums = 0;
  for (const std::filesystem::path& path : modules()) {
    INFO(path.string());
    const Module module(read_text(path));
    for (const std::string& name : module.entries()) {
      const auto decisions = ask_ptxas(module, name);
      REQUIRE(decisions);
      sums += decisions->sums.size();
      const Kernel kernel(module, name, {.decisions = &*decisions});
      for (const std::uint32_t differs : program_of(kernel).differs)
        FAIL_CHECK("line " << program_of(kernel).statements[differs]->location.line << " of " << name);
    }
  }
  CHECK(sums > 0);
  if (std::getenv("WARPMAT_MODULES") != nullptr) WARN(sums << " sums");
}

TEST_CASE("approximate functions of constants are immediates where the rule says so, and no others", "[assembler][ptxas]") {
  if (!find_ptxas()) {
    WARN("skipped: no ptxas");
    return;
  }
  const Module module(
      entry("ld.param.u64 %l1, [p]; ld.global.f32 %f1, [%l1];\nrsqrt.approx.f32 %f2, 0f43000000; mul.f32 %f3, %f1, %f2;\n"
            "ex2.approx.ftz.f32 %f4, %f3;\nst.global.f32 [%l1], %f4;"));
  const auto decisions = ask_ptxas(module, "k", {.target = "sm_90"});
  REQUIRE(decisions);
  REQUIRE(decisions->results.size() == 2);
  CHECK(decisions->results[0].immediate);
  CHECK(decisions->results[0].bits == 0x3db504f3);
  CHECK_FALSE(decisions->results[1].immediate);
  CHECK(program_of(Kernel(module, "k", {.decisions = &*decisions})).differs.empty());
}

/// A variable of the environment for a while.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* const old = std::getenv(name); old != nullptr) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST_CASE("kernels of one module share runs of ptxas, and each has its own answer", "[assembler][ptxas]") {
  const auto ptxas = find_ptxas();
  if (!ptxas) {
    WARN("skipped: no ptxas");
    return;
  }
  constexpr int kernels = 8;
  std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n";
  for (int i = 0; i < kernels; ++i)  // every second one stores its product, which is then rounded
    text += fmt::format(
        ".visible .entry k{}(.param .u64 p)\n{{\n.reg .f32 %f<9>; .reg .b64 %l<2>;\nld.param.u64 %l1, [p]; ld.global.f32 %f1, [%l1];\n"
        "mul.f32 %f2, %f1, %f1;\nadd.f32 %f3, %f2, %f1;\nst.global.f32 [%l1], %f3;\n{}ret;\n}}\n",
        i, i % 2 == 0 ? "" : "st.global.f32 [%l1+4], %f2;\n");
  const Module module(text);
  const TemporaryDirectory directory;
  const std::string runs = directory.path("runs");
  write_text(directory.path("ptxas"), fmt::format("#!/bin/sh\necho \"$@\" >> '{}'\nexec '{}' \"$@\"\n", runs, ptxas->string()));
  std::filesystem::permissions(directory.path("ptxas"), std::filesystem::perms::owner_all);
  const Variable path("PATH", directory.path("") + ":" + std::getenv("PATH")), cache("XDG_CACHE_HOME", directory.path("cache"));
  for (int i = 0; i < kernels; ++i) {
    const auto decisions = ask_ptxas(module, fmt::format("k{}", i), {.target = "sm_90"});
    REQUIRE(decisions);
    REQUIRE(decisions->sums.size() == 1);
    CHECK(decisions->sums[0].fused == (i % 2 == 0));
  }
  const std::string all = read_text(runs);
  std::size_t assembled = 0;
  for (std::size_t at = all.find("--entry"); at != std::string::npos; at = all.find("--entry", at + 1)) ++assembled;
  CHECK(assembled > 0);
  CHECK(assembled <= 4);  // one, two, four of them, and the rest
}

TEST_CASE("launch --assembler ptxas goes by machine code and says so", "[assembler][ptxas]") {
  if (!find_ptxas()) {
    WARN("skipped: no ptxas");
    return;
  }
  const TemporaryDirectory directory;
  const std::string ptx = directory.path("k.ptx");
  write_text(ptx, entry("ld.param.u64 %l1, [p];\nld.global.f32 %f1, [%l1];\nmul.f32 %f2, %f1, %f1;\nadd.f32 %f3, %f2, %f1;\n"
                        "st.global.f32 [%l1], %f3;"));
  const auto launch = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"launch", ptx, "--block", "1", "--buffer", "x=fill:4:63", "--param", "x"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(arguments);
  };
  const Outcome asked = launch({"--assembler", "ptxas"});
  INFO(asked.err);
  CHECK(asked.status == 0);
  CHECK(contains(asked.err, "; sums from machine code of ptxas "));
  CHECK_FALSE(contains(asked.err, "please file"));
  CHECK_FALSE(contains(launch({}).err, "ptxas"));
  CHECK_FALSE(contains(launch({"--assembler", "rule"}).err, "ptxas"));
  CHECK(contains(launch({"--assembler", "nvcc"}).err, "--assembler"));
  const std::string json = directory.path("launch.json");
  const auto described = [&](const std::string& assembler) {
    write_text(json, R"({"ptx": "k.ptx", "grid": [1, 1, 1], "block": [1, 1, 1], "assembler": ")" + assembler +
                         R"(", "buffers": [{"name": "x", "bytes": 4, "fill": 63}], "params": [{"buffer": "x"}]})");
    return run_command({"launch", json});
  };
  CHECK(contains(described("ptxas").err, "; sums from machine code of ptxas "));
  CHECK(contains(described("nvcc").err, "\"assembler\" is \"nvcc\"; it may be \"ptxas\" or \"rule\""));
}

}  // namespace
}  // namespace warpmat::machine_code_test
