#pragma once

#include <warpmat/execute/instruction.h>
#include <warpmat/machine/launch.h>
#include <warpmat/ptx/program.h>
#include <warpmat/tables/label.h>

#include <string>
#include <vector>

namespace warpmat {

/// What the commands that execute are told about labels.
struct LabelOptions {
  bool quiet = false;
  std::string require;  ///< a label's name, or empty
};

/// A matrix instruction that ran, and how its bits are known.
struct Labelled {
  std::string opcode;
  const Lowering* lowering = nullptr;
  std::string remark;          ///< of operands about which less is known: "; terms far below the largest: published"
  std::uint64_t compared = 0;  ///< results of this hardware that were compared, where the label is `measured`
};

Labelled labelled(const Instruction& instruction);

/// The matrix instructions of a program or a kernel, wgmma among them.
std::vector<Labelled> labelled(const Program& program);
std::vector<Labelled> labelled(const Kernel& kernel);

/// One line about the bits of what ran: the hardware, the weakest label of `instructions`, its reason, and how many results stand behind
/// it. "sm_80: replayed: mma... as A100, arXiv 2512.07004; ...". Without instructions what the ISA fixes alone has run.
std::string evidence_line(std::string_view target, const std::vector<Labelled>& instructions);

/// Throws std::runtime_error where the weakest label of `instructions` is weaker than `options` require, with the line.
void require_labels(const LabelOptions& options, std::string_view target, const std::vector<Labelled>& instructions);

/// Prints the line to standard error, unless `options` are quiet.
void print_evidence(const LabelOptions& options, std::string_view target, const std::vector<Labelled>& instructions);

/// How many results of an H200 this project has compared, wgmma's among them: the sum of the page docs/evidence.md.
inline constexpr std::uint64_t compared_on_h200 = 27'625'238'528;

}  // namespace warpmat
