// Whole kernels through the C interface: what they compute, what a report of a mistake holds, and misuse.

#include <warpmat/c_observer.h>

#include "c/calls.h"
#include "c/launched.h"
#include "c/owned_kernel.h"
#include "test.h"

namespace warpmat::kernel_test {
namespace {

constexpr const char* head = ".version 8.0\n.target sm_80\n.address_size 64\n";  // three lines

/// A kernel of `body`, with parameter p and the registers that bodies here use.
std::string kernel_text(const std::string& body, const char* target = "sm_80") {
  return fmt::format(".version 8.0\n.target {}\n.address_size 64\n", target) +
         ".visible .entry k(.param .u64 p) {\n  .reg .b32 t, v; .reg .b64 a; .reg .pred q; .shared .align 16 .b8 tile[256];\n" +
         "  ld.param.u64 a, [p];\n  mov.u32 t, %tid.x;\n" + body + "  ret;\n}\n";
}

using Kernel = OwnedKernel;

struct Memory {
  explicit Memory(std::uint64_t bytes) {
    REQUIRE(memory != nullptr);
    REQUIRE(warpmat_buffer_allocate(memory, bytes, "p", &address, nullptr) == WARPMAT_OK);
  }
  ~Memory() { warpmat_device_memory_free(memory); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::uint32_t word(std::size_t index) const {
    std::uint32_t value = 0;
    std::memcpy(&value, warpmat_buffer_bytes(memory, address + 4 * index, 4, nullptr), 4);
    return value;
  }

  warpmat_device_memory* memory = warpmat_device_memory_create(nullptr);
  std::uint64_t address = 0;
};

warpmat_launch_config config_of(const std::vector<warpmat_argument>& arguments, std::uint32_t grid, std::uint32_t block) {
  auto config = sized<warpmat_launch_config>();
  config.grid[0] = grid;
  config.block[0] = block;
  config.arguments = arguments.data();
  config.argument_count = arguments.size();
  config.jobs = 1;
  return config;
}

void append(void* user, const char* printed, std::size_t bytes) {
  CHECK(printed[bytes] == '\0');
  static_cast<std::string*>(user)->append(printed, bytes);
}

void note(void* user, const char* text) {
  static_cast<std::vector<std::string>*>(user)->emplace_back(text);
}

int teams = 0, team_jobs = 0;

void run_alone(int jobs, void (*work)(void* data), void* data) {
  ++teams;
  team_jobs = jobs;
  work(data);
}

TEST_CASE("C: launches on several threads run on those that the program gives", "[c]") {
  Launched launched(kernel_text(""), 4);
  launched.config.grid[0] = 9;
  teams = 0;
  warpmat_set_threads(run_alone);
  CHECK(launched.run() == WARPMAT_OK);
  CHECK(teams == 0);
  launched.config.jobs = 3;
  CHECK(launched.run() == WARPMAT_OK);
  CHECK(teams == 1);
  CHECK(team_jobs == 3);
  warpmat_set_threads(nullptr);
  CHECK(launched.run() == WARPMAT_OK);
  CHECK(teams == 1);
}

TEST_CASE("C: a kernel is launched, and a variable of its module read and set", "[c]") {
  const Kernel kernel(std::string(head) + R"(.global .u32 bias = 5;
.visible .entry number(.param .u64 p, .param .u32 scale) {
  .reg .b32 t, v, s; .reg .b64 a, b;
  ld.param.u64 a, [p];
  ld.param.u32 s, [scale];
  mov.u32 t, %tid.x;
  mul.wide.u32 b, t, s;
  add.u64 a, a, b;
  ld.global.u32 v, [bias];
  add.u32 v, v, t;
  st.global.u32 [a], v;
  ret;
})",
                      nullptr, "sm_90a");
  const Memory memory(4 * 64);
  std::uint64_t bias = 0;
  REQUIRE(warpmat_variable_address(kernel.kernel, memory.memory, "bias", &bias, nullptr) == WARPMAT_OK);
  const std::uint32_t scale = 4;
  const std::vector<warpmat_argument> arguments{WARPMAT_ARGUMENT(memory.address), WARPMAT_ARGUMENT(scale)};
  warpmat_launch_config config = config_of(arguments, 1, 64);
  auto error = sized<warpmat_error>();
  std::uint64_t operations = 0;
  for (const std::uint32_t number : {5u, 100u}) {
    std::memcpy(warpmat_buffer_bytes(memory.memory, bias, 4, nullptr), &number, 4);
    for (const auto& [flags, checks] : {std::pair{0u, "races"}, std::pair{WARPMAT_REFERENCE_PATH, "none"}}) {
      config.flags = flags;
      config.checks = checks;
      REQUIRE(warpmat_launch(kernel.kernel, &config, memory.memory, &operations, &error) == WARPMAT_OK);
      CHECK(operations >= 2 * 9);  // statements of two warps
      for (std::uint32_t i = 0; i < 64; ++i) CHECK(memory.word(i) == number + i);
    }
  }
}

TEST_CASE("C: what ends a launch may be told to warn", "[c]") {
  struct Row {
    const char *body, *target;
    warpmat_status status;
    const char* checks;
    const char* text;
  };
  for (const Row& row : {Row{"  ld.shared.u32 v, [tile];\n  st.global.u32 [a], v;\n", "sm_80", WARPMAT_UNWRITTEN, "uses",
                             "what is stored in global memory comes from uninitialised shared memory"},
                         Row{"  st.shared.u32 [tile], t;\n  bar.sync 0;\n  setp.eq.u32 q, t, 0;\n"
                             "  @q cp.async.bulk.global.shared::cta.bulk_group [a], [tile], 16;\n"
                             "  @q cp.async.bulk.commit_group;\n  @q cp.async.bulk.wait_group 0;\n",
                             "sm_90", WARPMAT_UNORDERED, "copies", "no fence.proxy.async since then lets it see that"}}) {
    Launched launched(kernel_text(row.body, row.target), 256);
    CHECK(launched.run() == row.status);
    std::vector<std::string> warnings;
    launched.config.user = &warnings;
    launched.config.warn = note;
    launched.config.checks = row.checks;
    CHECK(launched.run() == WARPMAT_OK);
    REQUIRE(warnings.size() == 1);
    CHECK(contains(warnings[0], row.text));
    if (row.status != WARPMAT_UNWRITTEN) continue;
    launched.config.checks = "races,stores";
    CHECK(launched.run() == WARPMAT_UNWRITTEN);
    launched.config.checks = "racing";
    CHECK(launched.run() == WARPMAT_BAD_ARGUMENT);
    CHECK(std::string(launched.error.message).find("'racing' is no check: there are uninitialised, ") == 0);
  }
}

TEST_CASE("C: a byte that another thread sets ends a launch", "[c]") {
  Launched launched(kernel_text("$endless:\n  st.global.u32 [a], 7;\n  bra $endless;\n"), 256);
  launched.config.most_operations = 2'000'000'000;  // should the byte not be looked at
  std::atomic<std::uint8_t> stop{0};
  launched.config.stop = reinterpret_cast<const std::uint8_t*>(&stop);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop = 1;
  });
  CHECK(launched.run() == WARPMAT_LIMIT);
  other.join();
  CHECK(contains(launched.error.message, "the launch was stopped from outside"));
  CHECK(launched.word(0) == 7);
  launched.config.most_operations = 1000;
  launched.config.size = offsetof(warpmat_launch_config, stop);  // a program compiled before
  CHECK(launched.run() == WARPMAT_LIMIT);
  CHECK(!contains(launched.error.message, "stopped from outside"));
}

TEST_CASE("C: what a GPU may not reproduce is told after the launch", "[c]") {
  Launched launched(
      kernel_text("  .reg .b32 r, x;\n  shl.b32 v, t, 2;\n  mov.u32 r, tile;\n  add.u32 v, v, r;\n  st.shared.u32 [v], t;\n  st.shared.u32 "
                  "[v+128], t;\n"
                  "  bar.sync 0;\n  shr.u32 v, t, 1;\n  shl.b32 v, v, 4;\n  and.b32 v, v, 127;\n  add.u32 v, v, r;\n"
                  "  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {x}, [v];\n"  // lanes 0 and 1 have one row
                  "  setp.lt.u32 q, t, 16;\n  @q shfl.sync.idx.b32 v, t, 20, 31, 0xffff;\n"),
      256);
  std::vector<std::string> told;
  launched.config.user = &told;
  launched.config.warn = note;
  REQUIRE(launched.run() == WARPMAT_OK);
  REQUIRE(told.size() == 2);
  CHECK(told[0].find("lanes 0 and 1 have the address of one row") != std::string::npos);
  CHECK(told[1].find("(shfl.sync.idx.b32) reads lanes that take no part, which PTX leaves undefined") != std::string::npos);
  launched.config.size = offsetof(warpmat_launch_config, warn);  // a program compiled before
  REQUIRE(launched.run() == WARPMAT_OK);
  CHECK(told.size() == 2);
}

TEST_CASE("C: a kernel's mistakes have a kind, a place and an address", "[c]") {
  struct Mistake {
    std::string body;
    warpmat_status status;
    int lane;
    bool address;
    const char* checks = nullptr;
    std::uint64_t most_operations = 0;
  };
  const Mistake mistakes[] = {
      {"  st.global.u32 [a+256], t;\n", WARPMAT_OUT_OF_RANGE, 0, true},
      {"  st.global.u32 [a+2], t;\n", WARPMAT_MISALIGNED, 0, true},
      {"  st.shared.u32 [tile+256], t;\n", WARPMAT_OUT_OF_RANGE, 0, true},
      {"  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {v}, [t];\n", WARPMAT_MISALIGNED, 1, true},
      {"  ld.shared.u32 v, [tile];\n  st.global.u32 [a], v;\n", WARPMAT_UNWRITTEN, 0, false},
      {"  st.shared.u32 [tile+16], t;\n  st.shared.u32 [tile+16], t;\n", WARPMAT_UNORDERED, 0, true, "races"},
      {"  setp.lt.u32 q, t, 32;\n  @q bar.sync 1, 64;\n  @!q bar.sync 2, 64;\n", WARPMAT_DEADLOCK, -1, false},
      {"  setp.lt.u32 q, t, 16;\n  @!q exit;\n  shfl.sync.idx.b32 v, t, 20, 31, -1;\n", WARPMAT_UNDEFINED, 0, false, "lanes"},
      {"  trap;\n", WARPMAT_STOPPED, 0, false},
      {"L:\n  bra L;\n", WARPMAT_LIMIT, -1, false, nullptr, 1000},
      {"  setp.lt.u32 q, t, 16;\n  mov.u32 v, 60;\n  @q bar.sync 1, v;\n", WARPMAT_MISUSE, 0, false},
  };
  for (const Mistake& mistake : mistakes) {
    Launched launched(kernel_text(mistake.body), 256);
    launched.config.grid[0] = 2;
    launched.config.block[0] = 64;
    launched.config.checks = mistake.checks;
    launched.config.most_operations = mistake.most_operations;
    const warpmat_status status = launched.run();
    const warpmat_error& error = launched.error;
    INFO(mistake.body << error.message);
    CHECK(warpmat_status_name(status) == std::string(warpmat_status_name(mistake.status)));
    CHECK(error.status == status);
    CHECK(error.lane == mistake.lane);
    CHECK(error.line > 6);
    CHECK(error.line < 11);
    CHECK(error.block[0] == 0);
    CHECK((error.address != 0) == mistake.address);
    CHECK(std::string(error.message).starts_with("kernel 'k', block (0, 0, 0)"));
    CHECK(warpmat_launch(launched.kernel, &launched.config, launched.memory, nullptr, nullptr) == status);
  }
}

TEST_CASE("C: a mistake of a later block and warp, and what was printed", "[c]") {
  const Kernel kernel(std::string(head) + R"(.extern .func (.param .b32 status) vprintf(.param .b64 format, .param .b64 list);
.global .align 1 .b8 hello[4] = {104, 105, 10, 0};
.visible .entry k(.param .u64 p, .param .u32 last) {
  .reg .b32 t, b, i, l; .reg .b64 a, f; .reg .pred q;
  ld.param.u64 a, [p];
  ld.param.u32 l, [last];
  mov.u32 t, %tid.x;
  mov.u32 b, %ctaid.y;
  mad.lo.u32 i, b, 64, t;
  setp.eq.u32 q, i, l;
  @q st.global.u32 [a+1024], i;
  setp.ne.u32 q, i, 0;
  @q ret;
  mov.u64 f, hello;
  cvta.global.u64 f, f;
  {
    .param .b64 format; .param .b64 list; .param .b32 status;
    st.param.b64 [format], f;
    st.param.b64 [list], 0;
    call.uni (status), vprintf, (format, list);
  }
  ret;
})");
  const Memory memory(256);
  std::uint32_t last = 64 + 33;
  const std::vector<warpmat_argument> arguments{WARPMAT_ARGUMENT(memory.address), WARPMAT_ARGUMENT(last)};
  warpmat_launch_config config = config_of(arguments, 1, 64);
  config.grid[1] = 2;
  std::string printed;
  config.print = append;
  config.user = &printed;
  auto error = sized<warpmat_error>();
  CHECK(warpmat_launch(kernel.kernel, &config, memory.memory, nullptr, &error) == WARPMAT_OUT_OF_RANGE);
  CHECK(error.block[0] == 0);
  CHECK(error.block[1] == 1);
  CHECK(error.block[2] == 0);
  CHECK(error.warp == 1);
  CHECK(error.lane == 1);
  CHECK(error.address == memory.address + 1024);
  CHECK(printed.empty());
  last = 1000;
  error = sized<warpmat_error>();
  const warpmat_status status = warpmat_launch(kernel.kernel, &config, memory.memory, nullptr, &error);
  INFO(error.message);
  CHECK(status == WARPMAT_OK);
  CHECK(printed == "hi\n");
}

TEST_CASE("C: misuse of kernels", "[c]") {
  auto error = sized<warpmat_error>();
  const auto refused = [&](auto result, warpmat_status status, const char* part) {
    if constexpr (std::is_pointer_v<decltype(result)>)
      CHECK(result == nullptr);
    else
      CHECK(result == status);
    CHECK(warpmat_status_name(error.status) == std::string(warpmat_status_name(status)));
    CHECK_THAT(error.message, ContainsSubstring(part));
    error = sized<warpmat_error>();
  };
  refused(warpmat_module_parse(nullptr, &error), WARPMAT_BAD_ARGUMENT, "the text is null");
  CHECK(warpmat_module_parse(".entry {", &error) == nullptr);
  CHECK(error.line == 1);
  CHECK(error.status == WARPMAT_SYNTAX);
  CHECK(warpmat_module_parse(".entry {", nullptr) == nullptr);

  warpmat_module* const module = warpmat_module_parse(
      (std::string(head) + ".visible .entry one(.param .u64 p) { ret; }\n.visible .entry two() { ret; }\n").c_str(), &error);
  REQUIRE(module != nullptr);
  CHECK(warpmat_module_entry_count(module) == 2);
  CHECK(warpmat_module_entry_name(module, 0) == std::string("one"));
  CHECK(warpmat_module_entry_name(module, 2) == nullptr);
  CHECK(warpmat_module_entry_name(nullptr, 0) == nullptr);
  CHECK(warpmat_module_entry_count(nullptr) == 0);
  refused(warpmat_kernel_create(nullptr, "one", nullptr, 0, &error), WARPMAT_BAD_ARGUMENT, "the module is null");
  refused(warpmat_kernel_create(module, nullptr, nullptr, 0, &error), WARPMAT_BAD_ARGUMENT, "2 entries");
  refused(warpmat_kernel_create(module, "three", nullptr, 0, &error), WARPMAT_BAD_ARGUMENT, "three");
  refused(warpmat_kernel_create(module, "one", "sm_1", 0, &error), WARPMAT_UNKNOWN_TARGET, "sm_1");
  refused(warpmat_kernel_create(module, "one", nullptr, WARPMAT_REFERENCE_PATH, &error), WARPMAT_BAD_ARGUMENT, "flags 0x2");

  warpmat_kernel* const kernel = warpmat_kernel_create(module, "one", nullptr, WARPMAT_NO_CONTRACTION, &error);
  REQUIRE(kernel != nullptr);
  const Memory memory(16);
  std::uint64_t address = 0;
  refused(warpmat_buffer_allocate(nullptr, 1, nullptr, &address, &error), WARPMAT_BAD_ARGUMENT, "the memory is null");
  refused(warpmat_buffer_allocate(memory.memory, 1, nullptr, nullptr, &error), WARPMAT_BAD_ARGUMENT, "address is null");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // the sanitizers end the process that asks for so much
  refused(warpmat_buffer_allocate(memory.memory, UINT64_MAX / 2, nullptr, &address, &error), WARPMAT_NO_MEMORY, "");
#endif
  refused(warpmat_buffer_bytes(memory.memory, memory.address + 8, 9, &error), WARPMAT_OUT_OF_RANGE, "do not lie in one buffer");
  refused(warpmat_buffer_bytes(nullptr, 0, 0, &error), WARPMAT_BAD_ARGUMENT, "the memory is null");
  refused(warpmat_buffer_free(memory.memory, memory.address + 8, &error), WARPMAT_BAD_ARGUMENT, "no buffer begins");
  refused(warpmat_variable_address(kernel, memory.memory, "x", &address, &error), WARPMAT_BAD_ARGUMENT, "'x'");
  refused(warpmat_variable_address(kernel, memory.memory, nullptr, &address, &error), WARPMAT_BAD_ARGUMENT, "the name is null");

  const std::uint32_t narrow = 0;
  const std::vector<warpmat_argument> arguments{WARPMAT_ARGUMENT(memory.address)}, none, wrong{WARPMAT_ARGUMENT(narrow)},
      null{{nullptr, 8}};
  const auto launched = [&](warpmat_launch_config config) { return warpmat_launch(kernel, &config, memory.memory, nullptr, &error); };
  CHECK(launched(config_of(arguments, 0, 0)) == WARPMAT_OK);  // 0 stands for 1
  refused(warpmat_launch(nullptr, nullptr, nullptr, nullptr, &error), WARPMAT_BAD_ARGUMENT, "the kernel is null");
  refused(warpmat_launch(kernel, nullptr, memory.memory, nullptr, &error), WARPMAT_BAD_ARGUMENT, "config is null");
  for (const auto& [given, part] : {std::tuple(&none, "0 arguments"), {&wrong, "has 8 bytes"}, {&null, "argument 0 is null"}})
    refused(launched(config_of(*given, 1, 32)), WARPMAT_BAD_ARGUMENT, part);
  const auto changed = [&](auto change, const char* part) {
    warpmat_launch_config config = config_of(arguments, 1, 32);
    change(config);
    refused(launched(config), WARPMAT_BAD_ARGUMENT, part);
  };
  changed([](auto& config) { config.block[0] = 2048; }, "at most 1024 threads");
  changed([](auto& config) { config.arguments = nullptr; }, "config->arguments is null");
  changed([](auto& config) { config.size = 8; }, "config->size");
  changed([](auto& config) { config.jobs = -1; }, "jobs");
  changed([](auto& config) { config.flags = WARPMAT_WIDE_ADDRESSES; }, "flags 0x4");

  CHECK(warpmat_buffer_free(memory.memory, memory.address, &error) == WARPMAT_OK);
  CHECK(warpmat_buffer_bytes(memory.memory, memory.address, 1, nullptr) == nullptr);
  warpmat_kernel_free(kernel);
  warpmat_module_free(module);
  warpmat_kernel_free(nullptr);
  warpmat_module_free(nullptr);
  warpmat_device_memory_free(nullptr);
}

TEST_CASE("limits of time and memory end a launch", "[c][kernel]") {
  Launched endless(kernel_text("L: bra L;\n"), 128);
  endless.config.most_seconds = 0.05;
  CHECK(endless.run() == WARPMAT_LIMIT);
  CHECK_THAT(endless.error.message, ContainsSubstring("0.05 s"));
  for (const double wrong : {-1.0, std::nan("")}) {
    endless.config.most_seconds = wrong;
    CHECK(endless.run() == WARPMAT_BAD_ARGUMENT);
  }
  Launched local(kernel_text(".local .b8 l[100000]; st.local.u32 [l], t;\n"), 128);
  local.config.most_seconds = 1e300;
  local.config.most_block_bytes = 1'000'000;
  CHECK(local.run() == WARPMAT_NO_MEMORY);
  CHECK_THAT(local.error.message, ContainsSubstring("limit of 1000000 bytes"));
  local.config.most_block_bytes = 10'000'000;
  CHECK(local.run() == WARPMAT_OK);

  auto error = sized<warpmat_error>();
  const Memory memory(1000);
  std::uint64_t address = 0;
  CHECK(warpmat_device_memory_set_most_bytes(memory.memory, 1999, &error) == WARPMAT_OK);
  CHECK(warpmat_buffer_allocate(memory.memory, 1000, "q", &address, &error) == WARPMAT_NO_MEMORY);
  CHECK_THAT(error.message, ContainsSubstring("buffer 'q'"));
  CHECK(warpmat_buffer_allocate(memory.memory, 999, "q", &address, &error) == WARPMAT_OK);
  CHECK(warpmat_device_memory_set_most_bytes(nullptr, 1, &error) == WARPMAT_BAD_ARGUMENT);
}

}  // namespace
}  // namespace warpmat::kernel_test
