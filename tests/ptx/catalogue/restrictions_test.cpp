// Accept and reject as ptxas 13.0 does: statements of memory, atomics, synchronisation, copies, clusters and special registers, for every
// target. tests/vectors/ptxas_13.0_machine.tsv.gz says what ptxas made of each alone in a kernel; where ptxas is installed, it is asked.

#include <warpmat/ptx/catalogue/restrictions.h>

#include <fmt/format.h>

#include "compressed_table.h"
#include "machine/kernel.h"
#include "tables/assembler.h"
#include "test.h"

namespace warpmat::restrictions_test {
namespace {

constexpr const char* declarations =
    ".reg .pred %p<8>; .reg .b16 %rs<9>; .reg .b32 %r<140>; .reg .b64 %rd<12>; .reg .f32 %f<12>; .reg .f64 %fd<12>; .reg .b128 %q<12>; "
    ".shared .align 128 .b8 tile[1024]; .local .align 16 .b8 loc[64]; L: TL: .branchtargets L;";
constexpr const char* module_variables = ".global .align 128 .b8 glob[256];";

/// By target the oldest PTX version, where that was asked; else 9.0.
using Targets = std::map<std::string, PtxVersion, std::less<>>;

struct Statement {
  std::string text;
  const Targets* taken;
};

struct Recorded {
  std::vector<std::string> targets;             ///< that were asked
  std::set<std::string, std::less<>> versions;  ///< those of them that were asked for every PTX version
  std::map<std::string, Targets, std::less<>> classes;
  std::vector<Statement> statements;
};

Targets targets_of(const std::string& text) {
  Targets targets;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    targets[word.substr(0, equals)] = equals == std::string::npos ? PtxVersion{9, 0} : version_of(word.substr(equals + 1));
  }
  return targets;
}

/// Lines: "# targets: sm_75=6.3 ...", those with a version were asked for all; "@class targets"; "class<tab>statement".
const Recorded& recorded() {
  static const Recorded table = [] {
    Recorded r;
    constexpr std::string_view targets = "# targets: ";
    std::vector<std::string> lines;
    for (const char* file : {"tests/vectors/ptxas_13.0_machine.tsv.gz", "tests/vectors/ptxas_13.0_tcgen05.tsv.gz"})
      for (std::string& line : read_compressed_lines(source_path(file))) lines.push_back(std::move(line));
    for (const std::string& line : lines) {
      if (line.starts_with(targets)) {
        std::istringstream words(line.substr(targets.size()));
        for (std::string word; words >> word;) {
          r.targets.push_back(word.substr(0, word.find('=')));
          if (word.find('=') != std::string::npos) r.versions.insert(r.targets.back());
        }
      }
      if (line.starts_with('#')) continue;
      const std::size_t tab = line.find('\t');
      if (line.starts_with('@'))
        r.classes[line.substr(1, tab - 1)] = targets_of(line.substr(tab + 1));
      else
        r.statements.push_back({line.substr(tab + 1), &r.classes.at(line.substr(0, tab))});
    }
    return r;
  }();
  return table;
}

/// What resolving kernels of these statements complains of, by the statement's place in `statements`.
Complaints complaints_of(const std::vector<const Statement*>& statements, const std::string& target) {
  constexpr std::size_t together = 90;  // a kernel's first hundred errors are told
  constexpr int first_line = 8;         // of the statements in module_of's text
  Complaints complaints;
  for (std::size_t first = 0; first < statements.size(); first += together) {
    std::vector<std::size_t> left;
    for (std::size_t i = first; i < std::min(first + together, statements.size()); ++i) left.push_back(i);
    // What is no PTX at all hides other errors, so those statements that are left are asked again.
    for (std::size_t before = 0; before != left.size();) {
      before = left.size();
      std::string text = std::string(declarations) + "\n";
      for (const std::size_t i : left) text += statements[i]->text + "\n";
      try {
        Kernel(module_of(".param .u64 par", text + "ret;", target, module_variables), "k");
      } catch (const SyntaxError& error) {
        for (const Diagnostic& diagnostic : error.errors)
          complaints.try_emplace(static_cast<int>(left.at(static_cast<std::size_t>(diagnostic.location.line - first_line))),
                                 diagnostic.message);
        std::erase_if(left, [&](std::size_t i) { return complaints.contains(static_cast<int>(i)); });
      }
    }
  }
  return complaints;
}

/// Complaints that differ from the table's verdict, of every `step`th statement from `first` on.
void compare(const std::string& target, std::size_t first, std::size_t step) {
  std::vector<const Statement*> asked;
  for (std::size_t i = first; i < recorded().statements.size(); i += step) asked.push_back(&recorded().statements[i]);
  const Complaints complaints = complaints_of(asked, target);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto complaint = complaints.find(static_cast<int>(i));
    const bool taken = complaint == complaints.end();
    if (taken != asked[i]->taken->contains(target))
      FAIL_CHECK(fmt::format("{}: {}: {}", target, asked[i]->text, taken ? "taken, but not by ptxas" : complaint->second));
  }
}

TEST_CASE("the machine's statements are taken as ptxas 13.0 takes them, a part of them for each target", "[ptx][validity]") {
  const Recorded& all = recorded();
  REQUIRE(all.targets.size() == 23);
  REQUIRE(all.statements.size() > 10000);
  for (std::size_t i = 0; i < all.targets.size(); ++i) compare(all.targets[i], i, all.targets.size());
}

TEST_CASE("the machine's statements are taken as ptxas 13.0 takes them, all of them for all targets", "[ptx][validity][slow]") {
  for (const std::string& target : recorded().targets) compare(target, 0, 1);
}

TEST_CASE("spellings are taken for every target from the PTX version on that ptxas 13.0 takes them from", "[ptx][validity]") {
  std::size_t judged = 0;
  for (const Statement& statement : recorded().statements) {
    if (statement.taken->empty()) continue;
    const std::string opcode = statement.text.substr(0, statement.text.find_first_of(" ;"));
    if (opcode.starts_with('@')) continue;
    const auto match = catalogue::find_row(opcode);
    if (!match) continue;  // mov between vectors; others are errors of the cases above
    // What operands ask of the target is no matter of the spelling.
    const bool by_operands = match->pattern->mnemonic == "mov" || match->pattern->mnemonic == "cvt" || match->has(".arrive") ||
                             match->has(".arrive_drop") || match->has(".elemtype") || match->pattern->mnemonic == "cp" ||
                             match->pattern->mnemonic == "setmaxnreg" || match->has(".mma") ||
                             (match->pattern->mnemonic == "tcgen05" && (match->has(".down") || match->has(".red")));
    if (by_operands) continue;
    for (const std::string& name : recorded().targets)
      for (const PtxVersion version : ptxas_versions) {
        if (version < target(name).since || (version != PtxVersion{9, 0} && !recorded().versions.contains(name))) continue;
        const auto taken = statement.taken->find(name);
        const bool expected = taken != statement.taken->end() && version >= taken->second;
        ++judged;
        if (catalogue::refusal(*match, target(name), version).has_value() == expected)
          FAIL_CHECK(fmt::format("{} PTX {}: {}: ptxas {} it", name, to_string(version), statement.text, expected ? "takes" : "refuses"));
      }
  }
  CHECK(judged > 100000);
}

TEST_CASE("a statement that a target or PTX version lacks is refused with what would be right", "[ptx][validity]") {
  struct Case {
    std::string_view target, statement, message;
  };
  for (const Case& c : {
           Case{"sm_75", "elect.sync %r1|%p1, 0xffffffff;", "elect.sync needs sm_90 or later; the target is sm_75"},
           Case{"sm_75", "cp.async.ca.shared.global [%r1], [%rd1], 4;", "needs sm_80 or later; the target is sm_75"},
           Case{"sm_75", "griddepcontrol.wait;", "needs sm_90 or later"},
           Case{"sm_80", "ld.relaxed.cluster.global.u32 %r1, [%rd1];", "needs sm_90 or later; the target is sm_80"},
           Case{"sm_90", "ld.global.v4.u64 {%rd1, %rd2, %rd3, %rd4}, [%rd5];", "needs sm_100 or later; the target is sm_90"},
           Case{"sm_90", "vote.ballot.b32 %r1, %p1;", "needs .sync on sm_70 and later from PTX 6.4 on"},
           Case{"sm_90", "ld.global.f16 %rs1, [%rd1];", "is not a form that warpmat executes"},
           Case{"sm_90", "atom.global.add.noftz.u32 %r1, [%rd1], %r2;", "is not a form that warpmat executes"},
           Case{"sm_90", "shfl.sync.idx.b32 _|%p1, %r1, %r2, %r3, %r4;", "takes no _ here"},
           Case{"sm_90", "add.f16 %rs1, %rs2, 5;", "is not a number that fits .f16"},
           Case{"sm_90", "ld.relaxed.global.u32 %r1, [%rd1];", "needs a scope beside the order"},
           Case{"sm_90", "st.shared.u32 [glob], %r1;", "'glob' is a .global variable"},
           Case{"sm_90", "ld.global.u32 %f1, [%rd1];", "'%f1' is a register of .f32"},
           Case{"sm_90", "shl.b32 %r1, %r2, %f1+4;", "'%f1' is a register of .f32, which shl.b32 does not take for .u32"},
           Case{"sm_90", "shl.b32 %r1, %r2, -%f1;", "'%f1' is a register of .f32, which shl.b32 does not take for .u32"},
           Case{"sm_90", "add.u32 %r1, %tid.x, 1;", "mov.u32 takes that to a register"},
           Case{"sm_90", "ld.global.u32 %r1, [%r2];", "'%r2' has 32 bits; a global address has 64"},
       }) {
    INFO(c.statement);
    CHECK_THAT(message_of([&] {
                 Kernel(module_of("", std::string(declarations) + "\n" + std::string(c.statement) + "\nret;", c.target, module_variables),
                        "k");
               }),
               ContainsSubstring(std::string(c.message)));
  }
}

TEST_CASE("what no H200 has is resolved, and traps by name", "[ptx][validity]") {
  const Module module = module_of(".param .u64 a",
                                  ".reg .b64 %l<3>; .reg .b32 %r<3>; ld.param.u64 %l1, [a]; mov.u32 %r1, 1;\n"
                                  "multimem.st.relaxed.sys.global.e4m3x4 [%l1], %r1; ret;",
                                  "sm_100a");
  DeviceMemory memory;
  const std::uint64_t a = memory.allocate(4, "a");
  CHECK_THAT(message_of([&] {
               launch(Kernel(module, "k"), {{1}, {1}}, memory, {a});
             }),
             ContainsSubstring("'multimem.st.relaxed.sys.global.e4m3x4' is not executed: no H200 has this type"));
}

// Of every generation one target; with WARPMAT_ALL_TARGETS in the environment all.
TEST_CASE("the recorded table of the machine's statements is what the installed ptxas says", "[ptx][validity][ptxas]") {
  if (!has_ptxas()) {
    WARN("skipped: no ptxas 13.0 to compare the recorded table with");
    return;
  }
  const bool every = std::getenv("WARPMAT_ALL_TARGETS") != nullptr;
  const std::set<std::string_view> some{"sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"};
  constexpr std::size_t together = 300;
  for (const std::string& target : recorded().targets) {
    if (!every && !some.contains(target)) continue;
    for (const bool pairs : {false, true}) {  // ptxas refuses a function with tcgen05 of both groups
      std::vector<const Statement*> taken;
      for (const Statement& statement : recorded().statements) {
        const bool of_pair =
            statement.text.find("tcgen05.") != std::string::npos && statement.text.find(".cta_group::2") != std::string::npos;
        if (statement.taken->contains(target) && of_pair == pairs) taken.push_back(&statement);
      }
      for (std::size_t first = 0; first < taken.size(); first += together) {
        std::vector<std::string> asked;
        for (std::size_t i = first; i < std::min(first + together, taken.size()); ++i) asked.push_back(taken[i]->text);
        // The declarations close the entry that ptxas_says opens, so that the kernel has a parameter.
        const std::string before =
            fmt::format("ret; }} {} .visible .entry with_parameter(.param .u64 par) {{ {}", module_variables, declarations);
        const auto complaints = ptxas_says(target, {9, 0}, before, asked);
        REQUIRE(complaints);
        for (const auto& [number, message] : *complaints)
          FAIL_CHECK(fmt::format("{}: {}: {}", target,
                                 number >= 0 && number < static_cast<int>(asked.size()) ? asked[static_cast<std::size_t>(number)] : "?",
                                 message));
      }
    }
  }
}

}  // namespace
}  // namespace warpmat::restrictions_test
