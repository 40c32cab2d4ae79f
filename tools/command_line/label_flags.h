#pragma once

#include <fmt/core.h>

#include <string>

#include "tools/command_line/command.h"

#include "tools/report/evidence_line.h"

namespace warpmat {

/// Adds --quiet and --require to a command that executes. `options` must outlive the parsing.
inline void add_label_flags(Command command, LabelOptions& options) {
  command.add_flag("--quiet", options.quiet, "Do not say on standard error how the bits are known");
  command
      .add_option(
          "--require", options.require,
          "Refuse what is known less well: measured, replayed, published or assumed, from strong to weak; specified is never refused")
      .type_name("LABEL")
      .check([](const std::string& text) {
        return find_label(text) ? std::string()
                                : fmt::format("'{}' is no label: there are measured, replayed, published and assumed", text);
      });
}

}  // namespace warpmat
