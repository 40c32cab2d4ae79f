// The C interface of programs.

#include <algorithm>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/core.h>

#include <warpmat/c/entry.h>
#include <warpmat/c/instruction.h>
#include <warpmat/c_observer.h>
#include <warpmat/c_program/handles.h>
#include <warpmat/program.h>

using namespace warpmat;
using namespace warpmat::c;

namespace {

/// `error` with the line of `statement` in its message.
warpmat_error at_line(warpmat_error error, const Statement& statement) {
  const warpmat_error named = plain_error(error.status, fmt::format("line {}: {}", statement.location().line, error.message));
  std::copy(std::begin(named.message), std::end(named.message), error.message);
  error.line = statement.location().line;
  error.column = statement.location().column;
  return error;
}

/// Fills statement_names.
void name_statements(warpmat_program& of) {
  std::size_t matrix = 0;
  for (const Statement& statement : of.program.statements())
    of.statement_names.push_back(statement.matrix() == nullptr ? "" : statement_name(of.program, matrix++));
}

/// Executes one statement. It throws only exceptions that report_exception handles.
warpmat_status execute(Warp& warp, const Statement& statement, const ExecutionOptions& options, warpmat_error* error) {
  try {
    warp.execute(statement, options);
    return WARPMAT_OK;
  } catch (const Trap& trap) {
    return report(error, at_line(trap_error(trap), statement));
  }
}

}  // namespace

warpmat_program* warpmat_program_parse(const char* text, const char* target, warpmat_error* error) {
  return made(error, [&] {
    need(text, "the text");
    auto program = std::make_unique<warpmat_program>(parse(text, target == nullptr ? std::string_view() : target));
    name_statements(*program);
    return program.release();
  });
}

void warpmat_program_free(warpmat_program* program) {
  delete program;
}

int warpmat_program_register_count(const warpmat_program* program) {
  return program == nullptr ? 0 : static_cast<int>(program->program.registers().size());
}

const char* warpmat_program_register_name(const warpmat_program* program, int index) {
  if (index < 0 || index >= warpmat_program_register_count(program)) return nullptr;
  return program->program.registers()[static_cast<std::size_t>(index)].name.c_str();
}

warpmat_warp* warpmat_warp_create(const warpmat_program* program, size_t shared_bytes, warpmat_error* error) {
  return warpmat_warp_create_at(program, shared_bytes, 0, error);
}

warpmat_warp* warpmat_warp_create_at(const warpmat_program* program, size_t shared_bytes, uint32_t shared_base, warpmat_error* error) {
  return made(error, [&] {
    need(program, "the program");
    for (const SharedVariable& variable : program->program.variables())
      if (shared_base % variable.alignment != 0)
        throw std::invalid_argument(fmt::format("shared memory at {:#x} does not align variable '{}', which needs a multiple of {}",
                                                shared_base, variable.name, variable.alignment));
    return new warpmat_warp{Warp(program->program, shared_bytes, shared_base)};
  });
}

void warpmat_warp_free(warpmat_warp* warp) {
  if (warp != nullptr && !warp->observers.empty()) warpmat_warp_observe(warp, nullptr, 0, nullptr);
  delete warp;
}

uint32_t* warpmat_warp_register(warpmat_warp* warp, const char* name, int word) {
  if (warp == nullptr || name == nullptr) return nullptr;
  try {
    return warp->warp.reg(name, word).data();
  } catch (...) {
    return nullptr;
  }
}

uint8_t* warpmat_warp_shared(warpmat_warp* warp, size_t* bytes) {
  if (bytes != nullptr) *bytes = warp == nullptr ? 0 : warp->warp.shared().size();
  return warp == nullptr ? nullptr : warp->warp.shared().bytes().data();
}

warpmat_status warpmat_warp_run(warpmat_warp* warp, unsigned flags, warpmat_error* error) {
  try {
    if (warp == nullptr) return report(error, WARPMAT_BAD_ARGUMENT, "the warp is null");
    if ((flags & ~(WARPMAT_REFERENCE_PATH | WARPMAT_UNDEFINED_AS_HARDWARE)) != 0)
      return report(error, WARPMAT_BAD_ARGUMENT, "unknown flags");
    const ExecutionOptions options{(flags & WARPMAT_REFERENCE_PATH) != 0 ? Path::reference : Path::fast,
                                   (flags & WARPMAT_UNDEFINED_AS_HARDWARE) != 0 ? Undefined::hardware : Undefined::trap};
    for (const Statement& statement : warp->warp.program().statements())
      if (const warpmat_status status = execute(warp->warp, statement, options, error); status != WARPMAT_OK) return status;
    return WARPMAT_OK;
  } catch (...) {
    return report_exception(error);
  }
}

// ---- Statements

namespace {

/// Statement `index`; nullptr for other numbers.
const Statement* numbered(const Program& program, int index) {
  const std::vector<Statement>& statements = program.statements();
  return index >= 0 && static_cast<std::size_t>(index) < statements.size() ? &statements[static_cast<std::size_t>(index)] : nullptr;
}

}  // namespace

int warpmat_program_statement_count(const warpmat_program* program) {
  return program == nullptr ? 0 : static_cast<int>(program->program.statements().size());
}

warpmat_status warpmat_program_statement(const warpmat_program* program, int index, warpmat_statement_info* info) {
  const Statement* const statement = program == nullptr ? nullptr : numbered(program->program, index);
  if (statement == nullptr || info == nullptr || !WARPMAT_HAS_SIZE(info, instruction)) return WARPMAT_BAD_ARGUMENT;
  return done(nullptr, [&] {
    warpmat_statement_info all{info->size, statement->location().line, statement->location().column, nullptr, nullptr, nullptr};
    all.opcode = statement->instruction().opcode().data();  // ends with a null character
    if (const Instruction* const matrix = statement->matrix()) {
      all.name = program->statement_names[static_cast<std::size_t>(index)].c_str();
      all.instruction = &persistent_instruction(matrix->form(), matrix->target());
    }
    copy_out(all, info);
  });
}

int warpmat_program_find_statement(const warpmat_program* program, const char* name, warpmat_error* error) {
  int index = -1;
  done(error, [&] {
    need(program, "the program");
    need(name, "the name");
    const Statement* const found = program->program.matrix_statements()[find_statement(program->program, name)];
    index = static_cast<int>(found - program->program.statements().data());
  });
  return index;
}

int warpmat_program_variable_count(const warpmat_program* program) {
  return program == nullptr ? 0 : static_cast<int>(program->program.variables().size());
}

warpmat_status warpmat_program_variable(const warpmat_program* program, int index, warpmat_variable_info* info) {
  if (index < 0 || index >= warpmat_program_variable_count(program)) return WARPMAT_BAD_ARGUMENT;
  if (info == nullptr || !WARPMAT_HAS_SIZE(info, bytes)) return WARPMAT_BAD_ARGUMENT;
  const SharedVariable& variable = program->program.variables()[static_cast<std::size_t>(index)];
  copy_out(warpmat_variable_info{info->size, variable.name.c_str(), variable.type->name.data(),
                                 static_cast<std::uint64_t>(variable.address), static_cast<std::uint64_t>(variable.bytes())},
           info);
  return WARPMAT_OK;
}

const char* warpmat_program_text(const warpmat_program* program, warpmat_error* error) {
  return made(error, [&] {
    need(program, "the program");
    const std::string* text = program->text.load();
    if (text == nullptr) {
      auto printed = std::make_unique<const std::string>(print(program->program));
      if (program->text.compare_exchange_strong(text, printed.get())) text = printed.release();  // else another thread was first
    }
    return text->c_str();
  });
}

warpmat_status warpmat_warp_step(warpmat_warp* warp, int statement, unsigned flags, warpmat_error* error) {
  warpmat_status status = WARPMAT_OK;
  const warpmat_status called = done(error, [&] {
    need(warp, "the warp");
    need_known_flags(flags, WARPMAT_REFERENCE_PATH | WARPMAT_UNDEFINED_AS_HARDWARE);
    const Statement* const found = numbered(warp->warp.program(), statement);
    if (found == nullptr)
      throw std::invalid_argument(
          fmt::format("the program has {} statements; number {} does not exist", warp->warp.program().statements().size(), statement));
    status = execute(warp->warp, *found, execution_of(flags), error);
  });
  return called != WARPMAT_OK ? called : status;
}

uint32_t warpmat_warp_executing(const warpmat_warp* warp, int statement) {
  const Statement* const found = warp == nullptr ? nullptr : numbered(warp->warp.program(), statement);
  return found == nullptr ? 0 : warp->warp.executing(*found);
}

const uint64_t* warpmat_warp_addresses_read(const warpmat_warp* warp, int statement) {
  const Statement* const found = warp == nullptr ? nullptr : numbered(warp->warp.program(), statement);
  const auto* const addresses = found == nullptr ? nullptr : warp->warp.addresses_read(*found);
  return addresses == nullptr ? nullptr : addresses->data();
}
