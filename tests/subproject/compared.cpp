// Holds the fast path against the reference, which computes in integers: every form on every target, operands of random bits with many
// zeros, infinities and NaNs. The parent project's flags must not show, in the digest of all results either.

#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/layout.h>

#include <array>
#include <cstdio>
#include <random>
#include <vector>

using namespace warpmat;

namespace {

constexpr std::size_t warps = 4;

/// Random bits; some words are zero or have all bits of an exponent set.
std::uint32_t random_word(std::mt19937_64& random) {
  const auto word = static_cast<std::uint32_t>(random());
  switch (random() % 8) {
    case 0: return 0;
    case 1: return word | 0x7f807f80;
    case 2: return word & 0x80008000;
    default: return word;
  }
}

std::vector<std::uint32_t> random_operand(const Form& form, const Operand& operand, std::mt19937_64& random) {
  std::vector<std::uint32_t> words(warps * static_cast<std::size_t>(operand.words()) * warp_size, 0);
  if (operand.kind != OperandKind::fragment) return words;  // addresses, ids and selectors of zero
  unsigned code = 0;                                        // of metadata: the first that is defined
  while (operand.name == OperandName::e && !valid_metadata(form, code)) ++code;
  for (std::uint32_t& word : words)
    word = operand.name == OperandName::e ? code * 0x11111111u : random_word(random) & ~padding_bits(operand.fragment);
  return words;
}

/// FNV-1a of all results.
std::uint64_t digest = 0xcbf29ce484222325u;
void add_to_digest(std::uint64_t bits) {
  digest = (digest ^ bits) * 0x100000001b3u;
}

/// Whether both paths give the same registers and memory.
bool agree(const Instruction& instruction, std::mt19937_64& random) {
  std::array<std::vector<std::uint32_t>, operand_name_count> operands;
  for (const Operand& operand : instruction.form().operands)
    operands[static_cast<std::size_t>(operand.name)] = random_operand(instruction.form(), operand, random);
  std::array<std::vector<std::uint32_t>, 2> results;
  std::array<std::array<std::uint8_t, 256>, 2> memories{};
  for (const Path path : {Path::fast, Path::reference}) {
    const auto index = static_cast<std::size_t>(path);
    std::vector<RegisterView> views;
    for (const Operand& operand : instruction.form().operands) {
      std::vector<std::uint32_t>& words = operands[static_cast<std::size_t>(operand.name)];
      const std::size_t stride = words.size() / warps;
      if (operand.written) {
        results[index] = words;
        views.emplace_back(results[index].data(), stride);
      } else {
        views.emplace_back(words.data(), stride);
      }
    }
    Call call;
    call.operands = views;
    call.shared = memories[index].data();
    call.shared_bytes = memories[index].size();
    instruction.execute(call, warps, {.path = path});
  }
  for (const std::vector<std::uint32_t>& words : results)
    for (const std::uint32_t word : words) add_to_digest(word);
  return results[0] == results[1] && memories[0] == memories[1];
}

}  // namespace

int main() {
  std::mt19937_64 random(1);
  int compared = 0, different = 0;
  for (const Form& form : forms())
    for (const Target& target : targets()) {
      if (unavailable(form, target)) continue;
      for (int draw = 0; draw < 4; ++draw, ++compared)
        if (!agree({form, target}, random) && different++ < 10)
          std::printf("%s on %s\n", form.opcode.c_str(), std::string(target.name).c_str());
    }
  std::printf("%d of %d batches differ\ndigest %016llx\n", different, compared, static_cast<unsigned long long>(digest));
  return different == 0 && compared > 1000 ? 0 : 1;
}
