#pragma once

#include <warpmat/ptx/syntax/module.h>

#include <string>
#include <vector>

namespace warpmat {

/// A module's text in which .loc gives each statement of a function's body a line of its own, so that machine code names statements. The
/// text's own .file and .loc are left out.
struct NumberedModule {
  struct Line {
    const syntax::Statement* statement;
    const syntax::Function* function;
    bool probe = false;  ///< a store of the statement's result
  };

  std::string text;
  std::vector<Line> lines;  ///< line N is lines[N - 1]

  const syntax::Statement* at_line(int line) const {
    return line > 0 && static_cast<std::size_t>(line) <= lines.size() ? lines[static_cast<std::size_t>(line) - 1].statement : nullptr;
  }
};

/// Behind the statements for which `probed` holds, where it is not null, a volatile store of what they write is added: the machine code
/// shows what that is, and is never executed. `module` outlives the result.
NumberedModule number_statements(const syntax::Module& module, bool (*probed)(const syntax::Statement&) = nullptr);

}  // namespace warpmat
