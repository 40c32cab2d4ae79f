// Registers wherever a simulator keeps them: any distance between words, lanes and warps, lists of registers, immediates. What a batch does
// with them is held against copies made by hand, executed register-major by the reference.

#include <warpmat/instruction.h>

#include "execute/warp_arrays.h"
#include "test.h"

namespace warpmat::register_places_test {
namespace {

constexpr Path paths[] = {Path::fast, Path::reference};
constexpr std::size_t count = 2;  // warps

/// Where an operand's words lie in an array: those of a BasicRegisterView, as positions.
struct Places {
  std::ptrdiff_t first = 0, warp = 0, word = warp_size, lane = 1;
  std::vector<std::uint16_t> numbers;

  std::size_t at(std::size_t w, std::size_t i, std::size_t l) const {
    const auto number = static_cast<std::ptrdiff_t>(numbers.empty() ? i : numbers[i]);
    return static_cast<std::size_t>(first + static_cast<std::ptrdiff_t>(w) * warp + number * word + static_cast<std::ptrdiff_t>(l) * lane);
  }
  template <typename Word>
  BasicRegisterView<Word> of(Word* words) const {
    return {words + first, static_cast<std::size_t>(warp), word, lane, numbers.empty() ? nullptr : numbers.data()};
  }
};

std::vector<std::uint16_t> distinct_numbers(std::size_t words, std::size_t of, std::mt19937_64& random) {
  std::vector<std::uint16_t> all(of);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  std::shuffle(all.begin(), all.end(), random);
  all.resize(words);
  return all;
}

enum class Layout { register_major, thread_major, listed, odd, backward, immediate };
constexpr Layout layouts[] = {Layout::register_major, Layout::thread_major, Layout::listed, Layout::odd,
                              Layout::backward,       Layout::immediate};

/// Places of `words` words a lane that no two words share (but for immediates, in which all lanes do), in the array behind position `end`.
Places draw_places(Layout layout, std::size_t words, std::size_t end, std::mt19937_64& random) {
  const auto n = static_cast<std::ptrdiff_t>(words), begin = static_cast<std::ptrdiff_t>(end);
  const std::ptrdiff_t file = n + 1 + static_cast<std::ptrdiff_t>(random() % 7);  // registers of a thread
  switch (layout) {
    case Layout::register_major: return {begin, n * warp_size + 5, warp_size, 1, {}};
    case Layout::thread_major: return {begin, file * warp_size, 1, file, {}};
    case Layout::listed: return {begin, file * warp_size, 1, file, distinct_numbers(words, static_cast<std::size_t>(file), random)};
    case Layout::odd: return {begin, (3 * n + 4) * warp_size, 3, 3 * n + 4, {}};
    case Layout::backward: return {begin + 2 * file * warp_size, -file * warp_size, 1, -file, {}};
    case Layout::immediate: return {begin, n + 1, 1, 0, {}};
  }
  return {};
}

/// A form's registers at drawn places of one array.
class Scene {
 public:
  Scene(const Form& form, WarpArrays sources) : form_(form), sources_(std::move(sources)) {}

  /// Lays an operand out; all lanes of an immediate get lane 0's word.
  void place(const Operand& operand, Layout layout, std::mt19937_64& random) {
    const auto n = static_cast<std::size_t>(operand.words());
    Places& places = at(operand.name) = draw_places(layout, n, words_.size(), random);
    words_.resize(words_.size() + 4 * (3 * n + 9) * warp_size, filler);
    for (std::size_t w = 0; w < count; ++w)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t l = 0; l < warp_size; ++l)
          words_[places.at(w, i, l)] = sources_.word(operand.name, w, i)[layout == Layout::immediate ? 0 : l];
  }

  Places& at(OperandName name) { return places_[static_cast<std::size_t>(name)]; }
  std::vector<std::uint32_t>& words() { return words_; }

  Batch batch() {
    Batch batch = sources_.batch();
    for (const Operand& operand : form_.operands) {
      if (operand.written)
        batch.destination = at(operand.name).of(words_.data());
      else
        batch.source(operand.name) = at(operand.name).of<const std::uint32_t>(words_.data());
    }
    return batch;
  }

  /// What the batch must do.
  void execute_by_hand(const Instruction& instruction) {
    for (std::size_t w = 0; w < count; ++w) {
      FormRegisters registers(form_);
      for (const Operand& operand : form_.operands) gather(operand, w, registers);
      if (instruction.lowering().semantics != Semantics::split_dot) {
        execute(instruction, w, registers);
        for (std::size_t i = 0; i < destination().second; ++i) write(w, i, registers);
        continue;
      }
      for (std::size_t i = 0; i < destination().second; ++i) {  // an addition a register, see execute_split_dot
        gather(form_.operand(OperandName::c), w, registers);
        execute(instruction, w, registers);
        write(w, i, registers);
      }
    }
  }

  friend bool operator==(const Scene& a, const Scene& b) { return a.words_ == b.words_ && a.sources_.memory == b.sources_.memory; }

 private:
  static constexpr std::uint32_t filler = 0xdeadbeef;

  std::pair<OperandName, std::size_t> destination() const {
    for (const Operand& operand : form_.operands)
      if (operand.written) return {operand.name, static_cast<std::size_t>(operand.words())};
    return {OperandName::d, 0};
  }
  void gather(const Operand& operand, std::size_t w, FormRegisters& registers) {
    if (operand.written) return;
    for (std::size_t i = 0; i < registers[operand.name].size(); ++i)
      for (std::size_t l = 0; l < warp_size; ++l) registers[operand.name][i][l] = words_[at(operand.name).at(w, i, l)];
  }
  void execute(const Instruction& instruction, std::size_t w, FormRegisters& registers) {
    Batch batch = registers.batch();
    SharedMemory memory = sources_.shared_memory(w);
    batch.use(memory);
    warpmat::execute(instruction, batch, 1, {.path = Path::reference});
  }
  void write(std::size_t w, std::size_t i, FormRegisters& registers) {
    const OperandName name = destination().first;
    for (std::size_t l = 0; l < warp_size; ++l) words_[at(name).at(w, i, l)] = registers[name][i][l];
  }

  const Form& form_;
  WarpArrays sources_;
  std::array<Places, operand_name_count> places_;
  std::vector<std::uint32_t> words_;
};

TEST_CASE("registers at any distance, listed or immediate: every form, both paths") {
  std::mt19937_64 random(71);
  for (const Form& form : forms()) {
    const Instruction instruction(form, target_with(form));
    for (const Layout layout : layouts) {
      Scene scene(form, WarpArrays(form, count, std::nullopt, static_cast<unsigned>(random())));
      std::uint64_t drawn = random();
      for (const Operand& operand : form.operands) {
        // One layout for all, but for some operands; a result is no immediate.
        const Layout other = layouts[drawn % std::size(layouts)];
        drawn /= std::size(layouts);
        const Layout chosen = drawn % 3 == 0 ? other : layout;
        scene.place(operand, operand.written && chosen == Layout::immediate ? Layout::listed : chosen, random);
      }
      Scene expected = scene;
      expected.execute_by_hand(instruction);
      for (const Path path : paths) {
        CAPTURE(form.opcode, static_cast<int>(layout), path == Path::fast);
        Scene found = scene;
        execute(instruction, found.batch(), count, {.path = path});
        CHECK(found == expected);
      }
    }
  }
}

TEST_CASE("C and D may share words at any distance: every form and target, both paths") {
  std::mt19937_64 random(72);
  int drawn = 0;
  for (const Form& form : forms())
    for (const Target& target : targets()) {
      if (form.mnemonic != Mnemonic::mma || unavailable(form, target)) continue;
      const Instruction instruction(form, target);
      const bool split = instruction.lowering().semantics == Semantics::split_dot;
      if (!split && random() % 8 != 0) continue;  // only where the instruction is a sequence does the order of reading and writing show
      Scene scene(form, WarpArrays(form, count, std::nullopt, static_cast<unsigned>(random())));
      for (const Operand& operand : form.operands) scene.place(operand, layouts[random() % std::size(layouts)], random);
      const std::size_t begin = scene.words().size();
      for (int i = 0; i < 8000; ++i) scene.words().push_back(static_cast<std::uint32_t>(random()));
      const auto below = [&](std::ptrdiff_t limit) { return static_cast<std::ptrdiff_t>(random() % static_cast<std::uint64_t>(limit)); };
      const bool one_file = random() % 2 == 0;  // C and D are registers of the same threads
      for (const OperandName name : {OperandName::c, OperandName::d}) {
        const auto first = static_cast<std::ptrdiff_t>(begin);
        const auto words = static_cast<std::size_t>(form.operand(name).words());
        if (one_file)
          scene.at(name) = {first, 20 * warp_size, 1, 20, distinct_numbers(words, std::max<std::size_t>(words, 6), random)};
        else
          scene.at(name) = {first + below(40), below(900), 1 + below(40), 1 + below(40), {}};
      }
      Scene expected = scene;
      expected.execute_by_hand(instruction);
      for (const Path path : paths) {
        CAPTURE(form.opcode, std::string(target.name), path == Path::fast, one_file);
        Scene found = scene;
        execute(instruction, found.batch(), count, {.path = path});
        CHECK(found == expected);
      }
      ++drawn;
    }
  CHECK(drawn > 100);
}

/// The registers of a warp's threads. Statements of wmma.mma name some of them, mostly more than once.
struct RegisterFile {
  static constexpr std::size_t registers = 24;

  explicit RegisterFile(std::mt19937_64& random) : words(registers) {
    for (Register& reg : words)
      for (std::uint32_t& word : reg) word = static_cast<std::uint32_t>(random());
  }

  /// Word `number` of lane l is words[l * registers + number].
  std::vector<std::uint32_t> by_threads() const {
    std::vector<std::uint32_t> out;
    for (std::size_t lane = 0; lane < warp_size; ++lane)
      for (const Register& reg : words) out.push_back(reg[lane]);
    return out;
  }

  std::vector<Register> words;
};

// If the register lists are used in place, the reference reads and writes each register directly, in the measured order.
TEST_CASE("wmma.mma whose D overlaps its sources: thread-major as register-major, both paths") {
  std::mt19937_64 random(73);
  std::size_t shown = 0;
  for (const Form& form : forms()) {
    if (form.mnemonic != Mnemonic::wmma_mma || form.opcode.find(".row.col.") == std::string::npos) continue;
    const Instruction instruction(form, target_with(form));
    for (int i = 0; i < 3; ++i) {
      const RegisterFile file(random);
      std::array<std::vector<std::uint16_t>, operand_name_count> numbers;
      RegisterFile expected = file, apart = file;
      FormRegisters copies(form);
      Batch listed;
      std::array<std::vector<std::uint32_t*>, operand_name_count> pointers;
      for (const Operand& operand : form.operands) {
        const auto name = static_cast<std::size_t>(operand.name);
        numbers[name] = distinct_numbers(static_cast<std::size_t>(operand.words()), RegisterFile::registers / (i == 0 ? 2 : 1), random);
        for (std::size_t word = 0; word < numbers[name].size(); ++word) {
          pointers[name].push_back(expected.words[numbers[name][word]].data());
          copies[operand.name][word] = file.words[numbers[name][word]];
        }
        if (operand.written)
          listed.destination = pointers[name];
        else
          listed.source(operand.name) = pointers[name];
      }
      execute(instruction, listed, 1, {.path = Path::reference});
      execute(instruction, copies.batch(), 1, {.path = Path::reference});
      const auto d = static_cast<std::size_t>(OperandName::d);
      for (std::size_t word = 0; word < numbers[d].size(); ++word) apart.words[numbers[d][word]] = copies[OperandName::d][word];
      shown += apart.words != expected.words;
      for (const Path path : paths) {
        CAPTURE(form.opcode, i, path == Path::fast);
        std::vector<std::uint32_t> threads = file.by_threads();
        const auto places = [&](OperandName name) {
          return RegisterView{threads.data(), 0, 1, RegisterFile::registers, numbers[static_cast<std::size_t>(name)].data()};
        };
        Batch batch;
        batch.destination = places(OperandName::d);
        for (const OperandName name : {OperandName::a, OperandName::b, OperandName::c}) {
          batch.source(name) = places(name);
        }
        execute(instruction, batch, 1, {.path = path});
        CHECK(threads == expected.by_threads());
      }
    }
  }
  CHECK(shown > 20);  // else no order has shown
}

}  // namespace
}  // namespace warpmat::register_places_test
