#include <warpmat/cuda/control.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <warpmat/cuda/launch.h>
#include <warpmat/cuda/waiting.h>
#include <warpmat/machine/internals.h>
#include <warpmat/ptx/syntax/module.h>
#include <warpmat/report/report_json.h>

namespace warpmat::cuda {
namespace {

using Json = nlohmann::ordered_json;

struct Kept {
  bool wanted = false;
  Json reports = Json::array(), profile = Json::array();

  void leave(Context&, Owner) {}
};

Kept& kept(Context& context) {
  return context.part<Kept>();
}

/// A row of a profile: the source's line if that is known, and the PTX's.
Json row_of(const code::Program& program, const StatementProfile& each) {
  const syntax::Statement& statement = *program.statements[each.statement];
  Json row{{"ptx_line", statement.location.line},
           {"statement", statement.opcode},
           {"executed", each.executed},
           {"lanes", each.lanes},
           {"seconds", each.seconds},
           {"check_seconds", each.check_seconds}};
  if (statement.source_line >= 0) {
    const syntax::SourceLine& line = program.module->source_lines[static_cast<std::size_t>(statement.source_line)];
    row["line"] = line.line;
  }
  return row;
}

/// The text that the thread's last call has returned.
const char* returned(std::string text) {
  static thread_local std::string last;
  last = std::move(text);
  return last.c_str();
}

}  // namespace

bool keeps_reports(Context& context) {
  return kept(context).wanted;
}

bool told_to_host(Context& context, const Report& report, const std::string& text) {
  if (!kept(context).wanted) return false;
  Json json = report_json(report);
  json["text"] = text;
  kept(context).reports.push_back(std::move(json));
  return true;
}

void keep_profile(Context& context, const Kernel& kernel, const Profile& profile) {
  if (!kept(context).wanted) return;
  for (const StatementProfile& each : profile.statements)
    if (each.executed != 0) kept(context).profile.push_back(row_of(program_of(kernel), each));
}

/// Reads the variables WARPMAT_CUDA_... of the environment again, for what is launched from here on; modules that were resolved keep their
/// target. Returns null, or why one of them is wrong: then nothing changes.
WARPMAT_CUDA_API const char* warpmat_cuda_configure() {
  const std::lock_guard lock(mutex());
  try {
    context().configure(read_settings());
    forget_launches(context());
    return nullptr;
  } catch (const std::invalid_argument& e) {
    return returned(e.what());
  }
}

/// cudaHostRegister, with a name for reports. Returns its code.
WARPMAT_CUDA_API int warpmat_cuda_register(void* memory, std::size_t bytes, const char* name) {
  return call("warpmat_cuda_register", [&](Context& state) {
    require(name != nullptr);
    state.space.add(memory, bytes, 0, name);
  });
}

/// Waits for all work. From its first call on, reports of launches are kept, and not printed. Returns those since the last call as JSON,
/// and forgets them and the fault: {"fault": "cudaErrorIllegalAddress", "reports": [{"level", "kind", "headline", "text", ...}], "profile":
/// [...]}.
WARPMAT_CUDA_API const char* warpmat_cuda_take_reports() {
  const std::lock_guard lock(mutex());
  Context& state = context();
  try {
    finish(state);
  } catch (const ApiError&) {  // its fault is told below
  }
  state.show_fault();
  Kept& all = kept(state);
  Json json{{"fault", state.has_fault() ? error_name(state.fault_seen()) : ""}, {"reports", all.reports}, {"profile", all.profile}};
  state.forget_fault();
  last_error() = cudaSuccess;
  all = {.wanted = true};
  return returned(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace warpmat::cuda
