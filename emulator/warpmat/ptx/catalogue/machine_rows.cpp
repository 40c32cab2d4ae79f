#include <fmt/core.h>

#include <warpmat/ptx/catalogue/kernel_row.h>
#include <warpmat/ptx/catalogue/rows.h>

namespace warpmat::catalogue {
namespace {

// Qualifiers that many instructions share. Those that only advise caches are taken and ignored.
constexpr auto scope = "(.cta|.cluster|.gpu|.sys)?";
constexpr auto space = "(.global|.shared|.shared::cta|.shared::cluster|.local|.const|.param|.param::entry|.param::func)?";
constexpr auto caching =
    "(.ca|.cg|.cs|.lu|.cv|.wb|.wt)?(.nc)?(.unified)?"
    "(.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate|.level1::eviction_priority)?"
    "(.L2::evict_normal|.L2::evict_first|.L2::evict_last)?(.L2::cache_hint)?(.L2::64B|.L2::128B|.L2::256B)?";
constexpr auto memory_type = "(.b8|.u8|.s8|.b16|.u16|.s16|.b32|.u32|.s32|.f32|.b64|.u64|.s64|.f64|.b128)";

void add_memory_rows(std::vector<Row>& rows) {
  const auto access = [&](const char* mnemonic, const char* ordering, Semantics semantics) {
    rows.push_back(
        {fmt::format("{}{}{}{}{}(.v2|.v4|.v8)?{}", mnemonic, ordering, scope, space, caching, memory_type), "", nullptr, semantics});
  };
  access("ld", "(.weak|.volatile|.relaxed|.acquire)?", Semantics::load);
  access("ld", ".mmio.relaxed", Semantics::load);
  access("ldu", "", Semantics::load);
  access("st", "(.weak|.volatile|.relaxed|.release)?", Semantics::store);
  access("st", ".mmio.relaxed", Semantics::store);

  const auto atomic = [&](const char* mnemonic, const char* operation, const char* types) {
    const char* ordering = mnemonic[0] == 'a' ? "(.relaxed|.acquire|.release|.acq_rel)?" : "(.relaxed|.release)?";
    rows.push_back({fmt::format("{}{}{}(.global|.shared|.shared::cta|.shared::cluster)?{}(.noftz)?(.L2::cache_hint)?(.v2|.v4|.v8)?{}",
                                mnemonic, ordering, scope, operation, types),
                    "", nullptr, Semantics::atomic});
  };
  for (const char* mnemonic : {"atom", "red"}) {
    atomic(mnemonic, ".add", "(.u32|.s32|.u64|.s64)");
    atomic(mnemonic, ".add", "(.f32|.f64|.f16|.f16x2|.bf16|.bf16x2)");
    atomic(mnemonic, "(.min|.max)", "(.u32|.s32|.u64|.s64)");
    atomic(mnemonic, "(.min|.max)", "(.f16|.f16x2|.bf16|.bf16x2)");
    atomic(mnemonic, "(.inc|.dec)", ".u32");
    atomic(mnemonic, "(.and|.or|.xor)", "(.b32|.b64)");
  }
  atomic("atom", ".exch", "(.b32|.b64|.b128|.u32|.s32|.u64|.s64|.f32)");
  atomic("atom", ".cas", "(.b16|.b32|.b64|.b128|.u32|.s32|.u64|.s64)");

  rows.push_back({"cp.async(.ca|.cg)(.shared|.shared::cta).global(.L2::cache_hint)?(.L2::64B|.L2::128B|.L2::256B)?", "", nullptr,
                  Semantics::cp_async});
  rows.push_back({"cp.async.commit_group", "", nullptr, Semantics::cp_async_commit});
  rows.push_back({"cp.async.wait_group", "", nullptr, Semantics::cp_async_wait});
  rows.push_back({"cp.async.wait_all", "", nullptr, Semantics::cp_async_wait});
  rows.push_back({"cvta(.to)?(.global|.shared|.shared::cta|.shared::cluster|.local|.const|.param|.param::entry)(.u64|.s64|.b64)", "",
                  nullptr, Semantics::address_space});
  rows.push_back({"isspacep(.global|.shared|.shared::cta|.shared::cluster|.local|.const|.param|.param::entry)", "", nullptr,
                  Semantics::address_space});
}

void add_control_rows(std::vector<Row>& rows) {
  rows.push_back({"bra(.uni)?", "", nullptr, Semantics::branch});
  rows.push_back({"brx.idx(.uni)?", "", nullptr, Semantics::branch_table});
  rows.push_back({"call(.uni)?", "", nullptr, Semantics::call});
  rows.push_back({"ret(.uni)?", "", nullptr, Semantics::return_});
  rows.push_back({"exit", "", nullptr, Semantics::exit});
  rows.push_back({"trap", "", nullptr, Semantics::trap});
  rows.push_back({"brkpt", "", nullptr, Semantics::trap});
}

void add_warp_rows(std::vector<Row>& rows) {
  for (const char* mnemonic : {"bar", "barrier"}) {
    rows.push_back({fmt::format("{}(.cta)?(.sync|.arrive)(.aligned)?", mnemonic), "", nullptr, Semantics::barrier});
    rows.push_back({fmt::format("{}(.cta)?.red(.popc)(.aligned)?.u32", mnemonic), "", nullptr, Semantics::barrier});
    rows.push_back({fmt::format("{}(.cta)?.red(.and|.or)(.aligned)?.pred", mnemonic), "", nullptr, Semantics::barrier});
  }
  rows.push_back({"bar.warp.sync", "mask:u32", nullptr, Semantics::warp_barrier});
  rows.push_back({"shfl.sync(.up|.down|.bfly|.idx).b32", "d:b32[|p] = a:b32, b:u32, c:u32, mask:u32", nullptr, Semantics::exchange});
  rows.push_back({"shfl(.up|.down|.bfly|.idx).b32", "d:b32[|p] = a:b32, b:u32, c:u32", nullptr, Semantics::exchange});
  rows.push_back({"vote.sync(.all|.any|.uni).pred", "p = a, mask:u32", nullptr, Semantics::exchange});
  rows.push_back({"vote.sync.ballot.b32", "d:b32 = a:pred, mask:u32", nullptr, Semantics::exchange});
  rows.push_back({"vote(.all|.any|.uni).pred", "p = a", nullptr, Semantics::exchange});
  rows.push_back({"vote.ballot.b32", "d:b32 = a:pred", nullptr, Semantics::exchange});
  rows.push_back({"match.any.sync(.b32|.b64)", "d:b32 = a:T, mask:u32", nullptr, Semantics::exchange});
  rows.push_back({"match.all.sync(.b32|.b64)", "d:b32[|p] = a:T, mask:u32", nullptr, Semantics::exchange});
  rows.push_back({"redux.sync(.add|.min|.max)(.u32|.s32)", "d:T = a:T, mask:u32", nullptr, Semantics::exchange, since(80, {7, 0})});
  rows.push_back({"redux.sync(.and|.or|.xor).b32", "d:b32 = a:b32, mask:u32", nullptr, Semantics::exchange, since(80, {7, 0})});
  rows.push_back({"redux.sync(.min|.max)(.abs)?(.NaN)?.f32", "d:f32 = a:f32, mask:u32", nullptr, Semantics::exchange,
                  Requirement{.families = {100}, .ptx = {8, 6}}});
  rows.push_back({"activemask.b32", "d:b32 =", nullptr, Semantics::active_mask});
  rows.push_back({"elect.sync", "d:b32|p = mask:u32", nullptr, Semantics::elect});
}

/// wgmma.mma_async itself is no row: its spellings are those of tables/wgmma.h.
void add_warpgroup_rows(std::vector<Row>& rows) {
  const Requirement hopper{.families = {90}, .architecture = true, .ptx = {8, 0}};
  rows.push_back({"wgmma.fence.sync.aligned", "", nullptr, Semantics::wgmma_fence, hopper});
  rows.push_back({"wgmma.commit_group.sync.aligned", "", nullptr, Semantics::wgmma_commit, hopper});
  rows.push_back({"wgmma.wait_group.sync.aligned", "", nullptr, Semantics::wgmma_wait, hopper});
  rows.push_back({"setmaxnreg(.inc|.dec).sync.aligned.u32", "", nullptr, Semantics::max_registers, since(90, {8, 0})});
}

/// What orders memory or advises the hardware.
void add_other_rows(std::vector<Row>& rows) {
  rows.push_back({"membar(.cta|.gl|.sys)", "", nullptr, Semantics::fence});
  rows.push_back({"fence(.sc|.acq_rel|.acquire|.release)?(.cta|.cluster|.gpu|.sys)", "", nullptr, Semantics::fence});
  for (const char* restricted : {"acquire.sync_restrict::shared::cluster", "release.sync_restrict::shared::cta"}) {
    const Requirement requirement = since(90, {8, 6});
    rows.push_back({fmt::format("fence.{}.cluster", restricted), "", nullptr, Semantics::fence, requirement});
    rows.push_back({fmt::format("fence.proxy.async::generic.{}.cluster", restricted), "", nullptr, Semantics::proxy_fence, requirement});
  }
  rows.push_back({"fence.proxy.alias", "", nullptr, Semantics::nothing});
  rows.push_back({"membar.proxy.alias", "", nullptr, Semantics::nothing});
  rows.push_back({"nanosleep.u32", "t:u32", nullptr, Semantics::sleep});
  for (const char* hint : {"prefetch(.global|.local)?(.L1|.L2)", "prefetch(.global)?(.L2::evict_last|.L2::evict_normal)",
                           "prefetch(.const|.param)?.tensormap", "prefetchu.L1", "applypriority(.global)?.L2::evict_normal",
                           "discard(.global)?.L2", "griddepcontrol(.launch_dependents|.wait)", "pmevent(.mask)?"})
    rows.push_back({hint, "", nullptr, Semantics::nothing});
}

}  // namespace

void add_machine_rows(std::vector<Row>& rows) {
  add_memory_rows(rows);
  add_control_rows(rows);
  add_warp_rows(rows);
  add_warpgroup_rows(rows);
  add_other_rows(rows);
}

}  // namespace warpmat::catalogue
