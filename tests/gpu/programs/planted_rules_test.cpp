
#include <warpmat/instruction.h>
#include <warpmat/ir/code.h>
#include <warpmat/launch.h>
#include <warpmat/machine/internals.h>

#include "gpu/models/variant.h"
#include "gpu/programs/compared_launch.h"
#include "test.h"

// Wrong rules, planted into the kernels that a recorded archive executes: a comparison with the GPU's answers must name the elements.

namespace warpmat::planted_rules_test {
namespace {

using namespace warpmat::programs;

// Private members, so that the library needs no hook: an explicit instantiation may name them.
template <typename Tag, auto Member>
struct Private {
  friend auto pointer_to(Tag) { return Member; }
};
struct ProgramOfKernel {
  friend auto pointer_to(ProgramOfKernel);
};
struct LoweringOfInstruction {
  friend auto pointer_to(LoweringOfInstruction);
};
struct FastPathOfInstruction {
  friend auto pointer_to(FastPathOfInstruction);
};
template struct Private<ProgramOfKernel, &Kernel::program_>;
template struct Private<LoweringOfInstruction, &Instruction::lowering_>;
template struct Private<FastPathOfInstruction, &Instruction::fast_>;

using Plant = std::function<void(code::Program&)>;

class PlantedComparer : public LaunchComparer {
 public:
  PlantedComparer(const ArchiveReader& archive, Plant plant)
      : LaunchComparer(archive, {.target = "", .jobs = 1, .most_time = std::chrono::seconds(60), .stop = {}}), plant_(std::move(plant)) {}

 protected:
  Kernel make_kernel(const Module& module, const RecordedLaunch& launch, const std::string& target) const override {
    Kernel kernel = LaunchComparer::make_kernel(module, launch, target);
    const auto program = std::make_shared<code::Program>(program_of(kernel));
    plant_(*program);
    kernel.*pointer_to(ProgramOfKernel()) = program;
    return kernel;
  }

 private:
  Plant plant_;
};

/// What each launch of an archive gives.
std::vector<programs::Comparison> replay(const char* archive, const Plant& plant) {
  const ArchiveReader reader(source_path(std::string("tests/vectors/programs/") + archive));
  PlantedComparer comparer(reader, plant);
  std::vector<programs::Comparison> comparisons;
  std::string target;
  for (std::size_t i = 0; i < reader.lines(); ++i) {
    const ArchiveLine line = parse_line(reader.line(i));
    if (line.program) target = line.program->target;
    if (line.launch) comparisons.push_back(comparer.compare(*line.launch, target));
  }
  return comparisons;
}

/// Executes every matrix product with a variant of its model: "table:floor_f16=none".
class PlantedModel {
 public:
  explicit PlantedModel(const char* text) : variant_(parse_variant(text)) {}
  void operator()(code::Program& program) {
    for (code::Payload& payload : program.payloads) {
      auto* const matrix = std::get_if<code::Matrix>(&payload);
      if (matrix == nullptr) continue;
      Instruction& instruction = matrix->instruction;
      lowerings_.push_back(std::make_shared<VariedLowering>(instruction.form(), instruction.lowering(), variant_));
      instruction.*pointer_to(LoweringOfInstruction()) = &lowerings_.back()->lowering();
      instruction.*pointer_to(FastPathOfInstruction()) = nullptr;
      matrix->run = 0;  // kernels of consecutive products have the right model
    }
  }

 private:
  ModelVariant variant_;
  std::vector<std::shared_ptr<VariedLowering>> lowerings_;
};

struct FoundElement {
  std::uint64_t index, gpu, emulator;
};

void check_found(const programs::Comparison& comparison, const char* type, const std::vector<FoundElement>& elements) {
  CHECK(comparison.not_compared == "");
  REQUIRE(comparison.buffers.size() == 1);
  const BufferDifference& buffer = comparison.buffers.front();
  CHECK(buffer.parameter == "parameter 0");
  CHECK(buffer.type.ptx == type);
  CHECK(buffer.elements == elements.size());
  for (std::size_t i = 0; i < std::min(elements.size(), buffer.first.size()); ++i) {
    CHECK(buffer.first[i].index == elements[i].index);
    CHECK(buffer.first[i].gpu == elements[i].gpu);
    CHECK(buffer.first[i].emulator == elements[i].emulator);
  }
}

TEST_CASE("a wrong floor of f16 is found in a recorded program, to the element", "[programs]") {
  // Element i has a product of 2^-24 · 2^(i-24) beside a tie. The unit keeps bits down to 2^-46, that of element 2.
  check_found(replay("decided.launches", PlantedModel("table:floor_f16=none")).at(0), "u16", {{0, 0, 1}, {1, 0, 1}});
  check_found(replay("decided.launches", PlantedModel("table:floor_f16=-22")).at(0), "u16", {{1, 0, 1}});
  check_found(replay("decided.launches", PlantedModel("table:floor_f16=-20")).at(0), "u16", {{2, 1, 0}});
  check_found(replay("decided.launches", PlantedModel("table:fraction_bits=24")).at(0), "u16", {{2, 1, 0}});
  CHECK(replay("decided.launches", PlantedModel("table:floor_f16=-21")).at(0).different == 0);
}

TEST_CASE("a wrong constant of a folded instruction is found in a recorded program, to the element", "[programs]") {
  struct Constant {
    std::uint64_t index, folded, computed;  ///< by ptxas, by the GPU from the same operand in a register
  };
  constexpr Constant constants[] = {{0, 0x3fb504f3, 0x3fb504f2},   // rsqrt of 0.5
                                    {4, 0x404fefc6, 0x404fefc7},   // ex2 of 1.7
                                    {7, 0x3f0a5140, 0x3f0a5141}};  // cos of 1
  for (const Constant& constant : constants) {
    const auto both = [](std::uint64_t bits) { return bits << 32 | bits; };  // a constant is there for each lane
    const auto plant = [&](code::Program& program) {
      std::ranges::replace(program.constants, both(constant.folded), both(constant.computed));
    };
    check_found(replay("decided.launches", plant).at(1), "f32", {{constant.index, constant.folded, constant.computed}});
  }
  CHECK(replay("decided.launches", [](code::Program&) {}).at(1).different == 0);
}

}  // namespace
}  // namespace warpmat::planted_rules_test
