#include <warpmat/ptx/text/readable_name.h>

#include "test.h"

namespace warpmat::readable_name_test {
namespace {

TEST_CASE("mangled names are told as C++ has them, without types", "[ptx]") {
  struct Name {
    const char *mangled, *readable;
  };
  for (const auto& [mangled, readable] : {Name{"_Z4gemmPK6__halfS1_Pfiii", "gemm"},
                                          {"_ZZ4gemmPK6__halfS1_PfiiiE2sA", "gemm::sA"},
                                          {"_ZZ10gemm_wgmmaE4ring", "gemm_wgmma::ring"},
                                          {"_Z4gemmPK6__halfS1_Pfiii_param_3", "gemm_param_3"},
                                          {"_Z4gemmILi128EEvPf", "gemm<128>"},
                                          {"_ZN2ns4gemmIfLi3EEEvPfNS_1TIS1_EE", "ns::gemm<float, 3>"},
                                          {"_ZN12_GLOBAL__N_14gemmEPf", "(anonymous namespace)::gemm"},
                                          {"_Z3runIPFvvEEvT_", "run<void (*)()>"},
                                          {"gemm", "gemm"},
                                          {"gemm_param_0", "gemm_param_0"},
                                          {"_Zbad", "_Zbad"},
                                          {"_Z", "_Z"},
                                          {"", ""}}) {
    CAPTURE(mangled);
    CHECK(readable_name(mangled) == readable);
  }
  CHECK(demangled_name("_Z4gemmILi128EEvPf") == "void gemm<128>(float*)");
}

TEST_CASE("a name is found by every spelling that it alone has", "[ptx]") {
  constexpr std::array<std::string_view, 5> names{"_ZN2ns4gemmIfLi3EEEvPf", "_ZN2ns4gemmIfLi4EEEvPf", "_Z3fooi", "bar", "_Z3barf"};
  for (const std::string_view spelling : {"_ZN2ns4gemmIfLi3EEEvPf", "ns::gemm<float, 3>", "ns::gemm<float,3>", "gemm<float, 3>",
                                          "void ns::gemm<float, 3>(float*)", "ns::gemm<float, 3>(float*)"}) {
    CAPTURE(spelling);
    CHECK(find_name(names, spelling) == names[0]);
  }
  CHECK(find_name(names, "foo") == names[2]);
  CHECK(find_name(names, "foo(int)") == names[2]);
  CHECK(find_name(names, "bar") == "bar");
  CHECK(find_name(names, "bar(float)") == names[4]);
  CHECK(find_name(names, "fo").empty());
  CHECK(find_name(names, "").empty());
  for (const std::string_view spelling : {"gemm", "ns::gemm"})
    CHECK_THROWS_WITH(
        find_name(names, spelling),
        ContainsSubstring("may be each of 'void ns::gemm<float, 3>(float*)' (_ZN2ns4gemmIfLi3EEEvPf), 'void ns::gemm<float, 4>"));
}

}  // namespace
}  // namespace warpmat::readable_name_test
