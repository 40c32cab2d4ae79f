#include <nlohmann/json.hpp>

#include <warpmat/assembler/ptxas.h>
#include <warpmat/machine_code/use.h>

#include "lab/lab_command.h"
#include "test.h"
#include "tools/evidence_page.h"

namespace warpmat::fuzz_test {
namespace {

using Json = nlohmann::ordered_json;

TEST_CASE("fuzz --kernels ends with its counts where a kernel hangs the GPU", "[tools][fuzz]") {
  const TemporaryDirectory directory;
  const Outcome outcome = run_lab_pretending({"fuzz", "--kernels", "--programs", "10", "--seed", "5", "--keep", directory.path("")},
                                             {"WARPMAT_PRETEND_FAULTS=hang"});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.out, "2 of 10 kernels from 0 on, "));
  CHECK(contains(outcome.out, ", 0 kernels differ; "));
  CHECK(contains(outcome.out, "pretended GPU, seed 5"));
  CHECK(contains(outcome.err, "warpmat: error: seed 5, kernel 2 ("));
  CHECK(contains(outcome.err, "it did not end within 60 seconds"));
  CHECK(directory.files().size() >= 1);  // the kernel that hung
}

/// The run's numbers of programs, statements and outputs in the JSON of fuzz.
Json counts(const std::string& file) {
  return Json::parse(read_text(file)).at("totals");
}

TEST_CASE("the parts of a run of random programs are the run", "[tools]") {
  const TemporaryDirectory directory;
  const auto fuzz = [&](const std::string& name, std::vector<std::string> more) {
    const std::string file = directory.path(name + ".json");
    more.insert(more.begin(), {"fuzz", "--programs", "7", "--first", "3", "--warps", "2", "--json", file, "--keep", directory.path("")});
    const Outcome outcome = run_lab_pretending(more, {no_faults});
    CHECK(outcome.status == 0);
    return file;
  };
  const std::string whole = fuzz("whole", {}), one = fuzz("one", {"--shard", "1/2"}), two = fuzz("two", {"--shard", "2/2"});
  CHECK(counts(one).at("programs") == 4);
  CHECK(counts(two).at("programs") == 3);
  for (const char* key : {"programs", "statements", "outputs"}) {
    CAPTURE(key);
    CHECK(counts(whole).at(key).get<std::size_t>() == counts(one).at(key).get<std::size_t>() + counts(two).at(key).get<std::size_t>());
  }
  CHECK(without_time(evidence_of({one, two}).out) == without_time(evidence_of({whole}).out));
  CHECK(contains(evidence_of({whole}).out, "7 from 3 on"));
  check_refused({one}, "part 2/2 is missing");
  check_refused({one, two, whole}, "have cases in common");
  check_refused({one, fuzz("other", {"--shard", "2/2", "--max-statements", "5"})},
                "programs: at most 50 statements and at most 5 statements");
  check_refused({whole, fuzz("later", {"--seed", "1", "--max-statements", "50", "--shard", "1/1"})}, "hold the same cases");
}

TEST_CASE("merge makes of the parts of a run of kernels, and of all operands, what it makes of the whole", "[tools][fuzz]") {
  const std::vector<std::vector<std::string>> runs{
      {"fuzz", "--kernels", "--machine-code", "--programs", "3"},
      {"fuzz", "--kernels", "--programs", "3"},
      {"fuzz", "--warpgroups", "--programs", "3"},
      {"exhaust", source_path("tests/vectors/sm_90/all_operands"), "--opcode", "rcp.approx.f32", "--every", "1024"}};
  for (const std::vector<std::string>& arguments : runs) {
    const TemporaryDirectory directory;
    const auto run = [&](const std::string& name, const std::vector<std::string>& options) {
      std::vector<std::string> all = arguments;
      all.insert(all.end(), {"--json", directory.path(name)});
      all.insert(all.end(), options.begin(), options.end());
      const Outcome outcome = run_lab_pretending(all, {no_faults});
      INFO(outcome.err);
      CHECK(outcome.status == 0);
      return directory.path(name);
    };
    const Outcome whole = run_command({"merge", run("whole", {})});
    const Outcome parts = run_command({"merge", run("3", {"--shard", "3/3"}), run("1", {"--shard", "1/3"}), run("2", {"--shard", "2/3"})});
    CHECK(whole.status == 0);
    CHECK(parts.status == 0);
    CHECK(parts.out == whole.out);
  }
}

TEST_CASE("a run of random programs that cannot be shared by so many is refused", "[tools][fuzz]") {
  CHECK(contains(run_lab_pretending({"fuzz", "--programs", "2", "--shard", "3/3"}).err, "2 programs cannot be shared by so many"));
  CHECK(contains(run_command({"fuzz", "--shard", "3/2"}).err, "'3/2' is no part of a run: I/N"));
}

TEST_CASE("fuzz that is interrupted prints and writes what it has run, marked incomplete", "[tools]") {
  for (const auto& [signal, status] : {std::pair{"INT 10", 130}, {"TERM 10", 143}}) {
    const TemporaryDirectory directory;
    const std::string file = directory.path("fuzz.json");
    const Outcome outcome = run_lab_pretending({"fuzz", "--programs", "5000", "--warps", "1", "--json", file, "--keep", directory.path("")},
                                               {no_faults, fmt::format("WARPMAT_PRETEND_SIGNAL={}", signal)});
    CHECK(outcome.status == status);
    CHECK(contains(outcome.err, "warpmat: interrupted: "));
    CHECK(contains(outcome.out, "; incomplete\n"));
    CHECK(Json::parse(read_text(file)).at("complete") == false);
    CHECK(counts(file).at("programs") >= 9);
    CHECK(counts(file).at("programs") < 100);
  }
}

TEST_CASE("fuzz writes lines of progress where no terminal shows a bar", "[tools]") {
  const TemporaryDirectory directory;
  const Outcome outcome = run_lab_pretending({"fuzz", "--programs", "20", "--warps", "1", "--keep", directory.path("")}, {no_faults});
  CHECK(outcome.status == 0);
  CHECK(std::ranges::count(outcome.err, '\n') == 10);
  CHECK(contains(outcome.err, " s  of 20 programs: 2 programs, "));
  CHECK(contains(outcome.err, " s  of 20 programs: 20 programs, "));
}

TEST_CASE("fuzz --kernels --assembler compares rule and machine code without a GPU", "[assembler][ptxas]") {
  if (!find_ptxas()) {
    WARN("skipped: no ptxas");
    return;
  }
  const TemporaryDirectory directory;
  const Outcome outcome = run_command({"fuzz", "--kernels", "--assembler", "--programs", "4", "--keep", directory.path("")});
  INFO(outcome.out << outcome.err);
  CHECK(contains(outcome.out, "4 kernels from 0 on for sm_90a by ptxas "));
  CHECK(contains(outcome.out, "; 0 kernels differ, 0 have sums that are left to the rule; "));
  CHECK(contains(run_command({"fuzz", "--kernels", "--target", "sm_80"}).err, "only --assembler and --machine-code have another target"));
}

}  // namespace
TEST_CASE("fuzz --kernels --machine-code compares the interpreter with machine code", "[lab]") {
  const Outcome outcome = run_command({"fuzz", "--kernels", "--machine-code", "--programs", "200", "--seed", "5"});
  if (find_program_compiler(false) == nullptr) {
    CHECK(contains(outcome.err, "no machine code here"));
    return;
  }
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "200 kernels of seed 5 from 0 on for sm_90a: 0 differ between the interpreter and machine code"));
}

}  // namespace warpmat::fuzz_test
