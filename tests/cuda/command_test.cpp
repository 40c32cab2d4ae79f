
#include "tools/command.h"
#include "compressed_table.h"
#include "cuda/nvcc_program.h"
#include "test.h"

// `warpmat cuda` with programs that nvcc compiles. tests/golden/cuda has what it says of others.

namespace warpmat::command_test {
using Catch::Matchers::StartsWith;

namespace {

Outcome run_cuda(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "cuda");
  return run_command(arguments);
}

std::string last_line(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

TEST_CASE("programs of nvcc run and print what they print on a GPU", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const struct {
    const char *name, *out;
    std::vector<std::string> options = {};
  } programs[] = {
      {"vector_add", "NVIDIA H200, capability 9.0: 0 wrong\n"},
      {"reduction", "int 1, float 1, double 1\n"},
      {"variables", "1000.5, 41 calls, counter 17, 24 bytes, 3, type 3\n"},
      {"streams", "0 wrong, 4 calls, time positive\n"},
      {"cluster", "101 102 103 100 105 106 107 104 cudaErrorInvalidClusterSize\n"},
      {"cooperative", "0 wrong, cudaErrorCooperativeLaunchTooLarge\n"},
      {"mma", "as an H200\n"},
      {"tensor_map", "found 0, made 0, 0 wrong\n"},
      {"graphs",
       "0 destroyed, 1, cudaErrorInvalidValue cudaErrorInvalidValue cudaErrorInvalidValue\n"
       "6 nodes, 5 edges, 1 root, type 4: 1075, 1 calls\nchanged: 1076, 1 calls\nupdated: 2075\n"
       "cudaErrorGraphExecUpdateFailure, cudaErrorInvalidValue\ncaptured: 5 nodes, 9\n1 named\n"
       "2 edges, 2 roots, cudaErrorCapturedEvent\n2 edges, 2 roots, cudaErrorCapturedEvent\n"},
      {"driver", "device 0, 264 blocks of 1024 threads, window of 4096 bytes, 66 clusters\n"},
      {"heap_size", "cudaSuccess cudaSuccess cudaErrorInvalidValue 32\n"},
      {"pools", "0 of 1000 bytes, 0 wrong, cudaErrorInvalidValue\n"},
      {"rounded", "constants are right\n"},
      {"decided",
       "0000 0000 0001 0001 0001 0001 0001 0001 0001 0001 0001 0001 \n"
       "3fb504f3 3fb504f2\n3f9cc471 3f9cc470\n3eaaaaab 3eaaaaab\n401d9624 401d9624\n404fefc6 404fefc7\n"
       "bf03bb12 bf03bb10\n3f576aa4 3f576aa3\n3f0a5140 3f0a5141\n"},
      {"conditional",
       "if 5 6, while 10 3, switch 0 0 7 0, child cudaErrorNotSupported, captured 4\n"
       "updated 0 3 0, destroyed body cudaErrorInvalidValue, nested 2 2\n"
       "during capture: instantiated cudaSuccess, node destroyed cudaErrorIllegalState, graph destroyed cudaErrorIllegalState\n"
       "cudaErrorInvalidValue cudaErrorInvalidValue\n",
       {"-rdc=true"}},
      {"children", "60 60 60 60 60 60 60 60 0 1 2 3 4 5 -1 -1 -1 -1 -1 -1 480 1 0 -1 60 60 60 60 -1 -1 -1 -1 \n", {"-rdc=true"}},
      {"virtual_memory", "0 wrong\n1 then 0\nCUDA_ERROR_INVALID_VALUE\n", {"-lcuda"}},
      {"streams", "0 wrong, 4 calls, time positive\n", {"--default-stream", "per-thread"}},
      {"driver", "device 0, 264 blocks of 1024 threads, window of 4096 bytes, 66 clusters\n", {"--default-stream", "per-thread"}},
  };
  const TemporaryDirectory directory;
  for (const auto& program : programs) {
    INFO(program.name);
    const std::string built = directory.path(program.name);
    compile_program(built, {program.name}, program.options);
    const Outcome outcome = run_cuda({built});
    CHECK(outcome.out == program.out);
    CHECK(outcome.status == 0);
    CHECK_THAT(last_line(outcome.err), StartsWith("warpmat: sm_90a (H100): "));
  }
}

TEST_CASE("programs whose host code has AddressSanitizer end without a report", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  for (const char* const name : {"streams", "graphs", "pools", "variables"}) {
    INFO(name);
    const std::string built = directory.path(name);
    compile_program(built, {name}, {"-Xcompiler", "-fsanitize=address", "-Xlinker", "-lasan"});
    const Outcome outcome = run_cuda({built});
    INFO(outcome.err);
    CHECK(outcome.status == 0);
    CHECK_THAT(outcome.err, !ContainsSubstring("Sanitizer"));
  }
}

TEST_CASE("textures and surfaces give what an H200 gave, but for what docs/use/programs.md lists", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string built = directory.path("textures");
  compile_program(built, {"textures"}, {"-std=c++17"});
  const Outcome outcome = run_cuda({built});
  CHECK(outcome.status == 0);
  CHECK_THAT(last_line(outcome.err), ContainsSubstring(": assumed ("));
  const std::vector<std::string> theirs = read_compressed_lines(source_path("tests/vectors/textures/h200.txt.gz"));
  std::vector<std::string> ours;
  std::istringstream out(outcome.out);
  for (std::string line; std::getline(out, line);) ours.push_back(line);
  REQUIRE(ours.size() == theirs.size());
  const auto is_assumed = [](const std::string& line) {
    const std::string set = line.substr(0, line.find(','));
    return set == "s8x4 normalized linear" || set == "mirror linear normalized";
  };
  std::size_t equal = 0, must_be_equal = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i] == theirs[i]) ++equal;
    if (is_assumed(theirs[i])) continue;
    ++must_be_equal;
    if (ours[i] != theirs[i]) CHECK(ours[i] == theirs[i]);
  }
  CHECK(must_be_equal == 14161);
  CHECK(equal == 14545);
}

TEST_CASE("--save writes launches that warpmat launch executes to the same end", "[cuda]") {
  const TemporaryDirectory directory;
  const Outcome saved = run_cuda({"--save", directory.path("saved"), cuda_program_path(), "works"});
  REQUIRE(saved.status == 0);
  // the second of three stores of 42, 43 and 44; each adds one to `total`, which starts with 5
  const std::string file = directory.path("saved") + "/2/launch.json";
  const Outcome again = run_command(
      {"launch", file, "--out", "cudaMallocManaged 2=" + directory.path("stored.npy"), "--out", "total=" + directory.path("total.npy")});
  INFO(again.err);
  CHECK(again.status == 0);
  const auto last_word = [&](const char* name) {
    const std::string bytes = read_text(directory.path(name));
    return static_cast<int>(static_cast<unsigned char>(bytes.at(bytes.size() - 4)));
  };
  CHECK(last_word("stored.npy") == 43);
  CHECK(last_word("total.npy") == 7);
}

namespace {

struct Defect {
  const char *name, *word;
  bool ends = false;  ///< the launch, with an error
};

/// Runs each defect and its twin: the defect is told with its line, the twin has no report.
void check_defects(const std::string& built, std::span<const Defect> defects, const std::vector<std::string>& options) {
  for (const Defect& defect : defects) {
    INFO(defect.name);
    std::vector<std::string> command = options;
    command.insert(command.end(), {built, defect.name});
    const Outcome bad = run_cuda(command);
    CHECK_THAT(bad.err, ContainsSubstring(defect.word));
    CHECK((bad.status != 0) == defect.ends);
    if (std::string(defect.name).find("leak") == std::string::npos)
      CHECK_THAT(bad.err, ContainsSubstring("defects.cu:") || ContainsSubstring("copy from the device"));
    command.push_back("right");
    const Outcome good = run_cuda(command);
    CHECK(good.status == 0);
    CHECK_THAT(good.err, !ContainsSubstring("error: ") && !ContainsSubstring("warning: ") && !ContainsSubstring("not freed: "));
  }
}

}  // namespace

TEST_CASE("a program's defects are named, and its right twins are silent", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string built = directory.path("defects");
  compile_program(built, {"defects"}, {"-lineinfo", "-g", "-lcuda"});
  const Defect unwritten[] = {
      {"never written", "nobody has written"},
      {"branch", "guard", true},
      {"index", "address", true},
      {"one element short", "(252 bytes into buffer 'cudaMalloc 1'", true},
      {"memset of elements", "(64 bytes into buffer 'cudaMalloc 1'"},
      {"word in part", "(255 bytes into buffer 'cudaMalloc 1'"},
      {"counter", "nobody has written", true},
      {"sum", "changes global memory that nobody has written"},
      {"copied on the device", "cudaMalloc 3", true},
      {"copied by a kernel", "cudaMalloc 3", true},
      {"copied back", "32 bytes of 256 that nobody has written"},
      {"rows", "(224 bytes into", true},
      {"rows of a memset", "(28 bytes into", true},
      {"pool", "cudaMallocAsync", true},
      {"shared memory", "cudaMalloc 1", true},
      {"vectors", "(12 bytes into", true},
      {"graph", "cudaMalloc 1", true},
      {"structures", "nobody has written", true},
      {"unwritten part", "heap of malloc()", true},
  };
  const Defect calls[] = {{"copy that is too long", "cudaMemcpy returned cudaErrorInvalidValue: 257 bytes"},
                          {"copy by the driver", "cuMemcpyHtoD_v2 returned cudaErrorInvalidValue"},
                          {"too many threads", "cudaLaunchKernel returned cudaErrorInvalidValue: blocks of 1025"},
                          {"too much shared memory", "cudaLaunchKernel returned cudaErrorInvalidValue: 49153 bytes"},
                          {"memory that is not there", "cudaMalloc returned cudaErrorMemoryAllocation"}};
  const Defect races[] = {{"reduce", "race within the warp"},
                          {"broadcast", "race within the warp"},
                          {"shift", "race within the warp"},
                          {"histogram", "race within the warp"},
                          {"halves", "race within the warp"}};
  const Defect heap[] = {{"beyond a part", "0 bytes beyond the end of 40 bytes", true},
                         {"before a part", "malloc()", true},
                         {"after free", "which were freed", true},
                         {"freed twice", "free already", true},
                         {"freed inside", "16 bytes into 64 bytes", true}};
  const Defect leaks[] = {{"leak in a kernel", "4 allocations were not freed, 96 bytes"},
                          {"leak over launches", "not freed: 4 bytes of malloc() in a kernel"},
                          {"leak of the host", "not freed: 100 bytes of cudaMalloc 3"}};
  const Defect blocks[] = {{"one number of all blocks", "race between blocks"}, {"stencil in place", "race between blocks"},
                           {"histogram of blocks", "race between blocks"},      {"last block without a fence", "race between blocks"},
                           {"fence of the block", "race between blocks"},       {"maximum", "race between blocks"}};
  const Defect warps[] = {
      {"no barrier behind", "race at", true}, {"counter of warps", "race at", true}, {"barrier of the warp", "race at", true}};
  const Defect addresses[] = {{"beyond the end", "outside of any buffer", true},
                              {"before the beginning", "outside of any buffer", true},
                              {"far away", "outside of any buffer", true},
                              {"misaligned", "not a multiple of 4", true},
                              {"null pointer", "a null pointer", true},
                              {"pointer of the host", "an address of the host", true},
                              {"memory that is freed", "outside of any buffer", true},
                              {"beyond shared memory", "outside of shared memory", true}};
  const Defect unset[] = {{"no barrier", "uninitialised shared memory", true},
                          {"unset shared memory", "uninitialised shared memory", true},
                          {"last of shared memory", "uninitialised shared memory", true},
                          {"sum of unset", "uninitialised shared memory", true}};
  const Defect lanes[] = {{"barrier in a branch", "must take part", true},
                          {"mask without a lane", "does not name all", true},
                          {"absent lane", "undefined", true}};
  const Defect copies[] = {{"copy without a wait", "not been waited for", true}, {"wait for another group", "not been waited for", true}};
  check_defects(built, unwritten, {"--check", "initcheck"});
  check_defects(built, races, {"--check", "racecheck"});
  check_defects(built, heap, {"--check", "memcheck"});
  check_defects(built, calls, {"--check", "memcheck"});
  check_defects(built, leaks, {"--check", "memcheck", "--leaks"});
  check_defects(built, blocks, {"--check", "racecheck"});
  check_defects(built, warps, {"--check", "racecheck"});
  check_defects(built, addresses, {"--check", "memcheck"});
  check_defects(built, lanes, {"--check", "synccheck"});
  for (const std::span<const Defect> each :
       {std::span<const Defect>(unwritten), std::span<const Defect>(unset), std::span<const Defect>(copies)})
    check_defects(built, each, {"--check", "all"});
}

TEST_CASE("defects of asynchronous copies, wgmma and tensor memory are named, and their right twins are silent", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string hopper = directory.path("hopper"), blackwell = directory.path("blackwell");
  compile_program(hopper, {"async_defects"}, {"-lineinfo", "-DWGMMA"}, "-gencode=arch=compute_90a,code=compute_90a");
  compile_program(blackwell, {"async_defects"}, {"-lineinfo", "-DTENSOR_MEMORY"}, "-gencode=arch=compute_100a,code=compute_100a");
  const Defect of_hopper[] = {{"too few bytes", "512 bytes too few", true},
                              {"too few bytes, announced later", "512 bytes too few", true},
                              {"too few bytes by a part", "16 bytes too few", true},
                              {"too many bytes", "64 bytes too many", true},
                              {"no bytes announced", "no expect_tx", true},
                              {"too few bytes in the second phase", "512 bytes too few", true},
                              {"stage filled again", "deadlock", true},
                              {"mbarrier used at once", "initialis"},
                              {"mbarrier used by other warps", "mbarrier", true},
                              {"load without a wait", "uninitialised", true},
                              {"other parity", "uninitialised", true},
                              {"arrival that does not come", "deadlock", true},
                              {"store in flight", "in flight"},
                              {"wait for the source alone", "wait_group.read"},
                              {"source overwritten", "may still read it", true},
                              {"store without a proxy fence", "fence.proxy.async", true},
                              {"product without a fence", "wgmma.fence", true},
                              {"product without a proxy fence", "fence.proxy.async"},
                              {"accumulators before the wait", "wgmma.wait_group"},  // ptxas waits there
                              {"operand overwritten", "race at", true},
                              {"accumulators changed", "wgmma.fence", true}};
  const Defect of_blackwell[] = {{"register before the wait", "tcgen05.wait::ld"}, {"freed before the wait", "tcgen05.dealloc"}};
  check_defects(hopper, of_hopper, {"--check", "all"});
  check_defects(blackwell, of_blackwell, {"--check", "all", "--target", "sm_100a"});
}

TEST_CASE("a program's reports are suppressed by a file, and those that hide nothing are told", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string built = directory.path("defects"), file = directory.path("my.supp");
  compile_program(built, {"defects"}, {"-lineinfo", "-lcuda"});
  const std::vector<std::string> program{built, "branch"};
  const auto with = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"--check", "initcheck"});
    options.insert(options.end(), program.begin(), program.end());
    return run_cuda(options);
  };
  const Outcome printed = with({"--print-suppressions"});
  CHECK(printed.status == 1);
  const std::size_t at = printed.err.find("suppression: ");
  REQUIRE(at != std::string::npos);
  const std::string line = printed.err.substr(at + 13, printed.err.find('\n', at) - at - 13);
  CHECK_THAT(line, StartsWith("unwritten kernel=") && ContainsSubstring("at=defects.cu:"));
  std::ofstream(file) << line << "\nunordered\n";
  const Outcome suppressed = with({"--suppressions", file});
  CHECK(suppressed.status == 0);
  CHECK_THAT(suppressed.err, !ContainsSubstring("nobody has written") && ContainsSubstring("my.supp:2: "));
  std::ofstream(file) << "races\n";
  const Outcome refused = with({"--suppressions", file});
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err, ContainsSubstring("my.supp:1: "));
}

TEST_CASE("device code of several objects is linked", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string built = directory.path("linked");
  compile_program(built, {"linked", "linked_other"}, {"-rdc=true"});
  const Outcome outcome = run_cuda({"--leaks", built});
  // 10000 i + 100 + 3 i + 20 + 8, and 1000 (i + 1000)
  CHECK(outcome.out == "1000128 1011131 1022134 1033137, 144\n");
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.err, ContainsSubstring("not freed: 16 bytes of cudaMalloc 1 at 0x200000000000\n"));
}

TEST_CASE("launches of one kernel and shape see what has changed between them", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string built = directory.path("repeated");
  compile_program(built, {"repeated"}, {"-lineinfo"});
  for (const char* const code : {"never", "always"}) {
    const auto outcome = [&](const char* kind) {
      return run_command({"cuda", "--quiet", "--jobs", "1", built, kind}, {std::string("WARPMAT_MACHINE_CODE=") + code});
    };
    CHECK(outcome("all").out ==
          "4:0 4:1 8:0 8:1 12:0 12:1 16:0 16:1 20:0 20:1 x: 2210 2210\ny: 420 420\ncounted: 2314 2210\ncaptured: 2314 2210\n"
          "without arguments: cudaErrorInvalidValue\nless shared memory: cudaErrorInvalidValue\nbehind a reset: 40 0\n");
    CHECK_THAT(outcome("freed").err, ContainsSubstring("'cudaMalloc 1' of 512 bytes") && ContainsSubstring("which was freed"));
    CHECK_THAT(outcome("beyond").err, ContainsSubstring("block (3,0,0), warp 0, lane 31"));
  }
}

TEST_CASE("a failed assertion of a program of nvcc is reported", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string built = directory.path("output");
  compile_program(built, {"output"});
  const Outcome outcome = run_cuda({built});
  CHECK(outcome.out == "block 0, thread 0\nblock 0, thread 1\nblock 1, thread 0\nblock 1, thread 1\nbetween\ncudaErrorAssert\n");
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.err, ContainsSubstring("lane 1"));
  CHECK_THAT(outcome.err, ContainsSubstring("assertion `static_cast<int>(threadIdx.x) < limit` failed"));
}

TEST_CASE("a program without the shared runtime, or without PTX, is told how to build", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string source = source_path("tests/cuda/programs/vector_add.cu");
  REQUIRE(run_program("nvcc", {"-arch=sm_90", "-o", directory.path("static"), source}).status == 0);
  const Outcome with_static = run_cuda({directory.path("static")});
  CHECK(with_static.status == 1);
  CHECK_THAT(with_static.err, ContainsSubstring("build it with nvcc -cudart shared"));
  for (const std::string architecture : {"90", "90a"}) {
    const std::string flag = fmt::format("arch=compute_{0},code=sm_{0}", architecture);
    REQUIRE(run_program("nvcc", {"-gencode", flag, "-cudart", "shared", "-o", directory.path("no_ptx"), source}).status == 0);
    const Outcome without_ptx = run_cuda({directory.path("no_ptx")});
    CHECK(without_ptx.status == 1);
    CHECK_THAT(without_ptx.out, ContainsSubstring("cudaErrorNoKernelImageForDevice"));
    CHECK_THAT(without_ptx.err, ContainsSubstring(fmt::format("-gencode 'arch=compute_{0},code=[sm_{0},compute_{0}]'", architecture)));
  }
}

TEST_CASE("a program's product is examined by the command that runs it", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string right = directory.path("right"), wrong = directory.path("wrong");
  compile_program(right, {"product"}, {"-lineinfo"});
  compile_program(wrong, {"product"}, {"-lineinfo", "-DFAULT"});
  const auto with = [&](std::vector<std::string> options, const std::string& program) {
    options.push_back(program);
    return run_cuda(options);
  };
  for (const char* const product : {"2=0*1^T:16x8x32", "cudaMalloc 3=cudaMalloc 1*cudaMalloc 2^T:16x8x32"}) {
    CAPTURE(product);
    const Outcome good = with({"--gemm", product, "--kernels", "product"}, right);
    CHECK(good.status == 0);
    CHECK_THAT(good.err, ContainsSubstring("launch 3, product: "));
    const Outcome bad = with({"--gemm", product, "--kernels", "^product"}, wrong);
    CHECK(bad.status == 1);
    CHECK_THAT(bad.err, ContainsSubstring("product.cu:23"));
  }
  REQUIRE(with({"--save", directory.path("saved")}, right).status == 0);
  const Outcome silent = with({}, wrong);
  CHECK(silent.status == 1);
  CHECK_THAT(silent.err, ContainsSubstring("--guess"));
  CHECK_THAT(with({}, right).err, !ContainsSubstring("Next"));
  const Outcome guessed = with({"--guess"}, right);
  CHECK(guessed.status == 0);
  CHECK_THAT(guessed.err, ContainsSubstring("launch 3, product: looks like ptr2 = ptr0*ptr1^T, 16x8x32\n"));
  const Outcome found = with({"--guess", "--kernels", "^product"}, wrong);
  CHECK(found.status == 1);
  CHECK_THAT(found.err, ContainsSubstring("product.cu:23"));
  const std::string expected = directory.path("c.npy");
  REQUIRE(run_command({"launch", directory.path("saved/3/launch.json"), "--out", "cudaMalloc 3=" + expected + ":f32:16x8"}).status == 0);
  CHECK_THAT(with({"--expect", "2=" + expected + ":f32:16x8"}, right).err, ContainsSubstring("is as expected: 128 elements"));
  const Outcome differs = with({"--expect", "2=" + expected + ":f32:16x8:1e-3"}, wrong);
  CHECK(differs.status == 1);
  CHECK_THAT(differs.err, ContainsSubstring("cudaMalloc 3"));
  const Outcome way = with({"--gemm", "2=0*1^T:16x8x32", "--kernels", "product", "--why", "2[5,3]"}, right);
  CHECK_THAT(way.out, ContainsSubstring("ptr2[5,3]"));
  const Outcome banks = with({"--check", "banks", "--kernels", "product"}, right);
  CHECK(banks.status == 0);
  CHECK_THAT(banks.err, ContainsSubstring("launch 3, product:\n"));
  for (const auto& [options, reason] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--gemm", "7=0*1^T:16x8x32", "--kernels", "product"},
            "there is no buffer '7', nor a pointer parameter of that name or number; there are 'ptr0' or "},
           {{"--gemm", "2=0*1^T:16x8x32", "--kernels", "hgemm"}, "no kernel is called so; the program launched fill, product"},
           {{"--gemm", "2=0", "--kernels", "product"}, "it has no = or no *"},
           {{"--expect", "C=C.npy:f32"}, "is no expectation: there is no buffer 'C'"},
           {{"--kernels", "("}, "it is no regular expression"},
           {{"--kernels", "product"}, "--kernels needs --guess, --gemm, --expect or --check banks"},
           {{"--why", "2[5,3]"}, "--why needs --gemm"},
           {{"--expect-launches", "4"}, "--expect-launches 4: the program launched 3 kernels"}}) {
    const Outcome refused = with(options, right);
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, ContainsSubstring(reason));
  }
}

TEST_CASE("a program is told what was not looked for, and one that fails where to look next", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string right = directory.path("right"), wrong = directory.path("wrong"), fails = directory.path("fails");
  compile_program(right, {"product"});
  compile_program(wrong, {"product"}, {"-DFAULT"});
  const auto with = [&](std::vector<std::string> options, const std::string& program) {
    options.push_back(program);
    return run_cuda(options).err;
  };
  CHECK_THAT(with({}, right), ContainsSubstring("wrong products (--guess)"));
  CHECK_THAT(with({"--guess"}, right), !ContainsSubstring("(--guess)"));
  CHECK_THAT(with({"--quiet"}, right), !ContainsSubstring("--guess"));
  struct Asked {
    std::vector<std::string> options;
    std::vector<const char*> next, not_again;
  };
  for (const auto& [options, next, not_again] : {
           Asked{{}, {"--guess", "--check all"}, {"--gemm"}},
           Asked{{"--check", "all"}, {"--guess"}, {"--check all"}},
           Asked{{"--guess", "--kernels", "fill"}, {"--check all", "--gemm"}, {"--guess"}},
       }) {
    const std::string text = with(options, wrong);
    CAPTURE(text);
    for (const char* const option : next) CHECK_THAT(text, ContainsSubstring(fmt::format("\n  {}", option)));
    for (const char* const option : not_again) CHECK_THAT(text, !ContainsSubstring(fmt::format("\n  {}", option)));
  }
  write_text(fails + ".cu", "int main() { return 1; }\n");
  REQUIRE(run_program("nvcc", {"-cudart", "shared", "-o", fails, fails + ".cu"}).status == 0);
  CHECK_THAT(with({}, fails), ContainsSubstring("\n  --check all"));
  CHECK_THAT(with({"--check", "all"}, fails), !ContainsSubstring("Next"));
}

TEST_CASE("errors of the program's run are told once, and --why hides none", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string wrong = directory.path("wrong"), failing = directory.path("failing");
  compile_program(wrong, {"product"}, {"-lineinfo", "-DFAULT"});
  const Outcome why = run_cuda({"--guess", "--kernels", "^product", "--why", "2[5,3]", wrong});
  CHECK(why.status == 1);
  CHECK_THAT(why.err, ContainsSubstring("product.cu:23") && ContainsSubstring("--why 'ptr2["));
  CHECK_THAT(why.out, ContainsSubstring("ptr2[5,3]"));
  compile_program(failing, {"output"});
  std::istringstream lines(run_cuda({"--check", "banks", failing}).err);  // which executes the launches again
  int errors = 0;
  for (std::string line; std::getline(lines, line);) errors += !line.starts_with("warpmat: ") && line.find(" error: ") != line.npos ? 1 : 0;
  CHECK(errors == 1);
}

TEST_CASE("README's first screen prints what it shows", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string readme = read_text(source_path("README.md")), built = directory.path("scale");
  CHECK_THAT(readme, ContainsSubstring("warpmat nvcc -o build/scale examples/scale/scale.cu"));
  const auto in_source = [&](const std::string& command) {
    return run_program("sh", {"-c", fmt::format("cd '{}' && '{}' {}", source_path(""), command_path(), command)});
  };
  REQUIRE(in_source(fmt::format("nvcc -o '{}' examples/scale/scale.cu", built)).status == 0);
  const Outcome outcome = in_source(fmt::format("cuda '{}'", built));
  const std::string fence = "\n```\n";
  CHECK_THAT(in_source(fmt::format("cuda --guess '{}'", built)).err, !ContainsSubstring("warning"));  // behind the error nothing is known
  const std::size_t begin = readme.find(fence, readme.find("the report says where")) + fence.size();
  CHECK_THAT(outcome.err, ContainsSubstring(readme.substr(begin, readme.find(fence, begin) + 1 - begin)));
}

TEST_CASE("warpmat_cuda_test() makes a test of a CUDA target", "[cuda][slow]") {
  if (run_program("sh", {"-c", "command -v nvcc && command -v cmake"}).status != 0) {
    WARN("skipped: no nvcc or no cmake in PATH");
    return;
  }
  const TemporaryDirectory directory;
  write_text(directory.path("CMakeLists.txt"), fmt::format(R"(cmake_minimum_required(VERSION 3.25)
project(tests LANGUAGES CXX CUDA)
enable_testing()
include({0}/emulator/warpmat-cuda-test.cmake)
add_executable(vector_add {0}/tests/cuda/programs/vector_add.cu)
add_executable(output {0}/tests/cuda/programs/output.cu)
file(WRITE empty.cu "int main() {{}}")
add_executable(empty empty.cu)
warpmat_cuda_test(NAME vector_add OPTIONS --target sm_90 ARGUMENTS 100)
warpmat_cuda_test(NAME fails TARGET output)
warpmat_cuda_test(NAME launches_nothing TARGET empty)
warpmat_cuda_test(NAME may_launch_nothing TARGET empty MAY_LAUNCH_NOTHING)
)",
                                                           source_path("")));
  const std::string built = directory.path("build");
  const Outcome made = run_program(
      "cmake", {"-S", directory.path(""), "-B", built, "-DCMAKE_CUDA_ARCHITECTURES=90-virtual", "-DWARPMAT_COMMAND=" + command_path()});
  INFO(made.out << made.err);
  REQUIRE(made.status == 0);
  REQUIRE(run_program("cmake", {"--build", built}).status == 0);
  const Outcome tested = run_program("ctest", {"--test-dir", built, "--verbose"});
  CHECK_THAT(tested.out, ContainsSubstring("warpmat: sm_90 (H100): "));
  CHECK_THAT(tested.out, ContainsSubstring("0 wrong"));
  CHECK_THAT(tested.out, ContainsSubstring("--expect-launches 1: the program launched 0 kernels"));
  CHECK_THAT(tested.out, ContainsSubstring("50% tests passed, 2 tests failed out of 4"));
}

}  // namespace warpmat::command_test
