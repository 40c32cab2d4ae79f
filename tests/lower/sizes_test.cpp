
#include "machine/kernel.h"
#include "test.h"

namespace warpmat::sizes_test {
namespace {

std::string refusal(const std::string& before, const std::string& body, const std::string& parameters = ".param .u64 a") {
  return message_of([&] { static_cast<void>(Kernel(module_of(parameters, body + " ret;", "sm_90", before), "k")); });
}

const std::vector<std::string> too_large{"v[4294967296][4294967296]",     "v[9223372036854775807]", "v[9223372036854775807][2][2]",
                                         "v[65536][65536][65536][65536]", "v[4294967297]",          "v[3][6148914691236517206]"};

TEST_CASE("an array whose size overflows is refused in every space, used or not", "[ptx][sizes]") {
  for (const std::string& array : too_large) {
    INFO(array);
    const std::string large = "larger than";
    for (const char* type : {".b8 ", ".b64 ", ".v4 .f32 "}) {
      CHECK(refusal(".global " + (type + array) + ";", "").find(large) != std::string::npos);
      CHECK(refusal(".const " + (type + array) + ";", "").find(large) != std::string::npos);
      CHECK(refusal(".shared " + (type + array) + ";", ".reg .b32 %r; mov.u32 %r, v;").find(large) != std::string::npos);
      CHECK(refusal("", ".shared " + (type + array) + "; .reg .b32 %r; mov.u32 %r, v;").find(large) != std::string::npos);
      CHECK(refusal("", ".local " + (type + array) + ";").find(large) != std::string::npos);
      CHECK(refusal("", ".param " + (type + array) + ";").find(large) != std::string::npos);
    }
    CHECK(refusal("", "", ".param .b64 " + array).find(large) != std::string::npos);
    CHECK(refusal(".func f(.param .b64 " + array + ") { ret; }", "{ .param .b64 x; call f, (x); }").find(large) != std::string::npos);
  }
}

TEST_CASE("parameters and local memory have an end", "[ptx][sizes]") {
  CHECK(refusal("", "", ".param .b8 v[32764]") == "nothing");
  CHECK(refusal("", "", ".param .b8 v[32765]").find("32764 bytes") != std::string::npos);
  CHECK(refusal("", "", ".param .b8 v[4294967296], .param .b64 w").find("bytes") != std::string::npos);
  CHECK(refusal(".func f(.param .b8 x[400000], .param .b8 y[400000]) { ret; }",
                "{ .param .b8 x[400000]; .param .b8 y[100]; call f, (x, y); }")
            .find("local memory") != std::string::npos);
}

TEST_CASE("numbers of directives are sizes", "[ptx][sizes]") {
  for (const char* directive : {".maxntid 4294967297", ".reqntid 1, 4294967297", ".reqnctapercluster 4294967297"}) {
    INFO(directive);
    CHECK(message_of([&] { static_cast<void>(Kernel(Module(word_kernel_text("", "sm_90", "", directive)), "k")); }).find("4294967297") !=
          std::string::npos);
  }
}

}  // namespace
}  // namespace warpmat::sizes_test
