// What the page calls: it writes a question to memory from malloc, and reads the answer until the next call.

#include <cstddef>
#include <cstdint>
#include <string>

#include "tools/browser/ask.h"

namespace {

std::string& last_answer() {
  static std::string answer;
  return answer;
}

}  // namespace

extern "C" {

/// The bytes of the answer, in UTF-8.
__attribute__((export_name("warpmat_ask"))) const char* warpmat_ask(const char* question, std::size_t bytes) {
  last_answer() = warpmat::ask(std::string(question, bytes));
  return last_answer().data();
}
__attribute__((export_name("warpmat_answer_bytes"))) std::size_t warpmat_answer_bytes() {
  return last_answer().size();
}
}
