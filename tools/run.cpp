#include <fmt/format.h>
#include <warpmat/ptx/run.h>

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "commands.h"
#include "tools/library/execution_flags.h"
#include "tools/library/npy.h"
#include "tools/library/output_file.h"
#include "tools/library/ptx_file.h"
#include "tools/library/warp_place.h"

namespace warpmat {
namespace {

struct Options {
  std::string file, target;
  std::size_t shared_bytes = 0;
  std::vector<std::string> in, print, out;
  ExecutionOptions execution;
};

void run_program(const Options& options) {
  const Program program = read_program(options.file, options.target);
  const std::vector<Assignment> inputs = assignments(program, options.in, "in", "SOURCE");
  const std::vector<Assignment> outputs = assignments(program, options.out, "out", "FILE.npy");
  std::vector<WarpPlace> shown;
  for (const std::string& text : options.print) shown.emplace_back(program, text);
  for (const Assignment& output : outputs) check_output_place(output.what);

  Warp warp(program, options.shared_bytes);
  for (const Assignment& input : inputs) input.place.fill(warp, input.what);
  run(warp, options.execution);
  for (const WarpPlace& place : shown) fmt::print("{}\n", place.show(warp));
  for (const Assignment& output : outputs) write_npy(output.what, output.place.array(warp));
}

}  // namespace

void add_run(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("run", "Execute a program on one warp");
  command->add_option("FILE", options->file, "PTX statements, with or without .version, .target, .reg and .shared")->required();
  command->add_option("--target", options->target, "The GPU to be, for example sm_80 or sm_90a; else the file's own .target");
  command->add_option("--in", options->in, "PLACE=SOURCE: fill a place before the run; may be repeated")->allow_extra_args(false);
  command->add_option("--print", options->print, "PLACE: print a place after the run; may be repeated")->allow_extra_args(false);
  command->add_option("--out", options->out, "PLACE=FILE.npy: write a place after the run; may be repeated")->allow_extra_args(false);
  command->add_option("--shared-bytes", options->shared_bytes, "Shared memory beyond the program's variables: this many bytes in all")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1} << 30));
  add_execution_flags(*command, options->execution);
  command->footer(
      "A PLACE is NAME[:FORMAT[:COLUMNS]], where NAME is\n"
      "  a shared variable      tile:f16:8   its elements read as f16, 8 in a printed row\n"
      "  registers              d0,d1:f32    printed as a table of lanes\n"
      "  a matrix operand       0.a          operand a of the first matrix instruction, as the logical matrix\n"
      "A SOURCE is FILE.npy, iota (0, 1, 2 ...), random[:SEED] (numbers in [-1, 1), integers over their whole range) or zeros.\n"
      "Registers and memory that --in does not name begin as zeros.\n"
      "\n"
      "Examples:\n"
      "  warpmat run mma.ptx --target sm_90a --in 0.a=iota --in 0.b=random:7 --print 0.d --print d0,d1:f32\n"
      "  warpmat run load.ptx --target sm_80 --in tile:f16=tile.npy --print 0.r:f16 --out r0,r1=fragment.npy");
  command->callback([options] { run_program(*options); });
}

}  // namespace warpmat
