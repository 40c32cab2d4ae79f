#include "gpu/lab/device/judge.h"

#include <warpmat/execute/operands/batch.h>
#include <warpmat/instruction.h>
#include <warpmat/machine/threads.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using namespace warpmat;

constexpr std::size_t of_reference = 32;  ///< warps that the reference computes, too

/// D of `warps` warps, by `path`.
std::vector<std::uint32_t> results(const Instruction& instruction, const JudgedForm& form, const std::uint32_t* answers, std::size_t warps,
                                   Path path) {
  const int a = form.a_words, b = form.b_words, c = form.c_words, d = form.d_words;
  const std::size_t stride = static_cast<std::size_t>(a + b + c + 3 + d) * warp_size;
  std::vector<std::uint32_t> found(warps * static_cast<std::size_t>(d) * warp_size);
  const auto words_of = [](const unsigned* numbers, int count) {
    std::vector<std::uint32_t> words;
    for (int i = 0; i < count; ++i) words.insert(words.end(), warp_size, numbers[i]);
    return words;
  };
  const std::vector<std::uint32_t> selector = words_of(&form.selector, 1), ids_a = words_of(form.ids_a, 2), ids_b = words_of(form.ids_b, 2);
  Batch batch;
  int word = 0;
  const auto next = [&](OperandName name, int count) {
    if (instruction.form().find_operand(name) != nullptr) batch.source(name) = {answers + word * warp_size, stride};
    word += count;
  };
  next(OperandName::a, a);
  next(OperandName::b, b);
  next(OperandName::c, c);
  next(OperandName::e, 1);
  next(OperandName::scale_a, 1);
  next(OperandName::scale_b, 1);
  const auto same = [&](OperandName name, const std::vector<std::uint32_t>& words) {
    if (instruction.form().find_operand(name) != nullptr) batch.source(name) = {words.data(), 0};
  };
  same(OperandName::selector, selector);
  same(OperandName::ids_a, ids_a);
  same(OperandName::ids_b, ids_b);
  batch.destination = {found.data(), static_cast<std::size_t>(d) * warp_size};
  execute(instruction, batch, warps, {.path = path});
  return found;
}

/// Compares `warps` warps from number `begin` on.
unsigned long long differences(const Instruction& instruction, const JudgedForm& form, const std::uint32_t* answers, std::size_t begin,
                               std::size_t warps, Path path, std::mutex& mutex, char* first, std::size_t size) {
  const std::size_t before = static_cast<std::size_t>(form.a_words + form.b_words + form.c_words + 3) * warp_size,
                    words = static_cast<std::size_t>(form.d_words) * warp_size;
  const std::uint32_t* const from = answers + begin * (before + words);
  const std::vector<std::uint32_t> expected = results(instruction, form, from, warps, path);
  unsigned long long different = 0;
  for (std::size_t warp = 0; warp < warps; ++warp)
    for (std::size_t i = 0; i < words; ++i) {
      const std::uint32_t found = from[warp * (before + words) + before + i];
      if (found == expected[warp * words + i]) continue;
      ++different;
      const std::lock_guard lock(mutex);
      if (first[0] == 0)
        std::snprintf(first, size, "warp %zu, word %zu, lane %zu: %#x is expected, %#x found", begin + warp, i / warp_size, i % warp_size,
                      expected[warp * words + i], found);
    }
  return different;
}

}  // namespace

unsigned long long warpmat_judge(const JudgedForm* form, const unsigned* answers, std::size_t warps, char* first, std::size_t size) {
  try {
    const Instruction instruction(form->opcode, form->target);
    std::mutex mutex;
    std::atomic<unsigned long long> different{
        differences(instruction, *form, answers, 0, std::min(warps, of_reference), Path::reference, mutex, first, size)};
    constexpr std::size_t part = 256;
    std::atomic<std::size_t> next{0};
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < machine::usable_cores(); ++i)
      threads.emplace_back([&] {
        for (std::size_t begin = next.fetch_add(part); begin < warps; begin = next.fetch_add(part))
          different += differences(instruction, *form, answers, begin, std::min(part, warps - begin), Path::fast, mutex, first, size);
      });
    threads.clear();
    return different;
  } catch (const std::exception& e) {
    std::snprintf(first, size, "%s", e.what());
    return ~0ull;
  }
}
