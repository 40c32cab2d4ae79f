#include "golden.h"
#include "tools/command.h"

// Programs that do what they should not. tests/golden/cuda/hostile.txt has what hostile_program.cpp prints.

namespace warpmat::hostile_test {
namespace {

/// Runs a program of this folder that opens libraries of the runtime.
Outcome run_opening(const std::string& name, std::vector<std::string> arguments) {
  for (std::string& argument : arguments) argument = cuda_libraries_path() + "/" + argument;
  const std::filesystem::path folder = std::filesystem::path(cuda_program_path()).parent_path();
  if (name == "plugin") arguments.push_back((folder / "warpmat_cuda_plugin.so").string());
  return run_program((folder / ("warpmat_cuda_" + name + "_program")).string(), arguments);
}

TEST_CASE("a plug-in of either runtime is opened and closed 200 times", "[cuda]") {
  const Outcome outcome = run_opening("plugin", {"libcudart.so.12", "libcudart.so.13"});
  CHECK(outcome.status == 0);
  CHECK(outcome.err == "");
  CHECK(outcome.out == "12 and 13: 200 of 200, freed: 0\n");
}

#ifdef __x86_64__  // by whose convention they call

TEST_CASE("no function of the runtime or the driver ends the program, or takes a number that is none", "[cuda]") {
  const Outcome outcome = run_opening("signature", {"libcudart.so.13"});
  CHECK(outcome.status == 0);
  CHECK(outcome.out == "683 functions, 0 ended, 0 accepted\n");
}

TEST_CASE("programs that destroy, unmap and call what they should not get errors", "[cuda]") {
  std::istringstream out(run_opening("scenario", {"libcudart.so.13"}).out);
  std::map<std::string, std::string> said;
  for (std::string line; std::getline(out, line);) said[line.substr(0, line.find(": "))] = line.substr(line.find(": ") + 2);
  CHECK(check_golden("cuda_scenarios.txt", [&](const std::string& scenario) { return said[scenario]; }) == static_cast<int>(said.size()));
}

TEST_CASE("the table of signatures is what the toolkit's headers say", "[cuda][slow]") {
  if (std::system("test -f /usr/local/cuda/include/cuda_runtime_api.h && command -v python3 >/dev/null") != 0) {
    WARN("skipped: no toolkit in /usr/local/cuda, or no python3");
    return;
  }
  CHECK(std::system((source_path("tests/cuda/signatures.py") + " --check").c_str()) == 0);
}

#endif

TEST_CASE("no library of CUDA is sought in the current folder", "[cuda]") {
  for (const char* const library : {"/libcuda.so.1", "/libcudart.so.12"}) {
    INFO(library);
    const Outcome outcome =
        run_program("sh", {"-c", "readelf -d \"$0\" | sed -n 's/.*R.*PATH.*\\[\\(.*\\)\\]/\\1/p'", cuda_libraries_path() + library});
    if (outcome.out.empty()) {
      WARN("skipped: no readelf, or no RUNPATH");
      continue;
    }
    CHECK(outcome.out == "$ORIGIN\n");
  }
}

}  // namespace
}  // namespace warpmat::hostile_test
