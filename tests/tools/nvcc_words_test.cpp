#include "tools/report/nvcc_words.h"

#include <fmt/ranges.h>

#include <warpmat/words/words.h>

#include "test.h"

namespace warpmat::nvcc_words_test {
namespace {

/// What nvcc gets of a command line without blanks in words.
std::string made(const std::string& line) {
  const std::vector<std::string_view> words = line.empty() ? std::vector<std::string_view>{} : split(line, ' ');
  const NvccWords nvcc = words_for_warpmat({words.begin(), words.end()}, "sm_90a");
  return fmt::format("{}", fmt::join(nvcc.words, " "));
}

TEST_CASE("nvcc gets the shared runtime, lines and PTX, and nothing twice", "[tools]") {
  const std::string both = "-gencode arch=compute_90a,code=[sm_90a,compute_90a]";
  CHECK(made("-o a a.cu") == "-o a a.cu -lineinfo -cudart shared " + both);
  CHECK(made("-o a a.cu -cudart static") == "-o a a.cu -cudart shared -lineinfo " + both);
  CHECK(made("--cudart=static a.cu -G") == "-cudart=shared a.cu -G " + both);
  CHECK(made("a.cu -cudart none -lineinfo") == "a.cu -cudart none -lineinfo " + both);
  CHECK(made("a.cu -arch=sm_80") == "a.cu -arch=sm_80 -lineinfo -cudart shared");  // has PTX of compute_80
  CHECK(made("-arch=sm_90a a.cu") == "-gencode=arch=compute_90a,code=[sm_90a,compute_90a] a.cu -lineinfo -cudart shared");
  CHECK(made("-arch compute_120f a.cu") == "-gencode arch=compute_120f,code=[sm_120f,compute_120f] a.cu -lineinfo -cudart shared");
  CHECK(made("-gencode arch=compute_80,code=sm_80 a.cu") ==
        "-gencode arch=compute_80,code=[sm_80,compute_80] a.cu -lineinfo -cudart shared");
  CHECK(made("--generate-code=arch=compute_80,code=[sm_80,sm_86] a.cu") ==
        "-gencode=arch=compute_80,code=[sm_80,sm_86,compute_80] a.cu -lineinfo -cudart shared");
  CHECK(made("--generate-code=arch=compute_75,code=[compute_75,sm_75] a.cu") ==
        "--generate-code=arch=compute_75,code=[compute_75,sm_75] a.cu -lineinfo -cudart shared");
  CHECK(made("-ptx a.cu") == "-ptx a.cu -lineinfo -arch=sm_90a");
  CHECK(made("-ptx -arch=sm_80 a.cu") == "-ptx -arch=sm_80 a.cu -lineinfo");
  for (const char* const same : {"--version", "-V", "", "--help"}) CHECK(made(same) == same);
  for (const char* const line : {"-o a a.cu", "-arch=sm_90a a.cu", "-gencode arch=compute_80,code=sm_80 a.cu", "-cudart static a.cu"})
    CHECK(made(made(line)) == made(line));
}

TEST_CASE("what nvcc gets is said", "[tools]") {
  const NvccWords nvcc = words_for_warpmat({"a.cu", "-cudart", "static", "-arch=sm_80"}, "sm_90a");
  CHECK(nvcc.changes == std::vector<std::string>{"-lineinfo", "-cudart shared for -cudart static"});
}

}  // namespace
}  // namespace warpmat::nvcc_words_test
