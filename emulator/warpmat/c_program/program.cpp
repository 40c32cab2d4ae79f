// The C interface of programs.

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include <fmt/core.h>

#include <warpmat/c/entry.h>
#include <warpmat/c_program.h>
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
  try {
    if (text == nullptr) {
      report(error, WARPMAT_BAD_ARGUMENT, "the text is null");
      return nullptr;
    }
    return new warpmat_program{parse(text, target == nullptr ? std::string_view() : target)};
  } catch (const SyntaxError& syntax) {
    report(error, syntax_error(syntax));
  } catch (const std::invalid_argument& wrong) {
    report(error, WARPMAT_UNKNOWN_TARGET, wrong.what());
  } catch (...) {
    report_exception(error);
  }
  return nullptr;
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
  try {
    if (program == nullptr) {
      report(error, WARPMAT_BAD_ARGUMENT, "the program is null");
      return nullptr;
    }
    return new warpmat_warp{Warp(program->program, shared_bytes)};
  } catch (const std::length_error&) {
    report(error, WARPMAT_NO_MEMORY, "out of memory");
  } catch (...) {
    report_exception(error);
  }
  return nullptr;
}

void warpmat_warp_free(warpmat_warp* warp) {
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
