#include <warpmat/instruction.h>

#include "command.h"
#include "execute/registers.h"
#include "test.h"
#include "tools/report/npy.h"
#include "tools/report/register_array.h"

namespace warpmat::exec_test {
namespace {

constexpr std::size_t memory_bytes = 1024;
constexpr std::size_t row_bytes = 16;

std::vector<std::size_t> shape_of(const Operand& operand, std::size_t cases) {
  if (operand.kind == OperandKind::address) return {cases, warp_size};
  return {cases, static_cast<std::size_t>(operand.registers()), warp_size};
}

NpyArray random_bytes(DType dtype, std::vector<std::size_t> shape, std::mt19937& random) {
  NpyArray array = NpyArray::zeros(dtype, std::move(shape));
  for (std::byte& b : array.bytes) b = static_cast<std::byte>(random());
  return array;
}

/// Row addresses for the lanes that `form` asks, anything for the others.
NpyArray random_addresses(const Form& form, std::size_t cases, std::mt19937& random) {
  NpyArray array = random_bytes(DType::uint32, {cases, warp_size}, random);
  const std::span<std::uint32_t> words = array.as<std::uint32_t>();
  if (moves_matrix(form)) return NpyArray::zeros(DType::uint32, {cases, warp_size});  // the same in all lanes
  for (std::size_t i = 0; i < words.size(); ++i)
    if (i % warp_size < static_cast<std::size_t>(form.shape.m * form.number))
      words[i] = static_cast<std::uint32_t>(random() % (memory_bytes / row_bytes) * row_bytes);
  return array;
}

using Arrays = std::map<std::string, NpyArray>;  ///< by option

Arrays random_inputs(const Form& form, std::size_t cases, std::mt19937& random) {
  Arrays arrays;
  for (const Operand& operand : form.operands) {
    const std::string option(name(operand.name));
    if (operand.kind == OperandKind::address) {
      arrays[option] = random_addresses(form, cases, random);
      arrays["shared"] = random_bytes(DType::uint8, {cases, memory_bytes}, random);
    } else if (operand.kind == OperandKind::fragment && !operand.written) {
      arrays[option] = random_bytes(register_dtype(operand.fragment.register_bits()), shape_of(operand, cases), random);
      if (padding_bits(operand.fragment) != 0)
        for (std::uint32_t& word : arrays[option].as<std::uint32_t>()) word &= ~padding_bits(operand.fragment);
    }
    if (operand.name != OperandName::e) continue;
    for (std::uint32_t& word : arrays[option].as<std::uint32_t>()) {
      word = 0;
      for (int bit = 0; bit < 32; bit += 4) word |= random_metadata(form, random) << bit;
    }
  }
  return arrays;
}

/// The numbers of an operand that is no array, with their options: the highest that the form takes.
std::vector<std::pair<std::string, std::uint32_t>> numbers(const Form& form, const Operand& operand) {
  if (operand.kind == OperandKind::selector)
    return {{"selector", static_cast<std::uint32_t>(form.operand(OperandName::e).fragment.matrices() - 1)}};
  if (operand.kind == OperandKind::stride) return {{"stride", static_cast<std::uint32_t>(form.leading_dimension())}};
  if (operand.kind != OperandKind::ids) return {};
  const std::string matrix = operand.name == OperandName::ids_a ? "a" : "b";
  return {{"byte-id-" + matrix, static_cast<std::uint32_t>(4 - form.scale_vector)},
          {"thread-id-" + matrix, static_cast<std::uint32_t>(operand.choices - 1)}};
}

std::string output_option(const Form& form) {
  const auto written = std::ranges::find_if(form.operands, [](const Operand& o) { return o.written; });
  return written == form.operands.end() ? "shared-out" : std::string(name(written->name));
}

std::vector<Register> to_registers(const NpyArray& array) {
  std::vector<Register> registers(array.bytes.size() / sizeof(Register));
  if (!registers.empty()) std::memcpy(registers.data(), array.bytes.data(), array.bytes.size());
  if (array.dtype == DType::uint64) split_registers(registers);
  return registers;
}

NpyArray from_registers(std::vector<Register> registers, int register_bits, std::vector<std::size_t> shape) {
  NpyArray array = NpyArray::zeros(register_dtype(register_bits), std::move(shape));
  if (register_bits == 64) join_registers(registers);
  if (!registers.empty()) std::memcpy(array.bytes.data(), registers.data(), array.bytes.size());
  return array;
}

/// The result of calling the library once a case.
NpyArray expected(const Instruction& instruction, Arrays inputs, std::size_t cases) {
  const Form& form = instruction.form();
  std::array<std::vector<Register>, operand_name_count> registers;
  for (const Operand& o : form.operands) {
    std::vector<Register>& all = registers[static_cast<std::size_t>(o.name)];
    const auto given = numbers(form, o);
    if (o.written)
      all.resize(cases * static_cast<std::size_t>(o.words()));
    else if (given.empty())
      all = to_registers(inputs.at(std::string(name(o.name))));
    for (std::size_t i = 0; !given.empty() && i < cases; ++i)
      for (const auto& [option, number] : given) all.emplace_back().fill(number);
  }
  for (std::size_t i = 0; i < cases; ++i) {
    std::array<std::vector<std::uint32_t*>, operand_name_count> pointers;
    Batch batch;
    for (const Operand& o : form.operands) {
      const auto index = static_cast<std::size_t>(o.name);
      const auto words = static_cast<std::size_t>(o.words());
      for (std::size_t w = 0; w < words; ++w) pointers[index].push_back(registers[index][i * words + w].data());
      if (o.written)
        batch.destination = pointers[index];
      else
        batch.source(o.name) = pointers[index];
    }
    SharedMemory shared(memory_bytes);
    const bool has_memory = inputs.contains("shared");
    const auto bytes =
        has_memory ? inputs.at("shared").as<std::uint8_t>().subspan(i * memory_bytes, memory_bytes) : std::span<std::uint8_t>();
    std::ranges::copy(bytes, shared.bytes().begin());
    batch.use(shared);
    execute(instruction, batch);
    if (has_memory) std::ranges::copy(shared.bytes(), bytes.begin());
  }
  const std::string output = output_option(form);
  if (output == "shared-out") return inputs.at("shared");
  const Operand& result = form.operand(*find_operand_name(output));
  return from_registers(registers[static_cast<std::size_t>(result.name)], result.fragment.register_bits(), shape_of(result, cases));
}

/// Writes the inputs to `directory` and makes the command line, output in out.npy.
std::vector<std::string> command_line(const Instruction& instruction, const Arrays& inputs, const TemporaryDirectory& directory) {
  std::vector<std::string> arguments{"exec", instruction.form().opcode, "--target", std::string(instruction.target().name)};
  for (const auto& [option, array] : inputs) {
    write_npy(directory.path(option + ".npy"), array);
    arguments.insert(arguments.end(), {"--" + option, directory.path(option + ".npy:registers")});
  }
  arguments.emplace_back("--quiet");
  for (const Operand& operand : instruction.form().operands)
    for (const auto& [option, number] : numbers(instruction.form(), operand))
      arguments.insert(arguments.end(), {"--" + option, std::to_string(number)});
  arguments.insert(arguments.end(), {"--" + output_option(instruction.form()), directory.path("out.npy")});
  return arguments;
}

Instruction on_newest_target(const Form& form) {
  for (std::size_t i = targets().size(); i-- > 0;)
    if (!unavailable(form, targets()[i])) return {form, targets()[i]};
  throw std::logic_error("no target has " + form.opcode);
}

TEST_CASE("exec does what the library does, for every form", "[tools]") {
  constexpr std::size_t cases = 5;
  std::mt19937 random(2);
  for (const Form& form : forms()) {
    CAPTURE(form.opcode);
    const TemporaryDirectory directory;
    const Instruction instruction = on_newest_target(form);
    const Arrays inputs = random_inputs(form, cases, random);
    const Outcome outcome = run_command(command_line(instruction, inputs, directory));
    REQUIRE(outcome.err.empty());
    REQUIRE(outcome.status == 0);
    CHECK(outcome.out.empty());
    const NpyArray result = read_npy(directory.path("out.npy")), wanted = expected(instruction, inputs, cases);
    CHECK(describe(result) == describe(wanted));
    CHECK(result.bytes == wanted.bytes);
  }
}

TEST_CASE("exec gives the same bytes with any number of jobs, and by the reference", "[tools]") {
  std::mt19937 random(3);
  // Of so many cases files are read in several pieces.
  const std::pair<const char*, std::size_t> forms_and_cases[] = {{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 2500},
                                                                 {"mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", 1000},
                                                                 {"stmatrix.sync.aligned.m8n8.x4.trans.shared.b16", 2500},
                                                                 {"movmatrix.sync.aligned.m8n8.trans.b16", 100}};
  for (const auto& [opcode, cases] : forms_and_cases) {
    CAPTURE(opcode);
    const TemporaryDirectory directory;
    const Instruction instruction(opcode, "sm_90");
    const Arrays inputs = random_inputs(instruction.form(), cases, random);
    const NpyArray wanted = expected(instruction, inputs, cases);
    const std::vector<std::string> line = command_line(instruction, inputs, directory);
    for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
             {}, {"--jobs", "1"}, {"--jobs", "3"}, {"--jobs", "128"}, {"--reference"}, {"--reference", "--jobs", "2"}}) {
      std::vector<std::string> arguments = line;
      arguments.insert(arguments.end(), more.begin(), more.end());
      REQUIRE(run_command(arguments).status == 0);
      CHECK(read_npy(directory.path("out.npy")).bytes == wanted.bytes);
    }
  }
}

TEST_CASE("exec of no cases writes an empty result of the right shape", "[tools]") {
  std::mt19937 random(4);
  for (const char* opcode : {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "ldmatrix.sync.aligned.m8n8.x2.shared.b16",
                             "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16"}) {
    const TemporaryDirectory directory;
    const Instruction instruction(opcode, "sm_90");
    const Arrays inputs = random_inputs(instruction.form(), 0, random);
    REQUIRE(run_command(command_line(instruction, inputs, directory)).status == 0);
    CHECK(describe(read_npy(directory.path("out.npy"))) == describe(expected(instruction, inputs, 0)));
  }
}

TEST_CASE("exec may overwrite an input, and follows a link", "[tools]") {
  const TemporaryDirectory directory;
  std::mt19937 random(5);
  const Instruction instruction("movmatrix.sync.aligned.m8n8.trans.b16", "sm_75");
  const Arrays inputs = random_inputs(instruction.form(), 3, random);
  write_npy(directory.path("a.npy"), inputs.at("a"));
  std::filesystem::create_symlink(directory.path("a.npy"), directory.path("link.npy"));
  const Outcome outcome = run_command(
      {"exec", instruction.form().opcode, "--target", "sm_75", "--a", directory.path("a.npy"), "--d", directory.path("link.npy")});
  REQUIRE(outcome.status == 0);
  CHECK(read_npy(directory.path("a.npy")).bytes == expected(instruction, inputs, 3).bytes);
  CHECK(std::filesystem::is_symlink(directory.path("link.npy")));
  CHECK(directory.files() == std::vector<std::string>{"a.npy", "link.npy"});
}

TEST_CASE("exec names the lowest case that traps, wherever in the file, and leaves an old result alone", "[tools]") {
  constexpr std::size_t cases = 5000;
  const TemporaryDirectory directory;
  std::mt19937 random(7);
  const Instruction instruction("ldmatrix.sync.aligned.m8n8.x1.shared.b16", "sm_90");
  Arrays inputs = random_inputs(instruction.form(), cases, random);
  for (const std::size_t bad : {4999U, 4321U, 4320U, 1234U}) {
    inputs.at("p").as<std::uint32_t>()[bad * warp_size + 3] = 8;
    const std::vector<std::string> line = command_line(instruction, inputs, directory);
    write_text(directory.path("out.npy"), "old");
    for (const char* jobs : {"1", "2", "7", "100"}) {
      std::vector<std::string> arguments = line;
      arguments.insert(arguments.end(), {"--jobs", jobs});
      const Outcome outcome = run_command(arguments);
      CHECK(outcome.status == 1);
      CHECK(outcome.err == "warpmat: error: case " + std::to_string(bad) + ": lane 3, address 0x8: the row must be 16-byte aligned\n");
      CHECK(read_text(directory.path("out.npy")) == "old");
      CHECK(directory.files() == std::vector<std::string>{"out.npy", "p.npy", "shared.npy"});
    }
  }
}

}  // namespace
}  // namespace warpmat::exec_test
