// Every form, on the newest target that has it, on both paths, in a thread whose whole stack has 64 KiB; a trap too.

#include <warpmat/forms.h>
#include <warpmat/instruction.h>

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace warpmat;

namespace {

constexpr std::size_t stack_bytes = 64 * 1024;
int executed = 0, trapped = 0;

/// The first metadata code that is defined, in all places; else zero.
std::uint32_t first_word(const Form& form, const Operand& operand) {
  unsigned code = 0;
  while (operand.name == OperandName::e && !valid_metadata(form, code)) ++code;
  return code * 0x11111111u;
}

void execute(const Instruction& instruction, Path path, std::uint32_t metadata_flip) {
  std::vector<std::vector<std::uint32_t>> words;
  std::vector<std::uint8_t> memory(1024, 0);
  std::vector<RegisterView> operands;
  for (const Operand& operand : instruction.form().operands) {
    words.emplace_back(static_cast<std::size_t>(operand.words()) * warp_size, first_word(instruction.form(), operand));
    if (operand.name == OperandName::e)
      for (std::uint32_t& word : words.back()) word ^= metadata_flip;
    operands.emplace_back(words.back().data());
  }
  Call call;
  call.operands = operands;
  call.shared = memory.data();
  call.shared_bytes = memory.size();
  try {
    instruction.execute(call, 1, {.path = path});
    ++executed;
  } catch (const Trap&) {
    ++trapped;
  }
}

void* execute_all(void*) {
  for (const Form& form : forms())
    for (std::size_t i = targets().size(); i-- > 0;) {
      if (unavailable(form, targets()[i])) continue;
      const Instruction instruction(form, targets()[i]);
      for (const Path path : {Path::fast, Path::reference}) {
        execute(instruction, path, 0);
        if (form.sparsity != Sparsity::dense) execute(instruction, path, 0xffffffff);
      }
      break;
    }
  return nullptr;
}

}  // namespace

int main() {
  pthread_attr_t attributes;
  pthread_t thread;
  if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstacksize(&attributes, stack_bytes) != 0 ||
      pthread_create(&thread, &attributes, execute_all, nullptr) != 0 || pthread_join(thread, nullptr) != 0) {
    std::perror("a thread of 64 KiB");
    return EXIT_FAILURE;
  }
  std::printf("%d executed, %d trapped\n", executed, trapped);
  return executed >= static_cast<int>(forms().size()) * 2 && trapped > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
