#include <warpmat/lower/parameter_text.h>

#include <fmt/core.h>

#include <warpmat/ptx/text/readable_name.h>

namespace warpmat::code {

std::string parameter_text(const Program& program) {
  std::string text;
  for (const Parameter& p : program.parameters)
    text += fmt::format("{}{} ({})", text.empty() ? ": " : ", ", readable_name(p.name),
                        p.type == "b8" && p.bytes != 1 ? fmt::format("{} bytes", p.bytes) : p.type);
  return text;
}

}  // namespace warpmat::code
