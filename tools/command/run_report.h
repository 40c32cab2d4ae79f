#pragma once

#include <warpmat/observer.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>
#include "tools/command_line/command.h"

#include "tools/report/evidence_line.h"

namespace warpmat {

// --report FILE.json: the executed instructions, their counts, and the evidence for their bits.

/// Counts the warp-wide executions of each opcode, as an observer of a launch.
class OpcodeCounts : public machine::Observer {
 public:
  OpcodeCounts() : Observer(machine::EventKinds::operations) {}
  void operation(const machine::Event& event) override;

  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

 private:
  std::map<std::string, std::uint64_t> counts_;
};

/// Adds --report, which sets `path`. `path` must outlive the parsing.
void add_report_option(Command command, std::string& path);

/// Writes the report of a run of `command` as `target`, whole or not at all; nothing if `path` is empty. `all` has the evidence for each
/// instruction's bits, `counts` the executions of opcodes.
void write_report(const std::string& path, const Command& command, std::string_view target, const std::vector<Labelled>& all,
                  const std::map<std::string, std::uint64_t>& counts);

}  // namespace warpmat
