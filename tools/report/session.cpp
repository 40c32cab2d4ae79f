#include "tools/report/session.h"

#include <fmt/core.h>

#include "tools/report/ptx_file.h"

namespace warpmat {

Session::Session(const SessionOptions& options, std::string_view target)
    : program(read_program(options.file, target)),
      layouts(parse_layouts(program, options.layouts)),
      inputs(assignments(program, options.in, "in", "SOURCE", layouts)),
      warp(program, options.shared_bytes) {}

std::vector<WarpPlace> Session::places(const std::vector<std::string>& texts) const {
  std::vector<WarpPlace> found;
  for (const std::string& text : texts) found.emplace_back(program, text, layouts);
  return found;
}

void Session::fill() {
  for (const bool registers : {true, false})
    for (const Assignment& input : inputs)
      if ((input.place.kind() == WarpPlace::Kind::registers) == registers)
        filled.push_back({input.place.text(), input.place.fill(warp, input.what)});
}

std::string session_text(const SessionOptions& options, const std::string& target) {
  std::string text = options.file + " ";
  if (!target.empty()) text += fmt::format("--target {} ", target);
  for (const std::string& in : options.in) text += fmt::format("--in '{}' ", in);
  for (const std::string& layout : options.layouts) text += fmt::format("--layout '{}' ", layout);
  if (options.shared_bytes != 0) text += fmt::format("--shared-bytes {} ", options.shared_bytes);
  return text;
}

}  // namespace warpmat
