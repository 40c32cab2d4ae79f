#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <warpmat/forms.h>

namespace warpmat::code {

/// The special registers (PTX ISA 9.1 chapter 10), and two values of the machine that are read in the same way.
enum class SpecialRegister : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  total_smem_size,
  aggr_smem_size,
  dynamic_smem_size,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
  reserved_smem_begin,
  reserved_smem_end,
  reserved_smem_cap,
  reserved_smem_0,
  reserved_smem_1,
  current_graph_exec,
  grid_workspace_high,  ///< %envreg1: the high half of LaunchConfig::workspace
  grid_workspace_low,   ///< %envreg2: the low half
  environment,          ///< %envreg0 to %envreg31 but these: zero
  counter,              ///< %pm0 to %pm7, %pm0_64 to %pm7_64: hardware events, which the emulator lacks
  fourth,               ///< .w of a vector, which PTX ISA chapter 10 defines as zero
  local_address,        ///< not in PTX: the address of the executing function's local memory
};

/// Whether it is %tid.x, .y or .z.
inline bool is_thread_index(SpecialRegister special_register) {
  using enum SpecialRegister;
  return special_register == tid_x || special_register == tid_y || special_register == tid_z;
}

/// Whether it counts operations: it changes while a warp executes.
constexpr bool is_clock(SpecialRegister special_register) {
  return special_register >= SpecialRegister::clock && special_register <= SpecialRegister::globaltimer_hi;
}

/// Whether it says where the system's shared memory lies.
constexpr bool is_place_of_reserved_shared(SpecialRegister special_register) {
  return special_register >= SpecialRegister::reserved_smem_begin && special_register <= SpecialRegister::reserved_smem_1;
}

struct SpecialRegisterName {
  SpecialRegister special_register;
  int bits = 32;
  Requirement requirement{.baseline = 1, .ptx = {1, 0}};
  int min_bits = 32;      ///< of a register that takes its low bits
  bool elements = false;  ///< %tid: .x .y .z .w together
};

/// Whether the name is %laneid, the only special register that a list has.
bool is_laneid(std::string_view name);

/// Whether the name is WARP_SZ, the number of lanes of a warp.
bool is_warp_size(std::string_view name);

/// The special register `name` ("%tid.x"), if it exists.
std::optional<SpecialRegisterName> find_special_register(std::string_view name);

/// "%tid.x"; for values that are not one register of PTX "%envreg" or "%local".
std::string_view name(SpecialRegister special_register);

/// Whether the PTX ISA leaves the value to the hardware: clocks, multiprocessors, numbers of grids.
bool is_hardwares_own(SpecialRegister special_register);

}  // namespace warpmat::code
