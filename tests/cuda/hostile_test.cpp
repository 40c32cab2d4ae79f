
#include "test.h"
#include "tools/command.h"

// What hostile_program.cpp prints. The codes are those of the documentation of CUDA's runtime and driver (each function's "Returns").

namespace warpmat::hostile_test {
namespace {

Outcome run_hostile(const std::vector<std::string>& arguments) {
  const std::string program = std::filesystem::path(cuda_program_path()).replace_filename("warpmat_cuda_hostile_program");
  return run_program(program, arguments, {"LD_LIBRARY_PATH=" + cuda_libraries_path()});
}

/// Lines without the arguments of their calls: "cudaMalloc: cudaSuccess".
std::vector<std::string> lines_of(const std::string& out) {
  std::vector<std::string> lines;
  std::istringstream in(out);
  for (std::string line; std::getline(in, line);) {
    const std::size_t open = line.find('('), result = line.rfind(": ");
    const bool is_call = open != std::string::npos && result != std::string::npos && open < result;
    lines.push_back(is_call ? line.substr(0, open) + line.substr(result) : line);
  }
  return lines;
}

/// The lines behind "-- PART", to the next one.
std::vector<std::string> part(const std::vector<std::string>& lines, const std::string& name) {
  const auto begin = std::ranges::find(lines, "-- " + name);
  REQUIRE(begin != lines.end());
  return {begin + 1, std::find_if(begin + 1, lines.end(), [](const std::string& line) { return line.starts_with("-- "); })};
}

using Lines = std::vector<std::string>;

/// Runs a program of this folder that opens libraries of the runtime.
Outcome run_opening(const std::string& name, std::vector<std::string> arguments) {
  for (std::string& argument : arguments) argument = cuda_libraries_path() + "/" + argument;
  const std::filesystem::path folder = std::filesystem::path(cuda_program_path()).parent_path();
  if (name == "plugin") arguments.push_back((folder / "warpmat_cuda_plugin.so").string());
  return run_program((folder / ("warpmat_cuda_" + name + "_program")).string(), arguments);
}

}  // namespace

TEST_CASE("no copy, fill or allocation takes a size that wraps", "[cuda]") {
  const Outcome outcome = run_hostile({"sizes"});
  CHECK(outcome.status == 0);
  const Lines lines = lines_of(outcome.out);
  const std::set<std::string> good{"cuInit: 0", "cudaFreeArray: cudaSuccess", "cudaFree: cudaSuccess",
                                   "cudaDeviceSynchronize: cudaSuccess"};
  CHECK(lines.size() > 40);
  CHECK(lines.back() == "cudaDeviceSynchronize: cudaSuccess");
  CHECK(std::ranges::count_if(lines, [&](const std::string& line) { return good.contains(line); }) == 4);
  const std::set<std::string> errors{"cudaErrorInvalidValue", "cudaErrorInvalidPitchValue", "cudaErrorMemoryAllocation", "1", "2"};
  for (const std::string& line : lines) {
    INFO(line);
    CHECK((good.contains(line) || errors.contains(line.substr(line.rfind(' ') + 1))));
  }
  for (std::size_t i = 0; i < 6; ++i) CHECK(lines[i] == "cudaMemcpy2D: cudaErrorInvalidPitchValue");
}

TEST_CASE("a texture has no level that is no number, and nothing of an array that is gone", "[cuda]") {
  const Outcome outcome = run_hostile({"textures"});
  CHECK(outcome.status == 0);
  const Lines lines = lines_of(outcome.out);
  CHECK(std::ranges::count(lines, "cudaCreateTextureObject: cudaErrorInvalidValue") == 3 * 2 + 2);  // NaN of both signs, and two views
  CHECK(std::ranges::count(lines, "cudaDeviceSynchronize: cudaSuccess") == 3 * 5);
  REQUIRE(lines.size() > 2);
  CHECK(lines.back() == "cudaDeviceSynchronize: cudaErrorIllegalAddress");
}

TEST_CASE("an attribute of a stream has no number that is none", "[cuda]") {
  const Lines lines = lines_of(run_hostile({"attributes"}).out);
  const std::string refused = "cudaStreamSetAttribute: cudaErrorInvalidValue", taken = "cudaStreamSetAttribute: cudaSuccess";
  CHECK(lines == Lines{refused, refused, refused, refused, taken, taken, taken});
}

TEST_CASE("a new object has nothing of one that was destroyed while something held it", "[cuda]") {
  const Outcome outcome = run_hostile({"handles"});
  CHECK(outcome.status == 0);
  const Lines lines = lines_of(outcome.out);
  CHECK(std::ranges::count(lines, "the same handle") == 0);
  CHECK(part(lines, "a stream that captures") ==
        Lines{"cudaStreamBeginCapture: cudaSuccess", "cudaEventRecord: cudaSuccess", "cudaStreamWaitEvent: cudaSuccess",
              "cudaStreamDestroy: cudaSuccess", "cudaStreamEndCapture: cudaErrorInvalidResourceHandle",
              "cudaStreamIsCapturing: cudaSuccess", "0", "add: cudaErrorInvalidResourceHandle", "another handle",
              "cudaStreamBeginCapture: cudaSuccess", "add: cudaSuccess", "cudaStreamEndCapture: cudaSuccess",
              "cudaGraphInstantiate: cudaSuccess", "cudaGraphLaunch: cudaSuccess", "cudaStreamSynchronize: cudaSuccess",
              "cudaStreamWaitEvent: cudaErrorCapturedEvent", "1"});
  CHECK(part(lines, "graphs") == Lines{"cudaGraphDestroy: cudaSuccess", "cudaGraphDestroy: cudaErrorInvalidValue",
                                       "cudaGraphInstantiate: cudaErrorInvalidValue", "cudaGraphExecDestroy: cudaSuccess",
                                       "cudaGraphLaunch: cudaErrorInvalidValue", "another handle", "cudaGraphAddEmptyNode: cudaSuccess",
                                       "cudaGraphInstantiate: cudaSuccess", "cudaGraphDestroyNode: cudaSuccess",
                                       "cudaGraphNodeGetType: cudaErrorInvalidValue", "cudaGraphAddEmptyNode: cudaSuccess",
                                       "another handle", "cudaGraphNodeSetEnabled: cudaErrorInvalidValue"});
  CHECK(part(lines, "an event in a graph") == Lines{"cudaGraphAddEventRecordNode: cudaSuccess", "cudaGraphInstantiate: cudaSuccess",
                                                    "cudaEventDestroy: cudaSuccess", "cudaGraphLaunch: cudaErrorInvalidResourceHandle",
                                                    "cudaEventQuery: cudaErrorInvalidResourceHandle", "another handle"});
  CHECK(part(lines, "memory in a graph").back() == "cudaGraphLaunch: cudaErrorInvalidValue");
  CHECK(part(lines, "arrays") == Lines{"cudaFreeArray: cudaErrorInvalidValue", "cudaFreeMipmappedArray: cudaSuccess",
                                       "cudaMemcpyToArray: cudaErrorInvalidResourceHandle", "cudaFreeArray: cudaSuccess",
                                       "cudaFreeArray: cudaErrorInvalidResourceHandle",
                                       "cudaMemcpyToArray: cudaErrorInvalidResourceHandle"});
  CHECK(part(lines, "a pool") == Lines{"cudaMemPoolCreate: cudaSuccess", "cudaMallocFromPoolAsync: cudaSuccess",
                                       "cudaMemPoolDestroy: cudaSuccess", "cudaMallocFromPoolAsync: cudaErrorInvalidValue",
                                       "cudaMemPoolGetAttribute: cudaSuccess", "0 used"});
}

TEST_CASE("a context of the driver takes with it what was made in it", "[cuda]") {
  const Outcome outcome = run_hostile({"contexts"});
  CHECK(outcome.status == 0);
  const Lines lines = lines_of(outcome.out);
  for (const char* const line : {"its context", "add of its module", "another handle"}) CHECK(std::ranges::count(lines, line) == 1);
  const auto destroyed = std::ranges::find(lines, "cuCtxDestroy_v2: 0");
  REQUIRE(destroyed != lines.end());
  CHECK(Lines(destroyed + 1, lines.end()) == Lines{"cuCtxDestroy_v2: 201", "cuCtxSetCurrent: 201", "cuCtxSetCurrent: 0", "cuMemFree_v2: 1",
                                                   "cuStreamQuery: 400", "cuFuncGetName: 400", "cuLinkDestroy: 400"});
}

TEST_CASE("a module is gone when its plug-in unregisters it, and is new when it comes again", "[cuda]") {
  const Outcome outcome = run_hostile({"unregistered"});
  CHECK(outcome.status == 0);
  CHECK(outcome.out == "100\n");
}

TEST_CASE("host functions may not use CUDA, and do not nest", "[cuda]") {
  const Outcome outcome = run_hostile({"host_functions"});
  CHECK(outcome.status == 0);
  const Lines lines = lines_of(outcome.out);
  CHECK(lines.front() == "refused with 99999 left");
  CHECK(std::ranges::count_if(lines, [](const std::string& line) { return line.ends_with(": cudaErrorNotPermitted"); }) == 6);
  CHECK(lines.back() == "cudaMalloc: cudaSuccess");
}

TEST_CASE("memory is registered where the program itself can read and write it", "[cuda]") {
  const Outcome outcome = run_hostile({"registered"});
  CHECK(outcome.status == 0);
  const std::string refused = "cudaHostRegister: cudaErrorInvalidValue", taken = "cudaHostRegister: cudaSuccess";
  CHECK(lines_of(outcome.out) == Lines{refused, refused, refused, refused, taken, refused, refused, taken, "add: cudaSuccess",
                                       "cudaDeviceSynchronize: cudaSuccess", "cudaHostUnregister: cudaSuccess", "3", "add: cudaSuccess",
                                       "cudaDeviceSynchronize: cudaErrorIllegalAddress"});
}

TEST_CASE("cudaDeviceReset frees all, and variables are as at the start", "[cuda]") {
  const Outcome outcome = run_hostile({"reset"});
  CHECK(outcome.status == 0);
  const Lines lines = lines_of(outcome.out);
  const auto reset = std::ranges::find(lines, "cudaDeviceReset: cudaSuccess");
  REQUIRE(reset != lines.end());
  CHECK(Lines(reset + 1, lines.end()) ==
        Lines{"cudaMemcpy: cudaErrorInvalidValue", "cudaMemcpy: cudaErrorInvalidValue", "cudaFree: cudaErrorInvalidValue",
              "cudaFreeHost: cudaErrorInvalidValue", "cudaFreeArray: cudaErrorInvalidResourceHandle",
              "cudaStreamQuery: cudaErrorInvalidResourceHandle", "cudaEventQuery: cudaErrorInvalidResourceHandle",
              "cudaGraphDestroy: cudaErrorInvalidValue", "cudaMemcpyFromSymbol: cudaSuccess", "5", "cudaMalloc: cudaSuccess",
              "cudaMemset: cudaSuccess", "add: cudaSuccess", "2"});
}

TEST_CASE("limits of the device have limits", "[cuda]") {
  const Outcome outcome = run_hostile({"limits"});
  CHECK(outcome.status == 0);
  const Lines lines = lines_of(outcome.out);
  CHECK(lines.size() == 6);
  CHECK(std::ranges::none_of(lines, [](const std::string& line) { return line.ends_with("cudaSuccess"); }));
}

TEST_CASE("memory that other processes open keeps its size", "[cuda]") {
  const Outcome outcome = run_hostile({"sealed"});
  CHECK(outcome.status == 0);
  CHECK(lines_of(outcome.out) == Lines{"cudaIpcGetMemHandle: cudaSuccess", "1 file, 0 shrunk", "cudaMemcpy: cudaSuccess"});
}

TEST_CASE("a child process that is made while another thread launches uses CUDA", "[cuda]") {
  const Outcome outcome = run_hostile({"fork"});
  CHECK(outcome.status == 0);
  CHECK(outcome.out == "20 of 20\n");
}

TEST_CASE("both runtimes serve one process", "[cuda]") {
  const Outcome outcome = run_hostile({"both"});
  CHECK(outcome.status == 0);
  CHECK(lines_of(outcome.out) == Lines{"malloc_12: cudaSuccess", "memset_12: cudaSuccess", "add: cudaSuccess", "12", "12 and 13",
                                       "cudaFree: cudaSuccess", "cudaMalloc: cudaSuccess"});
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
  CHECK(outcome.out == "622 functions, 0 ended, 0 accepted\n");
}

TEST_CASE("programs that destroy, unmap and call what they should not get errors", "[cuda]") {
  const Outcome outcome = run_opening("scenario", {"libcudart.so.13"});
  CHECK(outcome.status == 0);
  CHECK(outcome.out ==
        "callbacks: 4 tried\nmemory: 16 tried\nnumbers: 4 tried\nobjects: 19 tried\nprocesses: 4 tried\nsizes: 10 tried\n"
        "threads: 4 tried\n");
}

TEST_CASE("the table of signatures is what the toolkit's headers say", "[cuda][slow]") {
  if (std::system("test -f /usr/local/cuda/include/cuda_runtime_api.h && command -v python3 >/dev/null") != 0) {
    WARN("skipped: no toolkit in /usr/local/cuda, or no python3");
    return;
  }
  CHECK(std::system((source_path("tests/cuda/signatures.py") + " --check").c_str()) == 0);
}

#endif

TEST_CASE("a program's fatbinary is believed as far as the program has memory", "[cuda]") {
  const struct {
    const char *at, *bytes, *value, *reason;  // what of the fatbinary is another number
  } cases[] = {
      {"6", "2", "65535", "follow its header"},                   // bytes of the header
      {"8", "8", "0xffffffffffffffff", "follow its header"},      // bytes behind it
      {"8", "8", "0xfffffffffffffff0", "follow its header"},      // which end at the last address with the header
      {"20", "4", "0xffffffff", "larger than the rest"},          // bytes of an entry's header
      {"24", "8", "0xffffffffffffffff", "larger than the rest"},  // bytes of its payload
      {"32", "4", "0xffffffff", "larger than its place"},         // compressed bytes
      {"56", "8", "0x8000", "no zstd data"},                      // flags
      {"0", "4", "0", "no fatbinary"},                            // the first bytes
  };
  for (const auto& each : cases) {
    INFO("byte " << each.at);
    const Outcome outcome = run_hostile({"corrupt", each.at, each.bytes, each.value});
    CHECK(outcome.status == 0);
    CHECK(lines_of(outcome.out) == Lines{"add: cudaErrorNoKernelImageForDevice"});
    CHECK_THAT(outcome.err, ContainsSubstring(each.reason));
  }
}

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

}  // namespace warpmat::hostile_test
