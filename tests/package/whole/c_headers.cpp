// The C interface in a C++ that is older than the library's.

#include <warpmat/c_explain.h>
#include <warpmat/c_observer.h>

#if __cplusplus >= 202002L
#error "this file is to be compiled as C++14 and C++17"
#endif

int count_statements(const char* text);

/// The statements of a program; -1 if it is none.
int count_statements(const char* text) {
  warpmat_program* const program = warpmat_program_parse(text, "sm_80", nullptr);
  const int count = program == nullptr ? -1 : warpmat_program_statement_count(program);
  warpmat_program_free(program);
  return count;
}
