#include <csignal>

#include "gpu/programs/archive.h"
#include "test.h"
#include "tools/command.h"

// `warpmat record`, `diff` and `replay` of driver_program.cpp. The driver behind is warpmat's own libcuda.so.1, so no GPU is needed, and
// with another target there are differences that are known.

namespace warpmat::programs_test {
namespace {

Outcome run(std::vector<std::string> arguments, const std::vector<std::string>& parts = {}, const std::string& gpu = "sm_90a",
            const std::string& undefined = "trap") {
  if (!parts.empty()) {
    arguments.insert(arguments.end(), {"--", driver_program_path()});
    arguments.insert(arguments.end(), parts.begin(), parts.end());
  }
  return run_command(arguments,
                     {"LD_LIBRARY_PATH=" + cuda_libraries_path(), "WARPMAT_CUDA_TARGET=" + gpu, "WARPMAT_CUDA_UNDEFINED=" + undefined});
}

TEST_CASE("diff runs a program and compares its launches", "[programs]") {
  const Outcome plain =
      run_program(driver_program_path(), {"scale", "library", "product", "say"}, {"LD_LIBRARY_PATH=" + cuda_libraries_path()});
  const Outcome outcome = run({"diff"}, {"scale", "library", "product", "say"});
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(outcome.out.starts_with(plain.out));  // what the program prints is as without warpmat
  CHECK(contains(outcome.out, "4 launches, "));
  CHECK(contains(outcome.out, "0 launches differ, 0 more by the order of threads; 0 not compared"));
  CHECK(contains(outcome.out, "NVIDIA H200, driver 13.0"));
}

TEST_CASE("a GPU with other arithmetic is found, by kernel, launch, buffer and element", "[programs]") {
  const TemporaryDirectory directory;
  const Outcome outcome = run({"diff", "--target", "sm_90a", "--keep", directory.path("")}, {"scale", "product"}, "sm_80");
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.out, "launch 2, kernel 'product', 'cuMemAlloc_4' (parameter 0) of 512 bytes: 55 elements of f32 differ\n"));
  CHECK(contains(outcome.out, "  element 2: GPU -3.582364320755005 (0xc0654575), emulator -3.582364559173584 (0xc0654576)\n"));
  CHECK(contains(outcome.err, "1 of 2 launches differ between emulator and GPU"));
  // the launch is kept, with what the GPU made of it
  const std::string file = directory.path("launch_2.launch.json");
  CHECK(run_command({"launch", file, "--target", "sm_80"}).status == 0);
  const Outcome other = run_command({"launch", file, "--target", "sm_90a"});
  CHECK(other.status == 1);
  CHECK(contains(other.out + other.err, "55 of 128"));
}

TEST_CASE("record and replay give what diff gives, on any machine", "[programs]") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("p.launches");
  const Outcome recorded = run({"record", "--out", file}, {"scale", "sum", "say", "many"}, "sm_80");
  REQUIRE(recorded.status == 0);
  const Outcome same = run_command({"replay", file});
  INFO(same.out << same.err);
  CHECK(same.status == 0);
  CHECK(contains(same.out, "13 launches, "));
  CHECK(contains(same.out, "NVIDIA A100-SXM4-80GB"));
  CHECK(std::filesystem::file_size(file) < 20'000);  // ten launches with 160,000 bytes are stored once
  const std::string bytes = read_text(file);
  write_text(file, bytes.substr(0, bytes.size() - 5));
  CHECK(contains(run_command({"replay", file}).out, "the archive ends within a launch"));
}

TEST_CASE("replay reads an archive from a pipe", "[programs]") {
  const std::string file = source_path("tests/vectors/programs/driver_program.launches");
  const auto piped = [&](const std::string& from) {
    return run_program("/bin/sh", {"-c", from + " | " + command_path() + " replay /dev/stdin"});
  };
  const Outcome outcome = piped("cat " + file);
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "5 launches, 4892 bytes compared; 0 launches differ, "));
  CHECK(contains(piped("echo nothing").err, "/dev/stdin is no archive of launches: 'warpmat record -- PROGRAM' writes one"));
  CHECK(contains(piped("head -c -5 " + file).out, "the archive ends within a launch"));
}

TEST_CASE("launches are chosen, and those that are not compared are counted with the reason", "[programs]") {
  const auto sums = [](const std::vector<std::string>& options, const std::vector<std::string>& parts) {
    std::vector<std::string> arguments{"diff"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run(arguments, parts).out;
  };
  CHECK(contains(sums({"--every", "4"}, {"many"}), "not compared: 7 launches of 'scale': not chosen"));
  CHECK(contains(sums({"--first", "2"}, {"many", "sum"}), "not compared: 8 launches of 'scale': not chosen"));
  CHECK(contains(sums({"--kernels", "scale\\(unsigned"}, {"many", "sum"}), "not compared: 1 launch of 'sum': not chosen"));
  CHECK(contains(sums({"--memory", "1KB"}, {"scale", "many"}), "allocations of more than 1000 bytes (--memory)"));
  CHECK(contains(sums({}, {"scale", "beyond"}), "not compared: 1 launch of 'beyond': the GPU returns error 700"));
  CHECK(contains(run({"diff", "--kernels", "("}, {"scale"}).err, "'(' is no regular expression"));
}

TEST_CASE("Ctrl-C leaves the report of what was launched before", "[programs]") {
  const Outcome outcome = run({"diff"}, {"scale", "interrupt"});
  CHECK(outcome.status == 130);
  CHECK(contains(outcome.out, "1 launches, "));
  CHECK(contains(outcome.out, "0 launches differ"));
  const TemporaryDirectory directory;
  CHECK(run({"record", "--out", directory.path("p.launches")}, {"scale", "interrupt"}).status == 130);
  CHECK(contains(run_command({"replay", directory.path("p.launches")}).out, "1 launches, "));
}

TEST_CASE("Ctrl-C leaves a report soon where the launches before take long", "[programs]") {
  const Outcome outcome = run({"diff", "--target", "sm_80"}, {"scale", "endless", "interrupt"});
  INFO(outcome.err);
  CHECK(outcome.status == 130);
  CHECK(contains(outcome.out, "not compared: 1 launch of 'endless': interrupted\n"));
  CHECK(contains(outcome.out, "1 launches, "));
  CHECK(contains(outcome.err, "1 recorded launches were not compared"));
}

TEST_CASE("what the ISA leaves undefined is compared with what hardware was measured to do", "[programs]") {
  const Outcome trap = run({"diff"}, {"sparse"});
  CHECK(contains(trap.err, "operand e holds the metadata code 0x0"));
  const Outcome same = run({"diff"}, {"sparse"}, "sm_90a", "hardware");
  INFO(same.out << same.err);
  CHECK(same.status == 0);
  CHECK(contains(same.out, "41800000 41800000 \n"));  // 16 products of ones
  CHECK(contains(same.out, "1 launches, "));
  CHECK(contains(same.out, "; 0 launches differ, 0 more by the order of threads; 0 not compared"));
  CHECK(contains(run({"diff"}, {"sparse"}, "sm_90a", "none").err, "WARPMAT_CUDA_UNDEFINED=none: trap or hardware is needed"));
}

TEST_CASE("a program is needed, and a driver", "[programs]") {
  CHECK(contains(run_command({"diff", "--", "./no_such_program"}, {"LD_LIBRARY_PATH=" + cuda_libraries_path()}).err,
                 "there is no program ./no_such_program"));
  const Outcome none = run({"diff"}, {"nothing"});
  CHECK(none.status == 1);
  CHECK(contains(none.err, "nothing was compared"));
}

}  // namespace
}  // namespace warpmat::programs_test
