
#include <warpmat/lower/system_functions.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::system_functions_test {
namespace {

/// What Kernel refuses of a module with these declarations and this body.
std::string refusal(const std::string& before, const std::string& body = "ret;") {
  return message_of(
      [&] { static_cast<void>(Kernel(module_of(".param .u64 a", ".reg .b64 %l<9>; .reg .b32 %r<9>;" + body, "sm_90", before), "k")); });
}

/// A function that the machine provides, as nvcc 13.0 declares it: result, name, parameters.
struct Declared {
  std::string result, name, parameters;
  std::string text() const { return ".extern .func " + result + " " + name + " " + parameters + ";\n"; }
};

const std::vector<Declared> declared{
    {"(.param .b32 r)", "vprintf", "(.param .b64 a, .param .b64 b)"},
    {"", "__assertfail", "(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e)"},
    {"(.param .b64 r)", "malloc", "(.param .b64 a)"},
    {"", "free", "(.param .b64 a)"},
    {"(.param .b64 r)", "__cudaCDP2GetParameterBufferV2",
     "(.param .b64 a, .param .align 4 .b8 b[12], .param .align 4 .b8 c[12], .param .b32 d)"},
    {"(.param .b32 r)", "__cudaCDP2LaunchDeviceV2", "(.param .b64 a, .param .b64 b)"},
    {"(.param .b32 r)", "__cudaCDP2MemcpyAsync", "(.param .b64 a, .param .b64 b, .param .b64 c, .param .b32 d, .param .b64 e)"},
    {"(.param .b32 r)", "__cudaCDP2MemsetAsync", "(.param .b64 a, .param .b32 b, .param .b64 c, .param .b64 d)"},
    {"(.param .b32 r)", "__cudaCDP2Malloc", "(.param .b64 a, .param .b64 b)"},
    {"(.param .b32 r)", "__cudaCDP2Free", "(.param .b64 a)"},
    {"(.param .b32 r)", "__cudaCDP2StreamCreateWithFlags", "(.param .b64 a, .param .b32 b)"},
    {"(.param .b32 r)", "__cudaCDP2EventCreateWithFlags", "(.param .b64 a, .param .b32 b)"},
    {"(.param .b32 r)", "__cudaCDP2GetDevice", "(.param .b64 a)"},
    {"(.param .b32 r)", "__cudaCDP2StreamDestroy", "(.param .b64 a)"},
    {"(.param .b32 r)", "__cudaCDP2StreamWaitEvent", "(.param .b64 a, .param .b64 b, .param .b32 c)"},
    {"(.param .b32 r)", "__cudaCDP2EventRecord", "(.param .b64 a, .param .b64 b)"},
    {"(.param .b32 r)", "__cudaCDP2EventDestroy", "(.param .b64 a)"},
    {"(.param .b32 r)", "__cudaCDP2GetLastError", "()"},
    {"(.param .b32 r)", "__cudaCDP2PeekAtLastError", "()"},
    {"(.param .b64 r)", "__cudaCDP2GetErrorString", "(.param .b32 a)"},
    {"(.param .b64 r)", "__cudaCDP2GetErrorName", "(.param .b32 a)"},
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  if (const std::size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

TEST_CASE("functions that the machine provides are declared as nvcc declares them", "[ptx][calls]") {
  for (const Declared& function : declared) {
    INFO(function.name);
    REQUIRE(code::find_system_function(function.name) != nullptr);
    CHECK(refusal(function.text()) == "nothing");
  }
}

TEST_CASE("another declaration of such a function is refused, called or not, with the right one", "[ptx][calls]") {
  for (const Declared& function : declared) {
    std::vector<Declared> wrong;
    wrong.push_back({function.result.empty() ? "(.param .b32 r)" : "", function.name, function.parameters});
    wrong.push_back(
        {function.result, function.name, "(.param .b64 a, .param .b64 b, .param .b64 c, .param .b64 d, .param .b64 e, .param .b64 f)"});
    if (function.parameters != "()") {
      wrong.push_back({function.result, function.name, "()"});
      wrong.push_back({function.result, function.name, replaced(function.parameters, ".param", ".reg")});
      wrong.push_back({function.result, function.name, replaced(function.parameters, " a", " a[3]")});
      wrong.push_back({function.result, function.name,
                       replaced(function.parameters, ".b32", ".b64") == function.parameters
                           ? replaced(function.parameters, ".b64", ".b32")
                           : replaced(function.parameters, ".b32", ".b64")});
    }
    if (!function.result.empty()) wrong.push_back({replaced(function.result, ".param", ".reg"), function.name, function.parameters});
    for (const Declared& other : wrong) {
      INFO(other.text());
      const std::string said = refusal(other.text());
      CHECK(said.find("'" + function.name + "' is declared otherwise") != std::string::npos);
      CHECK(said.find(".extern .func " + std::string(function.result.empty() ? "" : "(.param")) != std::string::npos);
    }
  }
}

TEST_CASE("a module's own function of such a name is its own", "[ptx][calls]") {
  CHECK(refusal(".func free() { ret; }", "call free; ret;") == "nothing");
}

TEST_CASE("a call passes as many bytes as the function takes, to and fro", "[ptx][calls]") {
  const std::string function =
      ".func (.param .b32 r) f (.param .align 8 .b8 x[16]) { .reg .b32 %a; mov.u32 %a, 1; st.param.b32 [r], %a; ret; }";
  const auto call = [&](const std::string& result, const std::string& given) {
    return refusal(function, "{ .param " + result + "; .param " + given + "; call (out), f, (in); } ret;");
  };
  CHECK(call(".b32 out", ".align 8 .b8 in[16]") == "nothing");
  for (const char* given : {".b64 in", ".align 8 .b8 in[15]", ".align 8 .b8 in[17]", ".b8 in"}) {
    INFO(given);
    CHECK(call(".b32 out", given).find("parameter 0 of 'f' has 16") != std::string::npos);
  }
  CHECK(call(".b64 out", ".align 8 .b8 in[16]").find("result 0 of 'f' has 4") != std::string::npos);
  CHECK(call(".b16 out", ".align 8 .b8 in[16]").find("result 0 of 'f' has 4") != std::string::npos);
  CHECK(refusal(".func (.reg .b32 r) f (.reg .b64 x) { mov.u32 r, 1; ret; }", "call (%r1), f, (%r2); ret;") != "nothing");
  CHECK(refusal(".func (.reg .b32 r) f (.reg .b64 x) { mov.u32 r, 1; ret; }", "call (%r1), f, (%l2); ret;") == "nothing");
}

}  // namespace
}  // namespace warpmat::system_functions_test
