#include <warpmat/ir/special_register.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include <fmt/format.h>

#include <warpmat/ptx/catalogue/kernel_row.h>

namespace warpmat::code {
namespace {

using catalogue::any_target;

struct Row {
  std::string_view name;
  SpecialRegister special_register;
  int bits = 32;
  bool hardwares_own = false;
  Requirement requirement = any_target;
  int min_bits = 0;  ///< of a register that takes its low bits, if fewer than `bits`
};

constexpr Requirement cluster = since(90, {7, 8}), memory_sizes = since(20, {4, 1}), reserved = since(80, {7, 6});

using enum SpecialRegister;

constexpr std::array special_rows{
    Row{"%tid.x", tid_x, 32, false, any_target, 16},
    Row{"%tid.y", tid_y, 32, false, any_target, 16},
    Row{"%tid.z", tid_z, 32, false, any_target, 16},
    Row{"%ntid.x", ntid_x, 32, false, any_target, 16},
    Row{"%ntid.y", ntid_y, 32, false, any_target, 16},
    Row{"%ntid.z", ntid_z, 32, false, any_target, 16},
    Row{"%ctaid.x", ctaid_x, 32, false, any_target, 16},
    Row{"%ctaid.y", ctaid_y, 32, false, any_target, 16},
    Row{"%ctaid.z", ctaid_z, 32, false, any_target, 16},
    Row{"%nctaid.x", nctaid_x, 32, false, any_target, 16},
    Row{"%nctaid.y", nctaid_y, 32, false, any_target, 16},
    Row{"%nctaid.z", nctaid_z, 32, false, any_target, 16},
    Row{"%laneid", laneid},
    Row{"%warpid", warpid, 32, true},
    Row{"%nwarpid", nwarpid, 32, true},
    Row{"%smid", smid, 32, true},
    Row{"%nsmid", nsmid, 32, true},
    Row{"%gridid", gridid, 64, true, any_target, 16},
    Row{"%lanemask_eq", lanemask_eq, 32, false, since(20, {2, 0})},
    Row{"%lanemask_le", lanemask_le, 32, false, since(20, {2, 0})},
    Row{"%lanemask_lt", lanemask_lt, 32, false, since(20, {2, 0})},
    Row{"%lanemask_ge", lanemask_ge, 32, false, since(20, {2, 0})},
    Row{"%lanemask_gt", lanemask_gt, 32, false, since(20, {2, 0})},
    Row{"%clock", clock, 32, true},
    Row{"%clock_hi", clock_hi, 32, true, since(20, {5, 0})},
    Row{"%clock64", clock64, 64, true, since(20, {2, 0})},
    Row{"%globaltimer", globaltimer, 64, true, since(30, {3, 1})},
    Row{"%globaltimer_lo", globaltimer_lo, 32, true, since(30, {3, 1})},
    Row{"%globaltimer_hi", globaltimer_hi, 32, true, since(30, {3, 1})},
    Row{"%total_smem_size", total_smem_size, 32, true, memory_sizes},
    Row{"%aggr_smem_size", aggr_smem_size, 32, true, since(90, {8, 1})},
    Row{"%dynamic_smem_size", dynamic_smem_size, 32, false, memory_sizes},
    Row{"%clusterid.x", clusterid_x, 32, false, cluster},
    Row{"%clusterid.y", clusterid_y, 32, false, cluster},
    Row{"%clusterid.z", clusterid_z, 32, false, cluster},
    Row{"%nclusterid.x", nclusterid_x, 32, false, cluster},
    Row{"%nclusterid.y", nclusterid_y, 32, false, cluster},
    Row{"%nclusterid.z", nclusterid_z, 32, false, cluster},
    Row{"%cluster_ctaid.x", cluster_ctaid_x, 32, false, cluster},
    Row{"%cluster_ctaid.y", cluster_ctaid_y, 32, false, cluster},
    Row{"%cluster_ctaid.z", cluster_ctaid_z, 32, false, cluster},
    Row{"%cluster_nctaid.x", cluster_nctaid_x, 32, false, cluster},
    Row{"%cluster_nctaid.y", cluster_nctaid_y, 32, false, cluster},
    Row{"%cluster_nctaid.z", cluster_nctaid_z, 32, false, cluster},
    Row{"%cluster_ctarank", cluster_ctarank, 32, false, cluster},
    Row{"%cluster_nctarank", cluster_nctarank, 32, false, cluster},
    Row{"%is_explicit_cluster", is_explicit_cluster, 1, false, cluster},
    Row{"%reserved_smem_offset_begin", reserved_smem_begin, 32, true, reserved},
    Row{"%reserved_smem_offset_end", reserved_smem_end, 32, true, reserved},
    Row{"%reserved_smem_offset_cap", reserved_smem_cap, 32, true, reserved},
    Row{"%reserved_smem_offset_0", reserved_smem_0, 32, true, reserved},
    Row{"%reserved_smem_offset_1", reserved_smem_1, 32, true, reserved},
    Row{"%current_graph_exec", current_graph_exec, 64, false, since(50, {8, 0})},
    Row{"%envreg1", grid_workspace_high, 32, true, since(20, {2, 1})},
    Row{"%envreg2", grid_workspace_low, 32, true, since(20, {2, 1})},
};

/// Whether a special register's name has the second and third letter of `name`, which other registers rarely have.
bool may_be_special(std::string_view name) {
  using Letters = std::array<std::uint32_t, 128>;  // by second letter: a bit for each third letter from _ on
  constexpr char first = '_';
  static constexpr Letters letters = [] {
    Letters all{};
    const auto add = [&](std::string_view of) { all[static_cast<unsigned char>(of[1])] |= 1U << (of[2] - first); };
    for (const Row& row : special_rows) add(row.name);
    add("%envreg");
    add("%pm");
    return all;
  }();
  if (name.size() < 3 || name[0] != '%' || static_cast<unsigned char>(name[1]) >= letters.size()) return false;
  return name[2] >= first && name[2] <= 'z' && (letters[static_cast<unsigned char>(name[1])] >> (name[2] - first) & 1) != 0;
}

}  // namespace

bool is_laneid(std::string_view name) {
  return name == "%laneid";
}

bool is_warp_size(std::string_view name) {
  return name == "WARP_SZ";
}

std::optional<SpecialRegisterName> find_special_register(std::string_view name) {
  if (!may_be_special(name)) return std::nullopt;
  const auto named = [](const Row& row) {
    return SpecialRegisterName{row.special_register, row.bits, row.requirement, row.min_bits == 0 ? row.bits : row.min_bits, false};
  };
  if (const auto found = std::ranges::find(special_rows, name, &Row::name); found != special_rows.end()) return named(*found);
  // %tid is its elements together; the fourth one is zero.
  const bool fourth = name.ends_with(".w");
  const std::string first = fmt::format("{}.x", fourth ? name.substr(0, name.size() - 2) : name);
  if (const auto found = std::ranges::find(special_rows, first, &Row::name); found != special_rows.end()) {
    SpecialRegisterName vector = named(*found);
    vector.special_register = SpecialRegister::fourth;
    vector.elements = !fourth;
    return vector;
  }
  const auto numbered = [&](std::string_view prefix, std::string_view suffix, int count) {
    if (!name.starts_with(prefix) || !name.ends_with(suffix) || name.size() < prefix.size() + suffix.size()) return false;
    const std::string_view digits = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    int number = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc() && end == digits.data() + digits.size() && number >= 0 && number < count;
  };
  if (numbered("%envreg", "", 32)) return SpecialRegisterName{environment, 32, since(20, {2, 1})};
  if (numbered("%pm", "_64", 8)) return SpecialRegisterName{counter, 64, since(50, {4, 0}), 64};
  if (numbered("%pm", "", 8)) return SpecialRegisterName{counter, 32, since(20, {3, 0})};
  return std::nullopt;
}

std::string_view name(SpecialRegister special_register) {
  const auto* const found = std::ranges::find(special_rows, special_register, &Row::special_register);
  if (found != special_rows.end()) return found->name;
  return special_register == environment ? "%envreg" : special_register == counter ? "%pm" : "%local";
}

bool is_hardwares_own(SpecialRegister special_register) {
  const auto* const found = std::ranges::find(special_rows, special_register, &Row::special_register);
  return special_register == environment || special_register == counter || (found != special_rows.end() && found->hardwares_own);
}

}  // namespace warpmat::code
