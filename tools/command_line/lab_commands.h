#pragma once

#include <string_view>

#include "tools/command_line/command.h"

namespace warpmat {

/// A subcommand of warpmat-lab. `warpmat` lists it too, and hands its command line on.
struct LabCommand {
  const char* name;
  const char* summary;
};

inline constexpr LabCommand lab_commands[] = {
    {"diff", "Run a program, or every instruction, on a GPU too and compare"},
    {"fuzz", "Run random programs on a GPU too and compare"},
    {"record", "Write down what a GPU makes of generated operands"},
    {"replay", "Compare recorded answers of GPUs with the emulator"},
    {"exhaust", "Compare the answers to all operands with a GPU's recorded digests"},
    {"mutants", "Hold mutants of the tables against the recorded answers of a card"},
    {"distinguish", "Find operands on which two models of the arithmetic differ, as a program for a card"},
    {"evidence", "Write the page of evidence from sweeps, or say what recorded answers prove"},
    {"support", "Write the page of support: every form, where it exists and how its bits are known"},
    {"coverage", "Which regions of the arithmetic the operand classes reach, form by form"},
};

/// The row of that name, or null.
inline const LabCommand* find_lab_command(std::string_view name) {
  for (const LabCommand& command : lab_commands)
    if (command.name == name) return &command;
  return nullptr;
}

/// Adds the subcommand of that row to the application of warpmat-lab. Precondition: there is such a row.
inline Command add_lab_subcommand(Command app, std::string_view name) {
  const LabCommand* const command = find_lab_command(name);
  return app.add_subcommand(command->name, command->summary);
}

}  // namespace warpmat
