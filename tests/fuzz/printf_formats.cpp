// Formats of printf: an input is a format and, behind its NUL, the arguments' bytes. A kernel that prints by it ends with a text or a
// report.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <vector>

#include <warpmat/launch.h>

namespace {

using namespace warpmat;

constexpr const char* text = R"(
.version 8.6
.target sm_90
.address_size 64
.extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);
.visible .entry kernel(.param .u64 format, .param .align 8 .b8 values[64]) {
  .local .align 8 .b8 place[64];
  .reg .b64 %l<8>; .reg .b32 %r<4>;
  ld.param.u64 %l0, [format];
  mov.u64 %l1, place;
  ld.param.u64 %l2, [values]; st.local.u64 [%l1], %l2;
  ld.param.u64 %l2, [values+8]; st.local.u64 [%l1+8], %l2;
  ld.param.u64 %l2, [values+16]; st.local.u64 [%l1+16], %l2;
  ld.param.u64 %l2, [values+24]; st.local.u64 [%l1+24], %l2;
  cvta.local.u64 %l1, %l1;
  { .param .b64 p0; .param .b64 p1; .param .b32 back;
    st.param.b64 [p0], %l0; st.param.b64 [p1], %l1;
    call.uni (back), vprintf, (p0, p1); }
  ret;
})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Kernel kernel(Module(text), "kernel", {.target = "sm_90"});
  const std::vector<std::uint8_t> format(data, data + size);  // it need not end with NUL
  const auto end = std::ranges::find(format, std::uint8_t{0});
  std::array<std::uint8_t, 64> values{};
  if (end != format.end()) std::copy_n(end + 1, std::min<std::ptrdiff_t>(format.end() - end - 1, 32), values.begin());
  DeviceMemory memory;
  try {
    const std::uint64_t at = memory.allocate(format, "format");
    LaunchOptions options;
    options.most_operations = 1000;
    launch(kernel, {.grid = {1}, .block = {2}}, memory, {at, values}, options);
  } catch (const Trap&) {
  } catch (const std::invalid_argument&) {
  } catch (const std::bad_alloc&) {
  }
  return 0;
}
