#pragma once

#include <utility>

#include <warpmat/program.h>

namespace warpmat {

/// What Program and Statement keep from their users: the resolver writes it, Warp executes it.
struct ListInternals {
  using ProgramParts = Program::Parts;
  using StatementParts = Statement::Parts;

  static Program empty_program() { return {}; }
  static Statement statement(StatementParts parts) { return Statement(std::move(parts)); }
  static ProgramParts& parts(Program& program) { return program.parts_; }
  static const ProgramParts& parts(const Program& program) { return program.parts_; }
  static StatementParts& parts(Statement& statement) { return statement.parts_; }
  static const StatementParts& parts(const Statement& statement) { return statement.parts_; }
};

using ProgramParts = ListInternals::ProgramParts;
using StatementParts = ListInternals::StatementParts;

}  // namespace warpmat
