#pragma once

#include <span>
#include <string_view>

#include "tools/command_line/command.h"

namespace warpmat {

/// A subcommand of another program, to which `warpmat` hands its command line on.
struct HandedCommand {
  const char* name;
  const char* summary;
};

/// A program beside `warpmat` with subcommands of its own.
struct HandingProgram {
  const char* name;
  const char* where;  ///< how to get it, for a message
  std::span<const HandedCommand> commands;
};

inline constexpr HandedCommand gpu_commands[] = {
    {"diff", "Run a program, or every instruction, on a GPU too and compare"},
    {"record", "Write down what a GPU makes of generated operands"},
    {"replay", "Compare recorded answers of GPUs with the emulator"},
    {"evidence", "Write the page of evidence from sweeps, or say what recorded answers prove"},
    {"merge", "Add up the counts of runs that several machines shared"},
    {"support", "Write the page of support: every form, where it exists and how its bits are known"},
};

inline constexpr HandedCommand lab_commands[] = {
    {"fuzz", "Run random programs on a GPU too and compare"},
    {"constants", "Run scalar instructions with constant operands on a GPU too and compare"},
    {"device", "Compare the header for GPUs with a GPU and with the CPU"},
    {"exhaust", "Compare the answers to all operands with a GPU's recorded digests"},
    {"mutants", "Hold mutants of the tables against recorded answers, or against published products"},
    {"distinguish", "Find operands on which two models of the arithmetic differ, as a program for a card"},
    {"questions", "Write a program that asks a B200 about tcgen05"},
    {"coverage", "Which regions of the arithmetic the operand classes reach, form by form"},
};

/// `warpmat --help` lists the first one's subcommands alone: the laboratory is for those who change warpmat.
inline constexpr HandingProgram handing_programs[] = {
    {"warpmat-gpu", "install the package warpmat-gpu, or in the source tree: tools/build release warpmat_gpu", gpu_commands},
    {"warpmat-lab", "build it in the source tree: tools/build lab warpmat_lab", lab_commands},
};

/// The program that has a subcommand of that name, or null.
inline const HandingProgram* find_handing_program(std::string_view subcommand) {
  for (const HandingProgram& program : handing_programs)
    for (const HandedCommand& command : program.commands)
      if (command.name == subcommand) return &program;
  return nullptr;
}

/// Adds the subcommand of that name to the application of its program. Precondition: there is such a row.
inline Command add_handed_subcommand(Command app, std::string_view name) {
  for (const HandedCommand& command : find_handing_program(name)->commands)
    if (command.name == name) return app.add_subcommand(command.name, command.summary);
  return app;
}

}  // namespace warpmat
