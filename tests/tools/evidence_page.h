#pragma once

// What `warpmat evidence` makes of the files of runs.

#include "test.h"
#include "tools/command.h"

namespace warpmat {

inline Outcome evidence_of(std::vector<std::string> files) {
  files.insert(files.begin(), "evidence");
  return run_command(files);
}

inline void check_refused(const std::vector<std::string>& files, const std::string& reason) {
  const Outcome outcome = evidence_of(files);
  CAPTURE(reason, outcome.err);
  CHECK(outcome.status == 1);
  CHECK(outcome.out.empty());
  CHECK(contains(outcome.err, reason));
}

/// The page without what differs between two runs of the same: the seconds.
inline std::string without_time(std::string page) {
  for (std::size_t end; (end = page.find(" s |\n")) != std::string::npos;) {
    const std::size_t begin = page.rfind('|', end);
    page.replace(begin, end + 4 - begin, "|");
  }
  return page;
}

}  // namespace warpmat
