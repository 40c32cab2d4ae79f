// The labels of the lowering table and the data that they rest on belong together: `measured` has recorded answers of the hardware in
// tests/vectors/sm_XX, `replayed` has published outputs in tests/vectors/published or tests/vectors/printed.

#include <warpmat/forms.h>

#include "gpu/recordings/published.h"
#include "gpu/recordings/vectors.h"
#include "test.h"

namespace warpmat::evidence_labels_test {
namespace {

const std::filesystem::path vectors = source_path("tests/vectors");

std::set<Hardware> all_hardware() {
  std::set<Hardware> all;
  for (const Target& target : targets()) all.insert(target.hardware);
  return all;
}

/// "sm_100" of the compute capability "10.0".
std::string hardware_name(std::string capability) {
  std::erase(capability, '.');
  return "sm_" + capability;
}

/// The opcodes with answers in the files of a hardware.
std::set<std::string> recorded_forms(Hardware hardware) {
  std::set<std::string> opcodes;
  const std::filesystem::path directory = vectors / name(hardware);
  if (!std::filesystem::is_directory(directory)) return opcodes;
  for (const std::filesystem::path& path : recording_files(directory)) {
    const Recording recording = read_recording(path);
    CAPTURE(path);
    CHECK(hardware_name(recording.provenance.compute_capability) == name(hardware));
    CHECK(find_target(recording.provenance.target)->hardware == hardware);
    REQUIRE(!recording.answers.empty());
    for (const Answers& answers : recording.answers) opcodes.insert(answers.opcode);
  }
  return opcodes;
}

TEST_CASE("a form is measured on a hardware if, and only if, its recorded answers are here", "[gpu][evidence]") {
  std::size_t measured = 0;
  for (const Hardware hardware : all_hardware()) {
    const std::set<std::string> recorded = recorded_forms(hardware);
    for (const Form& form : forms()) {
      const Lowering* lowering = find_lowering(form, hardware);
      const bool labelled = lowering != nullptr && lowering->evidence == Evidence::measured;
      if (labelled == recorded.contains(form.opcode)) continue;
      FAIL_CHECK(fmt::format("{} on {}: {}", form.opcode, name(hardware),
                             labelled ? "measured, but there are no answers" : "answers, but not measured"));
    }
    for (const std::string& opcode : recorded) CHECK(find_form(opcode) != nullptr);
    measured += recorded.size();
  }
  CHECK(measured > 0);
}

TEST_CASE("every directory of answers is one of a hardware", "[gpu][evidence]") {
  std::set<std::string> known{"published", "printed", "cute", "banks", "absent_lanes", "programs", "errors", "textures"};
  for (const Hardware hardware : all_hardware()) known.insert(std::string(name(hardware)));
  for (const auto& entry : std::filesystem::directory_iterator(vectors))
    if (entry.is_directory()) CHECK((known.contains(entry.path().filename().string()) ? "" : entry.path().string()) == "");
}

TEST_CASE("a row is replayed on a hardware if, and only if, published outputs of a form that it serves are here", "[gpu][evidence]") {
  std::set<std::pair<const Lowering*, Hardware>> published, labelled;
  for (const char* directory : {"published", "printed"})
    for (const PublishedProducts& products : read_published(vectors / directory)) {
      const Lowering* lowering = find_lowering(*products.form, products.target->hardware);
      if (lowering->evidence == Evidence::measured) continue;  // compared by this project too
      published.emplace(lowering, products.target->hardware);
    }
  for (const Hardware hardware : all_hardware())
    for (const Form& form : forms())
      if (const Lowering* lowering = find_lowering(form, hardware); lowering != nullptr && lowering->evidence == Evidence::replayed)
        labelled.emplace(lowering, hardware);
  CHECK(!labelled.empty());
  CHECK((published == labelled));
}

}  // namespace
}  // namespace warpmat::evidence_labels_test
