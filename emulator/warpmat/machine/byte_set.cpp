#include <warpmat/machine/byte_set.h>

#include <algorithm>
#include <bit>
#include <new>

namespace warpmat {
namespace {

using Word = std::uint64_t;
constexpr std::uint64_t word_bits = 64;

/// Calls visit(word, bits, first byte) for the words of [offset, offset + count), until it returns false.
template <typename Visit>
void for_each_word(std::uint64_t offset, std::uint64_t count, Visit visit) {
  for (const std::uint64_t end = offset + count; offset < end;) {
    const std::uint64_t inside = offset % word_bits, taken = std::min(word_bits - inside, end - offset);
    const Word bits = taken == word_bits ? ~Word{0} : ((Word{1} << taken) - 1) << inside;
    if (!visit(offset / word_bits, bits, offset - inside)) return;
    offset += taken;
  }
}

template <typename Words>
std::atomic_ref<Word> at(const Words& words, std::uint64_t i) {
  return std::atomic_ref<Word>(words[i]);
}

}  // namespace

ByteSet::ByteSet(std::uint64_t bytes) : words_(static_cast<Word*>(std::calloc(bytes / word_bits + 1, sizeof(Word)))), missing_(bytes) {
  if (words_ == nullptr) throw std::bad_alloc();
}

void ByteSet::add(std::uint64_t offset, std::uint64_t count) {
  for_each_word(offset, count, [&](std::uint64_t i, Word bits, std::uint64_t) {
    if ((at(words_, i).load(std::memory_order_relaxed) & bits) == bits) return true;  // most often: no write that other threads wait for
    const Word before = at(words_, i).fetch_or(bits, std::memory_order_relaxed);
    missing_.fetch_sub(static_cast<std::uint64_t>(std::popcount(bits & ~before)), std::memory_order_relaxed);
    return true;
  });
}

void ByteSet::remove(std::uint64_t offset, std::uint64_t count) {
  for_each_word(offset, count, [&](std::uint64_t i, Word bits, std::uint64_t) {
    if ((at(words_, i).load(std::memory_order_relaxed) & bits) == 0) return true;
    const Word before = at(words_, i).fetch_and(~bits, std::memory_order_relaxed);
    missing_.fetch_add(static_cast<std::uint64_t>(std::popcount(bits & before)), std::memory_order_relaxed);
    return true;
  });
}

std::optional<std::uint64_t> ByteSet::find(std::uint64_t offset, std::uint64_t count, bool in_set) const {
  std::optional<std::uint64_t> found;
  for_each_word(offset, count, [&](std::uint64_t i, Word bits, std::uint64_t first) {
    const Word word = at(words_, i).load(std::memory_order_relaxed), wanted = (in_set ? word : ~word) & bits;
    if (wanted != 0) found = first + static_cast<std::uint64_t>(std::countr_zero(wanted));
    return wanted == 0;
  });
  return found;
}

}  // namespace warpmat
