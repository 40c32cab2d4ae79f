#pragma once

// For targets whose inputs are PTX: half of libFuzzer's mutations change tokens, numbers, lines and statements, so that much of what comes
// out is still a program. What is put in comes from the seeds of the corpus, which the environment names, and from the input itself.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/mutator.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace warpmat {

/// The texts of the seeds in the folder WARPMAT_FUZZ_SEEDS, in the order of their names. None without the variable.
inline std::vector<std::string> seed_texts() {
  const char* const folder = std::getenv("WARPMAT_FUZZ_SEEDS");
  std::vector<std::filesystem::path> paths;
  if (folder != nullptr)
    for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return texts;
}

inline std::size_t mutate_text(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  static Mutator mutator(seed_texts(), 0);
  mutator.restart(seed);
  if (mutator.below(2) == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(reinterpret_cast<const char*>(data), size);
  mutator.change(text);
  const std::size_t kept = std::min(text.size(), max_size);
  std::memcpy(data, text.data(), kept);
  return kept;
}

}  // namespace warpmat

#ifdef WARPMAT_LIBFUZZER  // a program without libFuzzer runs inputs and makes none
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  return warpmat::mutate_text(data, size, max_size, seed);
}
#endif
