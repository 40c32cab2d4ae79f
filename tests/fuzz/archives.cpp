// Archives of recorded launches: one is refused with a sentence, or the contents of its launches are read, their modules parsed, and their
// buffers placed in a memory. Half of the mutations change a line within its compressed chunk.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <warpmat/launch.h>

#include "fuzz/memory_file.h"
#include "gpu/programs/archive.h"
#include "gpu/programs/recorded_launch.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace warpmat;
using namespace warpmat::programs;

void take(const ArchiveReader& archive, const RecordedLaunch& launch) {
  DeviceMemory memory;
  for (const RecordedBuffer& buffer : launch.buffers) {
    memory.place(buffer.address, archive.read(buffer.before), buffer.name);
    archive.read(buffer.after);
    if (buffer.again) archive.read(*buffer.again);
  }
  const Module module(archive.read_text(launch.ptx));
  const Kernel kernel(module, launch.kernel, {.target = "sm_90a"});
}

#ifdef WARPMAT_LIBFUZZER
/// Copies the contents of a launch that both archives have by name.
void copy(const ArchiveReader& from, const RecordedLaunch& launch, ArchiveWriter& to) {
  to.put(from.read(launch.ptx));
  for (const RecordedBuffer& buffer : launch.buffers)
    for (const Content* content : {&buffer.before, &buffer.after}) to.put(from.read(*content));
}

/// The archive with one of its lines mutated.
std::vector<std::uint8_t> with_mutated_line(const std::uint8_t* data, std::size_t size, unsigned seed) {
  const MemoryFile in(data, size), out;
  const ArchiveReader reader(in.path());
  ArchiveWriter writer(out.path());
  const std::size_t chosen = reader.lines() == 0 ? 0 : seed % reader.lines();
  for (std::size_t i = 0; i < reader.lines(); ++i) {
    std::string line = reader.line(i);
    if (const ArchiveLine parsed = parse_line(line); parsed.launch) copy(reader, *parsed.launch, writer);
    if (i == chosen) {
      const std::size_t kept = line.size();
      line.resize(kept + 64);
      line.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(line.data()), kept, line.size()));
    }
    writer.put_line(line);
  }
  std::ifstream written(out.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(written), std::istreambuf_iterator<char>()};
}
#endif

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t most_bytes = 64 << 20;
  const MemoryFile file(data, size);
  try {
    const ArchiveReader archive(file.path(), most_bytes);
    for (std::size_t i = 0; i < archive.lines(); ++i)
      if (const ArchiveLine parsed = parse_line(archive.line(i)); parsed.launch) take(archive, *parsed.launch);
  } catch (const std::runtime_error&) {
  } catch (const std::invalid_argument&) {
  } catch (const std::bad_alloc&) {
  }
  return 0;
}

#ifdef WARPMAT_LIBFUZZER
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  if (seed % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  try {
    const std::vector<std::uint8_t> mutated = with_mutated_line(data, size, seed / 2);
    if (mutated.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
    std::ranges::copy(mutated, data);
    return mutated.size();
  } catch (const std::exception&) {  // it is no archive any more
    return LLVMFuzzerMutate(data, size, max_size);
  }
}
#endif
