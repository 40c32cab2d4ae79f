// launch.json: one is refused with a sentence, or its kernel is launched with its buffers, and what is expected of them is compared. It may
// name a module and an array, which lie beside it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <warpmat/files/process.h>
#include <warpmat/ir/code.h>
#include <warpmat/launch.h>
#include <warpmat/machine/internals.h>
#include <warpmat/words/words.h>

#include "tools/report/launch_description.h"
#include "tools/report/npy.h"

namespace {

using namespace warpmat;
namespace fs = std::filesystem;

constexpr const char* module_text = R"(
.version 8.6
.target sm_90a
.address_size 64
.global .align 8 .b8 variable[64];
.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y) {
  .reg .b64 %l<4>; .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .pred %p;
  ld.param.u32 %r0, [n]; ld.param.f32 %f0, [a]; ld.param.u64 %l0, [x]; ld.param.u64 %l1, [y];
  mov.u32 %r1, %tid.x; setp.ge.u32 %p, %r1, %r0; @%p ret;
  mul.wide.u32 %l2, %r1, 4; add.u64 %l0, %l0, %l2; add.u64 %l1, %l1, %l2;
  ld.global.f32 %f1, [%l0]; ld.global.f32 %f2, [%l1]; fma.rn.f32 %f1, %f0, %f1, %f2; st.global.f32 [%l1], %f1;
  ret;
}
.visible .entry load(.param .align 64 .b8 map[128]) {
  .reg .b64 %l; .reg .b32 %r<4>; .reg .pred %p;
  .shared .align 1024 .b8 tile[8192]; .shared .align 8 .b64 full;
  mov.u32 %r0, %tid.x; setp.ne.u32 %p, %r0, 0; @%p ret;
  mov.b64 %l, map; cvta.param.u64 %l, %l; mov.u32 %r1, tile; mov.u32 %r2, full; mov.u32 %r3, 0;
  mbarrier.init.shared::cta.b64 [%r2], 1; fence.proxy.async;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%l, {%r3, %r3}], [%r2];
  ret;
}
)";
constexpr std::uint64_t most_bytes = 1 << 20;

/// The folder of launch.json and what it may name.
const TemporaryFolder& folder() {
  struct Made : TemporaryFolder {
    Made() {
      std::ofstream(*this / "kernels.ptx") << module_text;
      write_npy(*this / "x.npy", NpyArray::zeros(DType::float32, {16, 4}));
    }
  };
  static const Made made;
  return made;
}

/// Whether a file that is read lies in the folder: others, as /dev/zero, say nothing of this program.
bool is_inside(const fs::path& path) {
  const fs::path name = path.lexically_normal().lexically_relative(folder().path());
  return name.has_filename() && !name.has_parent_path() && name != "..";
}

bool is_at_most(const Dim3& size, std::uint64_t most) {
  return size.x <= most && size.y <= most && size.z <= most && size.count() <= most;
}

/// Whether a buffer's source names no large number, and a file in the folder.
bool is_small(const LaunchBuffer& buffer) {
  if (buffer.expected && !is_inside(buffer.expected->file)) return false;
  if (buffer.source.ends_with(".npy")) return is_inside(buffer.source);
  return std::ranges::all_of(split(buffer.source, ':'),
                             [](std::string_view part) { return number_of<std::uint64_t>(part).value_or(0) <= most_bytes; });
}

/// What is large is right but slow.
bool is_small(const LaunchDescription& description) {
  return is_inside(description.ptx) && is_at_most(description.config.grid, 64) && is_at_most(description.config.block, 1024) &&
         std::ranges::all_of(description.buffers, [](const LaunchBuffer& buffer) { return is_small(buffer); });
}

void run(const LaunchDescription& description) {
  const Module module(module_text);
  const std::string entry = entry_name(module, description.kernel, description.ptx);
  const Kernel kernel(module, entry, {.target = "sm_90a"});
  check_arguments(description, program_of(kernel));
  PreparedLaunch prepared = prepare(description, kernel);
  const std::vector<BufferExpectation> expectations = read_expectations(description, prepared);
  LaunchOptions options;
  options.most_operations = 500;
  options.checks = {.races = true};
  launch_products(kernel, description.config, prepared.memory, prepared.arguments, {.products = description.products}, options);
  for (const BufferExpectation& expectation : expectations) compare(expectation, prepared);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fs::path file = folder() / "launch.json";
  std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    const LaunchDescription description = read_launch(file);
    if (is_small(description)) run(description);
  } catch (const Trap&) {
  } catch (const std::runtime_error&) {
  } catch (const std::invalid_argument&) {
  } catch (const std::length_error&) {
  } catch (const std::bad_alloc&) {
  }
  return 0;
}
