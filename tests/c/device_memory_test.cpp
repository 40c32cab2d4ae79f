// The global memory of kernels through the C interface: buffers at chosen addresses, what lies at an address, variables of modules.

#include <warpmat/c_program.h>

#include "c/calls.h"
#include "c/owned_kernel.h"
#include "test.h"

namespace warpmat::device_memory_test {
namespace {

constexpr const char* variables_text = R"(.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 here = 5;
.global .align 4 .u32 there[2] = {6, 7};
.const .align 4 .u32 factor = 2;
.visible .entry k(.param .u64 to) {
  .reg .u64 %to; .reg .u32 %x, %y, %f;
  ld.param.u64 %to, [to];
  ld.global.u32 %x, [here];
  ld.global.u32 %y, [there+4];
  ld.const.u32 %f, [factor];
  mad.lo.u32 %x, %x, %f, %y;
  st.global.u32 [%to], %x;
  ret;
}
)";

constexpr const char* heap_text = R"(.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 got) malloc(.param .b64 bytes);
.visible .entry k(.param .u64 to) {
  .reg .u64 %to, %p;
  ld.param.u64 %to, [to];
  {
    .param .b64 bytes; .param .b64 got;
    st.param.b64 [bytes], 4096;
    call.uni (got), malloc, (bytes);
    ld.param.b64 %p, [got];
  }
  st.global.u64 [%to], %p;
  ret;
}
)";

class Memory {
 public:
  Memory() : Memory(warpmat_device_memory_create(nullptr)) {}
  explicit Memory(std::uint64_t first_address) : Memory(warpmat_device_memory_create_at(first_address, nullptr)) {}
  ~Memory() { warpmat_device_memory_free(memory); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  warpmat_status allocate(std::uint64_t bytes, std::uint64_t alignment, const char* name = nullptr) {
    return warpmat_buffer_allocate_aligned(memory, bytes, alignment, name, &address, &error);
  }
  warpmat_status place(std::uint64_t at, const std::vector<std::uint8_t>& contents, const char* name = nullptr) {
    return warpmat_buffer_place(memory, at, contents.data(), contents.size(), name, &error);
  }
  warpmat_status find(std::uint64_t at) { return warpmat_buffer_find(memory, at, &info, &error); }
  warpmat_status find_name(const char* name) { return warpmat_buffer_find_name(memory, name, &info, &error); }
  std::string message() const { return error.message; }
  void refused(warpmat_status status, const std::string& part) const {
    CHECK(status == WARPMAT_BAD_ARGUMENT);
    CHECK_THAT(message(), ContainsSubstring(part));
  }
  std::string describe(std::uint64_t at) {
    std::size_t length = 0;
    CHECK(warpmat_address_describe(memory, at, nullptr, 0, &length, &error) == WARPMAT_OK);
    std::string text(length + 1, '?');
    CHECK(warpmat_address_describe(memory, at, text.data(), text.size(), nullptr, &error) == WARPMAT_OK);
    CHECK(text.back() == '\0');
    text.pop_back();
    return text;
  }
  std::uint32_t word(std::uint64_t at) {
    std::uint32_t value = 0;
    const std::uint8_t* const bytes = warpmat_buffer_bytes(memory, at, 4, &error);
    REQUIRE(bytes != nullptr);
    std::memcpy(&value, bytes, 4);
    return value;
  }

  warpmat_device_memory* memory;
  std::uint64_t address = 0;
  warpmat_buffer_info info = sized<warpmat_buffer_info>();
  warpmat_error error = sized<warpmat_error>();

 private:
  explicit Memory(warpmat_device_memory* made) : memory(made) { REQUIRE(memory != nullptr); }
};

struct Kernel : OwnedKernel {
  explicit Kernel(const char* text) : OwnedKernel(text, "k") {}

  warpmat_status launch(Memory& memory, std::uint64_t to) const {
    const warpmat_argument argument = WARPMAT_ARGUMENT(to);
    warpmat_launch_config config = sized<warpmat_launch_config>();
    config.jobs = 1;
    config.arguments = &argument;
    config.argument_count = 1;
    return warpmat_launch(kernel, &config, memory.memory, nullptr, &memory.error);
  }
};

TEST_CASE("a C memory begins at a chosen address, and its buffers are aligned as asked", "[c][memory]") {
  Memory memory(0x1000'0100);
  REQUIRE(memory.allocate(10, 1) == WARPMAT_OK);
  CHECK(memory.address == 0x1000'0100);
  REQUIRE(memory.allocate(10, 1 << 20) == WARPMAT_OK);
  CHECK(memory.address == 0x1010'0000);
  REQUIRE(warpmat_buffer_allocate(memory.memory, 10, nullptr, &memory.address, nullptr) == WARPMAT_OK);
  CHECK(memory.address > 0x1010'0000);
  CHECK(memory.address % 256 == 0);

  const std::uint64_t before = memory.address;
  for (const std::uint64_t alignment : {0u, 3u, 257u}) {
    memory.refused(memory.allocate(10, alignment), "is not a power of two");
  }
  CHECK(memory.address == before);
  memory.refused(warpmat_buffer_allocate_aligned(nullptr, 1, 256, nullptr, &memory.address, &memory.error), "the memory is null");
  memory.refused(warpmat_buffer_allocate_aligned(memory.memory, 1, 256, nullptr, nullptr, &memory.error), "address is null");
}

TEST_CASE("a C memory whose addresses are at an end says so", "[c][memory]") {
  Memory last(UINT64_MAX);
  CHECK(last.allocate(1, 256) == WARPMAT_NO_MEMORY);
  Memory high(UINT64_MAX - 1023);
  REQUIRE(high.allocate(8, 256) == WARPMAT_OK);
  CHECK(high.allocate(8, 256) == WARPMAT_NO_MEMORY);
  Memory beyond(UINT64_MAX - 1023);
  CHECK(beyond.allocate(4096, 256) == WARPMAT_NO_MEMORY);
}

TEST_CASE("C allocates behind the addresses of shared, local and parameter memory", "[c][memory]") {
  Memory below(0x7dff'ffff'fe00);
  REQUIRE(below.allocate(256, 256) == WARPMAT_OK);
  CHECK(below.address == 0x7dff'ffff'fe00);
  REQUIRE(below.allocate(1024, 256) == WARPMAT_OK);
  CHECK(below.address == 0x7e03'0000'0000);
}

TEST_CASE("C places buffers where another memory had them, without overlap", "[c][memory]") {
  Memory memory(0x9000);
  const std::vector<std::uint8_t> contents{1, 2, 3, 4};
  REQUIRE(memory.place(0x7000, contents, "a") == WARPMAT_OK);
  REQUIRE(memory.place(0x7004, contents) == WARPMAT_OK);
  REQUIRE(warpmat_buffer_place(memory.memory, 0x6000, nullptr, 0, nullptr, nullptr) == WARPMAT_OK);
  CHECK(memory.word(0x7000) == 0x0403'0201);
  CHECK(warpmat_buffer_bytes(memory.memory, 0x7002, 4, nullptr) == nullptr);  // they are two buffers
  for (const std::uint64_t address : {0x6ffdu, 0x7000u, 0x7003u, 0x7007u}) {
    memory.refused(memory.place(address, contents), "overlap another buffer");
  }
  CHECK(warpmat_buffer_place(memory.memory, 0x6000, nullptr, 0, nullptr, nullptr) == WARPMAT_BAD_ARGUMENT);  // one begins there
  REQUIRE(warpmat_buffer_free(memory.memory, 0x7000, nullptr) == WARPMAT_OK);
  CHECK(memory.place(0x7000, contents) == WARPMAT_BAD_ARGUMENT);  // accesses to what was freed remain errors
  memory.refused(memory.place(UINT64_MAX - 2, contents), "end beyond the last address");
  for (const std::uint64_t address : {0x7dff'ffff'fffdu, 0x7e00'0000'0000u, 0x7e02'ffff'ffffu}) {
    memory.refused(memory.place(address, contents), "windows of shared, local and parameter memory");
  }
  CHECK(memory.place(0x7dff'ffff'fffc, contents) == WARPMAT_OK);
  CHECK(memory.place(0x7e03'0000'0000, contents) == WARPMAT_OK);
  memory.refused(warpmat_buffer_place(memory.memory, 0x8000, nullptr, 4, nullptr, &memory.error), "the contents is null");
  CHECK(warpmat_buffer_place(nullptr, 0x8000, contents.data(), 4, nullptr, &memory.error) == WARPMAT_BAD_ARGUMENT);
}

TEST_CASE("C finds the buffer of an address and of a name", "[c][memory]") {
  Memory memory(0x1'0000);
  REQUIRE(memory.allocate(1024, 256, "A") == WARPMAT_OK);
  const std::uint64_t a = memory.address;
  REQUIRE(memory.find(a + 1023) == WARPMAT_OK);
  const char* const name = memory.info.name;
  CHECK(memory.info.address == a);
  CHECK(memory.info.bytes == 1024);
  CHECK(memory.info.freed == 0);
  for (int i = 0; i < 100; ++i) REQUIRE(memory.allocate(8, 256, i % 2 == 0 ? "twice" : nullptr) == WARPMAT_OK);
  CHECK(std::string(name) == "A");  // lasts as long as the memory
  REQUIRE(memory.find(memory.address) == WARPMAT_OK);
  CHECK(std::string(memory.info.name).empty());
  REQUIRE(memory.find_name("A") == WARPMAT_OK);
  CHECK(memory.info.address == a);

  REQUIRE(warpmat_buffer_free(memory.memory, a, nullptr) == WARPMAT_OK);
  REQUIRE(memory.find(a) == WARPMAT_OK);
  CHECK(memory.info.freed == 1);
  CHECK(std::string(memory.info.name) == "A");
  for (const char* const none : {"A", "twice", "B"}) {
    memory.refused(memory.find_name(none), "'" + std::string(none) + "'");
  }
  for (const std::uint64_t nothing : {std::uint64_t{0}, a - 1, a + 1024, std::uint64_t{UINT64_MAX}})
    CHECK(memory.find(nothing) == WARPMAT_OUT_OF_RANGE);
  CHECK(memory.find(a + 1024) == WARPMAT_OUT_OF_RANGE);
  CHECK_THAT(memory.message(), ContainsSubstring("no buffer contains 0x10400: 0 bytes beyond the end of buffer 'A'"));

  CHECK(warpmat_buffer_find(nullptr, a, &memory.info, &memory.error) == WARPMAT_BAD_ARGUMENT);
  memory.refused(warpmat_buffer_find(memory.memory, a, nullptr, &memory.error), "info is null");
  CHECK(warpmat_buffer_find_name(nullptr, "A", &memory.info, &memory.error) == WARPMAT_BAD_ARGUMENT);
  memory.refused(memory.find_name(nullptr), "the name is null");
  CHECK(warpmat_buffer_find_name(memory.memory, "A", nullptr, &memory.error) == WARPMAT_BAD_ARGUMENT);
  memory.info.size = 8;
  memory.refused(memory.find(a), "the size of info");
  CHECK(memory.find_name("A") == WARPMAT_BAD_ARGUMENT);
}

TEST_CASE("C describes an address as messages do", "[c][memory]") {
  Memory memory(0x1'0000);
  CHECK(memory.describe(5) == "there are no buffers");
  REQUIRE(memory.allocate(1024, 256, "A") == WARPMAT_OK);
  CHECK(memory.describe(memory.address + 16) == "16 bytes into buffer 'A' of 1024 bytes at 0x10000");
  CHECK(memory.describe(memory.address + 1040) == "16 bytes beyond the end of buffer 'A' of 1024 bytes at 0x10000");
  CHECK(memory.describe(memory.address - 8) == "8 bytes before buffer 'A' of 1024 bytes at 0x10000");
  char part[9];
  std::size_t length = 0;
  CHECK(warpmat_address_describe(memory.memory, memory.address, part, sizeof part, &length, nullptr) == WARPMAT_OK);
  CHECK(std::string(part) == "0 bytes ");
  CHECK(length > sizeof part);
  CHECK(warpmat_address_describe(nullptr, 0, part, sizeof part, &length, &memory.error) == WARPMAT_BAD_ARGUMENT);
}

TEST_CASE("C lists the variables of a module with their places", "[c][memory]") {
  const Kernel kernel(variables_text);
  Memory memory;
  REQUIRE(warpmat_kernel_variable_count(kernel.kernel) == 3);
  CHECK(warpmat_kernel_variable_count(nullptr) == 0);
  std::vector<std::string> listed;
  for (int i = 0; i < 3; ++i) {
    auto variable = sized<warpmat_module_variable>();
    REQUIRE(warpmat_kernel_variable(kernel.kernel, i, nullptr, &variable, nullptr) == WARPMAT_OK);
    CHECK(variable.address == 0);
    REQUIRE(warpmat_kernel_variable(kernel.kernel, i, memory.memory, &variable, nullptr) == WARPMAT_OK);
    std::uint64_t address = 0;
    REQUIRE(warpmat_variable_address(kernel.kernel, memory.memory, variable.name, &address, nullptr) == WARPMAT_OK);
    CHECK(variable.address == address);
    REQUIRE(memory.find(address) == WARPMAT_OK);
    CHECK(memory.info.bytes == variable.bytes);
    listed.push_back(std::string(variable.name) + ' ' + std::to_string(variable.bytes) + (variable.constant != 0 ? " const" : "") + ' ' +
                     std::to_string(memory.word(address)));
  }
  CHECK(std::set<std::string>(listed.begin(), listed.end()) == std::set<std::string>{"here 4 5", "there 8 6", "factor 4 const 2"});

  auto variable = sized<warpmat_module_variable>();
  for (const int index : {-1, 3}) {
    memory.refused(warpmat_kernel_variable(kernel.kernel, index, memory.memory, &variable, &memory.error), "none of the module's 3");
  }
  CHECK(warpmat_kernel_variable(nullptr, 0, memory.memory, &variable, &memory.error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_kernel_variable(kernel.kernel, 0, memory.memory, nullptr, &memory.error) == WARPMAT_BAD_ARGUMENT);
  variable.size = 8;
  CHECK(warpmat_kernel_variable(kernel.kernel, 0, memory.memory, &variable, &memory.error) == WARPMAT_BAD_ARGUMENT);
}

TEST_CASE("C says where variables of a module lie", "[c][memory]") {
  const Kernel kernel(variables_text);
  Memory memory(0x1000'0000);
  const std::vector<std::uint8_t> there{0, 0, 0, 0, 90, 0, 0, 0};
  REQUIRE(memory.place(0x7000, there, "there") == WARPMAT_OK);
  const auto placed = [&](const std::vector<warpmat_variable_place>& places) {
    return warpmat_place_variables(kernel.kernel, memory.memory, places.data(), places.size(), &memory.error);
  };
  const auto expect_wrong = [&](const std::vector<warpmat_variable_place>& places, const char* part) {
    memory.refused(placed(places), part);
  };
  expect_wrong({{"elsewhere", 0x7000}}, "no .global or .const variable 'elsewhere'");
  expect_wrong({{"there", 0x7004}}, "'there' of 8 bytes does not lie in one buffer at 0x7004");
  expect_wrong({{"there", 0x6000}}, "4096 bytes before buffer 'there'");
  expect_wrong({{"there", 0x7000}, {"there", 0x7000}}, "'there' has two places");
  expect_wrong({{nullptr, 0x7000}}, "the name of a place is null");
  memory.refused(warpmat_place_variables(kernel.kernel, memory.memory, nullptr, 1, &memory.error), "places is null");
  CHECK(warpmat_place_variables(nullptr, memory.memory, nullptr, 0, &memory.error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_place_variables(kernel.kernel, nullptr, nullptr, 0, &memory.error) == WARPMAT_BAD_ARGUMENT);

  REQUIRE(placed({{"there", 0x7000}}) == WARPMAT_OK);  // the errors have placed nothing
  std::uint64_t address = 0;
  REQUIRE(warpmat_variable_address(kernel.kernel, memory.memory, "there", &address, nullptr) == WARPMAT_OK);
  CHECK(address == 0x7000);
  REQUIRE(memory.allocate(4, 256, "to") == WARPMAT_OK);
  INFO(memory.error.message);
  REQUIRE(kernel.launch(memory, memory.address) == WARPMAT_OK);
  CHECK(memory.word(memory.address) == 5 * 2 + 90);
  expect_wrong({{"there", 0x7000}}, "lie in this memory already");

  Memory other;  // without places it is as a first launch
  CHECK(warpmat_place_variables(kernel.kernel, other.memory, nullptr, 0, nullptr) == WARPMAT_OK);
  CHECK(warpmat_place_variables(kernel.kernel, other.memory, nullptr, 0, nullptr) == WARPMAT_BAD_ARGUMENT);
}

TEST_CASE("C sets the size of the heap of malloc() before a kernel uses it", "[c][memory]") {
  const Kernel kernel(heap_text);
  for (const bool small : {false, true}) {
    Memory memory;
    CHECK((!small || warpmat_device_memory_set_heap_bytes(memory.memory, 1024, &memory.error) == WARPMAT_OK));
    REQUIRE(memory.allocate(8, 256, "to") == WARPMAT_OK);
    const warpmat_status status = kernel.launch(memory, memory.address);
    INFO(memory.error.message);
    REQUIRE(status == WARPMAT_OK);
    CHECK((memory.word(memory.address) == 0 && memory.word(memory.address + 4) == 0) == small);
    memory.refused(warpmat_device_memory_set_heap_bytes(memory.memory, 4096, &memory.error), "a kernel has used the heap already");
  }
  warpmat_error error = sized<warpmat_error>();
  CHECK(warpmat_device_memory_set_heap_bytes(nullptr, 4096, &error) == WARPMAT_BAD_ARGUMENT);
}

TEST_CASE("a module whose variables a C memory has not enough addresses for is not placed in part", "[c][memory]") {
  const Kernel kernel(variables_text);
  Memory memory(UINT64_MAX - 511);  // addresses for one of three
  std::uint64_t address = 0;
  for (const char* name : {"there", "there", "factor"})
    CHECK(warpmat_variable_address(kernel.kernel, memory.memory, name, &address, &memory.error) == WARPMAT_NO_MEMORY);
  CHECK(memory.find(UINT64_MAX - 511) == WARPMAT_OUT_OF_RANGE);
}

TEST_CASE("variables of two bodies that have one name in PTX are two in C", "[c][memory]") {
  const Kernel kernel(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry other() { .global .align 4 .u32 twice; ret; }
.visible .entry k() { .global .align 4 .u32 twice[2]; ret; }
)");
  Memory memory;
  REQUIRE(warpmat_kernel_variable_count(kernel.kernel) == 2);
  warpmat_module_variable first = sized<warpmat_module_variable>(), second = first;
  REQUIRE(warpmat_kernel_variable(kernel.kernel, 0, memory.memory, &first, &memory.error) == WARPMAT_OK);
  REQUIRE(warpmat_kernel_variable(kernel.kernel, 1, memory.memory, &second, &memory.error) == WARPMAT_OK);
  CHECK(first.address != second.address);
  Memory other;
  REQUIRE(other.allocate(64, 256) == WARPMAT_OK);
  const warpmat_variable_place place{"twice", other.address};
  CHECK(warpmat_place_variables(kernel.kernel, other.memory, &place, 1, &other.error) == WARPMAT_BAD_ARGUMENT);
  CHECK_THAT(other.message(), ContainsSubstring("several variables of the module have the name 'twice'"));
}

}  // namespace
}  // namespace warpmat::device_memory_test
