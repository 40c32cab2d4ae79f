// Files of NumPy: one is refused with a sentence, or it has as many bytes of elements as its header says.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

#include "fuzz/memory_file.h"
#include "tools/report/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const warpmat::MemoryFile file(data, size);
  try {
    const warpmat::NpyArray array = warpmat::read_npy(file.path());
    if (array.bytes.size() != array.byte_count()) std::abort();
    if (warpmat::describe(array).empty()) std::abort();
  } catch (const std::runtime_error&) {
  }
  return 0;
}
