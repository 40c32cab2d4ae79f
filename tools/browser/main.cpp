// The questions of the page on a command line: one of standard input's lines is a question, and a line of standard output its answer.

#include <cstdio>
#include <iostream>
#include <string>

#include "tools/browser/ask.h"

int main() {
  for (std::string question; std::getline(std::cin, question);) std::puts(warpmat::ask(question).c_str());
  return 0;
}
