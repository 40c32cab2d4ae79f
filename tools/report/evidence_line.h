#pragma once

#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/launch.h>
#include <warpmat/program.h>
#include <warpmat/wgmma.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpmat {

/// The label options of commands that execute.
struct LabelOptions {
  bool quiet = false;
  std::string require;  ///< a label's name, or empty
};

/// Something that ran, with the evidence for its bits.
struct Labelled {
  std::string what;  ///< an opcode, "%clock64", or "contraction of mul and add"
  Label label = Label::assumed;
  std::string source;  ///< who says so
  std::string remark;  ///< of operands about which less is known: "NaN payloads: assumed"
  std::string behind;  ///< how many results stand behind the label: "1,000 results of its formats there, none differs"; empty where none do
  bool choice = false;  ///< no arithmetic, but a choice or a number of the hardware: which lane is elected, a clock
};

Labelled labelled(const Instruction& instruction);
Labelled labelled(const WgmmaForm& form);

/// The instructions of a program or a kernel, each once: matrix instructions including wgmma, scalar and machine instructions, special
/// registers, and for a kernel ptxas's contraction.
std::vector<Labelled> labelled(const Program& program);
std::vector<Labelled> labelled(const Kernel& kernel);
std::vector<Labelled> labelled(const code::Program& program);

/// The same, and what only the run shows: shuffles that read lanes which take no part.
std::vector<Labelled> labelled(const Kernel& kernel, const LaunchResult& result);

/// One line about the bits of what ran: how many instructions have each label, then what is weaker than the ISA's word, why, and what of
/// an instruction is open; or that nothing is. Choices of the hardware are not counted and follow. "sm_90a (H100): 23 instructions measured
/// on the card, 12 specified by the PTX ISA; nothing weaker". Of one instruction alone: its label, source and number of compared results.
std::string evidence_line(std::string_view target, const std::vector<Labelled>& all);

/// Throws std::runtime_error that names the instructions of `all` with a weaker label than `options` require. If the ISA fixes all bits,
/// every requirement is satisfied.
void require_labels(const LabelOptions& options, std::string_view target, const std::vector<Labelled>& all);

/// Prints the line with `remark` at its end to standard error, unless `options` are quiet.
void print_evidence(const LabelOptions& options, std::string_view target, const std::vector<Labelled>& all, std::string_view remark = "");

}  // namespace warpmat
