#pragma once

#include "test.h"

namespace warpmat {

/// `text` with its escapes \n, \t, \\ and \xNN as the bytes that they stand for.
inline std::string unescaped(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
    } else if (text[++i] == 'x') {
      bytes += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      bytes += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i];
    }
  }
  return bytes;
}

/// Checks the messages of a file of tests/golden/library: below each input stands, two columns in, what `output(input)` gives for it, a
/// line or more. Returns the number of inputs. With WARPMAT_UPDATE_GOLDEN in the environment the file is written anew.
template <typename Output>
int check_golden(const std::string& file, Output output) {
  const std::string path = source_path("tests/golden/library/" + file);
  std::ifstream in(path);
  std::string text, input, wanted;
  int inputs = 0;
  const auto check = [&] {
    if (inputs++ == 0) return;
    std::istringstream lines(output(unescaped(input)));
    std::string got;
    for (std::string line; std::getline(lines, line);) got += "  " + line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    CAPTURE(input);
    if (std::getenv("WARPMAT_UPDATE_GOLDEN") == nullptr) CHECK(got == wanted);
    text += input + '\n' + got;
    wanted.clear();
  };
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("  ")) {
      wanted += line + '\n';
    } else {
      check();
      input = line;
    }
  }
  check();
  if (std::getenv("WARPMAT_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  return inputs - 1;
}

}  // namespace warpmat
