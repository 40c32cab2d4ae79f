#pragma once

// main() of the sweep: sweep LOG [SECONDS [SEED [JUDGED_WARPS]]]

#include "gpu/device/run.h"

int main(int count, char** arguments) {
  using namespace warpmat::device;
  SweepOptions options;
  if (count < 2 || (options.log = std::fopen(arguments[1], "w")) == nullptr) {
    std::fprintf(stderr, "usage: %s LOG [SECONDS for each form on the card [SEED [WARPS of each class for the CPU]]]\n", arguments[0]);
    return 2;
  }
  if (count > 2) options.seconds = std::atof(arguments[2]);
  if (count > 3) options.seed = std::strtoull(arguments[3], nullptr, 10);
  if (count > 4) options.judged_warps = static_cast<unsigned>(std::strtoul(arguments[4], nullptr, 10)) / 4 * 4;
  for (const Registered* form = Registered::all(); form != nullptr; form = form->next) form->run(options);
  std::fprintf(options.log, "done\n");
  std::fclose(options.log);
  return 0;
}
