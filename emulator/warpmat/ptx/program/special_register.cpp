#include <warpmat/ptx/program/special_register.h>

#include <algorithm>
#include <array>

namespace warpmat::code {
namespace {

struct Row {
  std::string_view name;
  SpecialRegister special_register;
  int bits = 32;
  bool hardwares_own = false;
};

using enum SpecialRegister;

constexpr std::array rows{
    Row{"%tid.x", tid_x},
    Row{"%tid.y", tid_y},
    Row{"%tid.z", tid_z},
    Row{"%ntid.x", ntid_x},
    Row{"%ntid.y", ntid_y},
    Row{"%ntid.z", ntid_z},
    Row{"%ctaid.x", ctaid_x},
    Row{"%ctaid.y", ctaid_y},
    Row{"%ctaid.z", ctaid_z},
    Row{"%nctaid.x", nctaid_x},
    Row{"%nctaid.y", nctaid_y},
    Row{"%nctaid.z", nctaid_z},
    Row{"%laneid", laneid},
    Row{"%warpid", warpid, 32, true},
    Row{"%nwarpid", nwarpid, 32, true},
    Row{"%smid", smid, 32, true},
    Row{"%nsmid", nsmid, 32, true},
    Row{"%gridid", gridid, 64, true},
    Row{"%lanemask_eq", lanemask_eq},
    Row{"%lanemask_le", lanemask_le},
    Row{"%lanemask_lt", lanemask_lt},
    Row{"%lanemask_ge", lanemask_ge},
    Row{"%lanemask_gt", lanemask_gt},
    Row{"%clock", clock, 32, true},
    Row{"%clock_hi", clock_hi, 32, true},
    Row{"%clock64", clock64, 64, true},
    Row{"%globaltimer", globaltimer, 64, true},
    Row{"%globaltimer_lo", globaltimer_lo, 32, true},
    Row{"%globaltimer_hi", globaltimer_hi, 32, true},
    Row{"%total_smem_size", total_smem_size, 32, true},
    Row{"%aggr_smem_size", aggr_smem_size, 32, true},
    Row{"%dynamic_smem_size", dynamic_smem_size},
    Row{"%clusterid.x", clusterid_x},
    Row{"%clusterid.y", clusterid_y},
    Row{"%clusterid.z", clusterid_z},
    Row{"%nclusterid.x", nclusterid_x},
    Row{"%nclusterid.y", nclusterid_y},
    Row{"%nclusterid.z", nclusterid_z},
    Row{"%cluster_ctaid.x", cluster_ctaid_x},
    Row{"%cluster_ctaid.y", cluster_ctaid_y},
    Row{"%cluster_ctaid.z", cluster_ctaid_z},
    Row{"%cluster_nctaid.x", cluster_nctaid_x},
    Row{"%cluster_nctaid.y", cluster_nctaid_y},
    Row{"%cluster_nctaid.z", cluster_nctaid_z},
    Row{"%cluster_ctarank", cluster_ctarank},
    Row{"%cluster_nctarank", cluster_nctarank},
    Row{"%is_explicit_cluster", is_explicit_cluster, 1},
    Row{"%reserved_smem_offset_begin", reserved_smem_begin, 32, true},
    Row{"%reserved_smem_offset_end", reserved_smem_end, 32, true},
    Row{"%reserved_smem_offset_cap", reserved_smem_cap, 32, true},
    Row{"%reserved_smem_offset_0", reserved_smem_0, 32, true},
    Row{"%reserved_smem_offset_1", reserved_smem_1, 32, true},
    Row{"%current_graph_exec", current_graph_exec, 64},
};

}  // namespace

std::optional<SpecialRegisterName> find_special_register(std::string_view name) {
  const auto found = std::ranges::find(rows, name, &Row::name);
  if (found != rows.end()) return SpecialRegisterName{found->special_register, found->bits};
  if (name.starts_with("%envreg")) return SpecialRegisterName{environment, 32};
  return std::nullopt;
}

std::string_view name(SpecialRegister special_register) {
  const auto* const found = std::ranges::find(rows, special_register, &Row::special_register);
  if (found != rows.end()) return found->name;
  return special_register == environment ? "%envreg" : "%local";
}

bool is_hardwares_own(SpecialRegister special_register) {
  const auto* const found = std::ranges::find(rows, special_register, &Row::special_register);
  return special_register == environment || (found != rows.end() && found->hardwares_own);
}

}  // namespace warpmat::code
