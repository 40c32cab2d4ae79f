#pragma once

#include <warpmat/program.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/report/program_warnings.h"
#include "tools/report/warp_place.h"

namespace warpmat {

/// A program and the contents of its places, for `warpmat run` and `warpmat explain`.
struct SessionOptions {
  std::string file;
  std::vector<std::string> in, layouts;  ///< PLACE=SOURCE, NAME=LAYOUT
  std::size_t shared_bytes = 0;
};

/// A program on one target with a warp, and the places that the options name.
struct Session {
  /// Throws std::runtime_error, or SyntaxError. An empty target means the file's own.
  Session(const SessionOptions& options, std::string_view target);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  std::vector<WarpPlace> places(const std::vector<std::string>& texts) const;

  /// Fills registers first: their ids decide the places of scale factors.
  void fill();

  Program program;
  Layouts layouts;
  std::vector<Assignment> inputs;
  std::vector<FilledPlace> filled;
  Warp warp;
};

/// The same as arguments of a command, with a trailing space: "mma.ptx --target sm_80 --in mma.0.a=iota ".
std::string session_text(const SessionOptions& options, const std::string& target);

}  // namespace warpmat
