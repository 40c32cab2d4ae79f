// Rows of asynchronous instructions and of clusters: mbarrier, bulk copies, tensor maps, barrier.cluster, addresses of other blocks.
// lower/async_statements.cpp reads their operands.

#include <warpmat/ptx/catalogue/mbarrier_state.h>
#include <warpmat/ptx/catalogue/rows.h>
#include <warpmat/text.h>
#include <warpmat/warp.h>

namespace warpmat::catalogue {
namespace {

constexpr Requirement sm_80{.baseline = 80, .ptx = {7, 0}};
constexpr Requirement sm_90{.baseline = 90, .ptx = {8, 0}};
constexpr Requirement sm_90_cluster{.baseline = 90, .ptx = {7, 8}};
constexpr auto own_shared = "(.shared|.shared::cta)?";
constexpr auto any_shared = "(.shared|.shared::cta|.shared::cluster)?";
constexpr auto cache_hint = "(.L2::cache_hint)?";
constexpr auto done = ".mbarrier::complete_tx::bytes";

void add_mbarrier_rows(std::vector<Row>& rows) {
  const auto add = [&](const std::string& opcode, const Requirement& requirement, const char* operands = "") {
    rows.push_back({"mbarrier." + opcode, operands, nullptr, Semantics::mbarrier, requirement});
  };
  add(format_text("init{}.b64", own_shared), sm_80);
  add(format_text("inval{}.b64", own_shared), sm_80);
  for (const char* arrive : {"arrive", "arrive_drop"}) {
    for (const char* ordering : {"", ".release.cta"}) {  // a scope and .release go together, here and below
      add(format_text("{}{}{}.b64", arrive, ordering, own_shared), sm_80);
      add(format_text("{}.noComplete{}{}.b64", arrive, ordering, own_shared), sm_80);
    }
    add(format_text("{}(.expect_tx)?(.release|.relaxed)(.cta|.cluster){}.b64", arrive, any_shared), sm_90);
    add(format_text("{}(.expect_tx)?{}.b64", arrive, any_shared), sm_90);
  }
  for (const char* count : {"expect_tx", "complete_tx"}) {
    add(format_text("{}.relaxed(.cta|.cluster){}.b64", count, any_shared), sm_90);
    add(format_text("{}{}.b64", count, any_shared), sm_90);
  }
  for (const char* ordering : {"", ".acquire.cta"}) {
    add(format_text("test_wait{}{}.b64", ordering, own_shared), sm_80);
    add(format_text("test_wait(.parity)?{}{}.b64", ordering, own_shared), {.baseline = 80, .ptx = {7, 1}});
  }
  for (const char* wait : {"test_wait", "try_wait"}) {
    add(format_text("{}(.parity)?(.acquire|.relaxed)(.cta|.cluster){}.b64", wait, own_shared), sm_90);
    add(format_text("{}(.parity)?{}.b64", wait, own_shared), {.baseline = 90, .ptx = {7, 8}});
  }
  rows.push_back({format_text("cp.async.mbarrier.arrive(.noinc)?{}.b64", own_shared), "", nullptr, Semantics::mbarrier, sm_80});
}

void pending_count(void* const* results, const void* const* sources) {
  for (int lane = 0; lane < warp_size; ++lane)
    static_cast<std::uint32_t*>(results[0])[lane] =
        static_cast<std::uint32_t>(static_cast<const std::uint64_t*>(sources[0])[lane] & max_mbarrier_count);
}

constexpr auto dimensions = "(.1d|.2d|.3d|.4d|.5d)";
constexpr auto image_dimensions = "(.3d|.4d|.5d)";
constexpr auto reductions = "(.add|.min|.max|.inc|.dec|.and|.or|.xor)";

void add_copy_rows(std::vector<Row>& rows) {
  const auto add = [&](const std::string& opcode, const Requirement& requirement = sm_90) {
    rows.push_back({opcode, "", nullptr, Semantics::bulk_copy, requirement});
  };
  const Requirement to_own{.baseline = 90, .ptx = {8, 6}};
  add(format_text("cp.async.bulk.shared::cluster.global{}(.multicast::cluster)?{}", done, cache_hint));
  add(format_text("cp.async.bulk.shared::cta.global{}{}", done, cache_hint), to_own);
  add(format_text("cp.async.bulk.shared::cluster.shared::cta{}", done));
  add(format_text("cp.async.bulk.global.shared::cta.bulk_group{}", cache_hint));
  add(format_text("cp.async.bulk.prefetch.L2.global{}", cache_hint));
  add(format_text("cp.async.bulk.tensor{}.shared::cluster.global(.tile)?{}(.multicast::cluster)?{}", dimensions, done, cache_hint));
  add(format_text("cp.async.bulk.tensor{}.shared::cta.global(.tile)?{}{}", dimensions, done, cache_hint), to_own);
  add(format_text("cp.async.bulk.tensor{}.global.shared::cta(.tile)?.bulk_group{}", dimensions, cache_hint));
  add(format_text("cp.async.bulk.prefetch.tensor{}.L2.global(.tile)?{}", dimensions, cache_hint));
  add(format_text("cp.async.bulk.tensor{}.shared::cluster.global.im2col{}(.multicast::cluster)?{}", image_dimensions, done, cache_hint));
  add(format_text("cp.async.bulk.tensor{}.shared::cta.global.im2col{}{}", image_dimensions, done, cache_hint), to_own);
  add(format_text("cp.async.bulk.tensor{}.global.shared::cta.im2col_no_offs.bulk_group{}", image_dimensions, cache_hint));
  add(format_text("cp.async.bulk.prefetch.tensor{}.L2.global.im2col{}", image_dimensions, cache_hint));
  const Requirement pairs{.families = {100, 110}, .ptx = {8, 6}};
  for (const char* group : {".cta_group::1", ".cta_group::2"}) {
    add(format_text("cp.async.bulk.tensor{}.shared::cta.global(.tile)?{}{}{}", dimensions, done, group, cache_hint), pairs);
    add(format_text("cp.async.bulk.tensor{}.shared::cluster.global(.tile)?{}(.multicast::cluster)?{}{}", dimensions, done, group,
                    cache_hint),
        pairs);
    add(format_text("cp.async.bulk.tensor{}.shared::cta.global.im2col{}{}{}", image_dimensions, done, group, cache_hint), pairs);
    add(format_text("cp.async.bulk.tensor{}.shared::cluster.global.im2col{}(.multicast::cluster)?{}{}", image_dimensions, done, group,
                    cache_hint),
        pairs);
  }
  rows.push_back({"cp.async.bulk.commit_group", "", nullptr, Semantics::bulk_commit, sm_90});
  rows.push_back({"cp.async.bulk.wait_group(.read)?", "", nullptr, Semantics::bulk_wait, sm_90});
}

void add_reduction_rows(std::vector<Row>& rows) {
  const auto add = [&](const std::string& opcode) { rows.push_back({opcode, "", nullptr, Semantics::bulk_copy, sm_90}); };
  const auto to_global = [&](const char* operation) {
    add(format_text("cp.reduce.async.bulk.global.shared::cta.bulk_group{}{}", cache_hint, operation));
  };
  to_global(".add.noftz(.f16|.bf16)");
  to_global(".add(.u32|.s32|.u64|.f32|.f64)");
  to_global("(.min|.max)(.u32|.s32|.u64|.s64|.f16|.bf16)");
  to_global("(.inc|.dec).u32");
  to_global("(.and|.or|.xor)(.b32|.b64)");
  const auto to_block = [&](const char* operation) {
    add(format_text("cp.reduce.async.bulk.shared::cluster.shared::cta{}{}", done, operation));
  };
  to_block(".add(.u32|.s32|.u64)");
  to_block("(.min|.max)(.u32|.s32)");
  to_block("(.inc|.dec).u32");
  to_block("(.and|.or|.xor).b32");
  add(format_text("cp.reduce.async.bulk.tensor{}.global.shared::cta{}(.tile)?.bulk_group{}", dimensions, reductions, cache_hint));
  add(format_text("cp.reduce.async.bulk.tensor{}.global.shared::cta{}.im2col_no_offs.bulk_group{}", image_dimensions, reductions,
                  cache_hint));
}

/// What Blackwell added to copies, which the machine does not have.
void add_later_copy_rows(std::vector<Row>& rows) {
  const Requirement blackwell = {.baseline = 100, .ptx = {8, 6}}, server{.families = {100, 110}, .ptx = {8, 6}};
  const auto add = [&](const std::string& opcode, const Requirement& requirement, const char* operands = "") {
    rows.push_back({opcode, operands, nullptr, Semantics::absent, requirement});
  };
  constexpr auto group = "(.cta_group::1|.cta_group::2)", spread = "(.multicast::cluster)?", wide = "(.im2col::w|.im2col::w::128)";
  const std::string image = format_text("cp.async.bulk.tensor{}", image_dimensions);
  add(format_text("cp.async.bulk.global.shared::cta.bulk_group{}.cp_mask", cache_hint), blackwell);
  add(format_text("{}.shared::cta.global.im2col::w{}{}", image, done, cache_hint), blackwell);
  add(format_text("{}.shared::cta.global.im2col::w::128{}{}", image, done, cache_hint), server);
  add(format_text("{}.shared::cluster.global{}{}{}{}", image, wide, done, spread, cache_hint), server);
  add(format_text("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4{}{}", done, cache_hint), blackwell);
  add(format_text("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4{}{}{}", done, group, cache_hint), server);
  add(format_text("cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4{}{}{}?{}", done, spread, group, cache_hint), server);
  add(format_text("{}.shared::cta.global{}{}{}{}", image, wide, done, group, cache_hint), server);
  add(format_text("{}.shared::cluster.global{}{}{}{}{}", image, wide, done, spread, group, cache_hint), server);
  add(format_text("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group{}", cache_hint), server);
  add(format_text("cp.reduce.async.bulk.tensor.2d.global.shared::cta{}.tile::scatter4.bulk_group{}", reductions, cache_hint), server);
  add(format_text("cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4{}", cache_hint), server);
  add(format_text("cp.async.bulk.prefetch.tensor{}.L2.global{}{}", image_dimensions, wide, cache_hint), server);
  const Requirement released{.baseline = 100, .ptx = {8, 7}};
  add("st.async(.mmio)?.release(.gpu|.sys)(.global)?(.b16|.u16|.s16|.b32|.u32|.s32|.f32|.b64|.u64|.s64|.f64)", released,
      "address:u64, a:T");
  for (const char* operation : {".add(.u32|.s32|.u64|.s64)", "(.min|.max)(.u32|.s32)", "(.inc|.dec).u32", "(.and|.or|.xor).b32"})
    add(format_text("red.async(.mmio)?.release(.gpu|.sys)(.global)?{}", operation), released, "address:u64, a:T");
}

/// st.async and red.async, to the shared memory of another block.
void add_remote_rows(std::vector<Row>& rows) {
  const auto add = [&](const std::string& opcode) {
    rows.push_back({opcode, "", nullptr, Semantics::bulk_copy, {.baseline = 90, .ptx = {8, 1}}});
  };
  add(format_text("st.async(.weak|.cluster)?(.shared::cluster)?{}(.v2)?(.b32|.u32|.s32|.f32|.b64|.u64|.s64|.f64)", done));
  add(format_text("st.async(.weak|.cluster)?(.shared::cluster)?{}.v4(.b32|.u32|.s32|.f32)", done));
  for (const char* operation : {".add(.u32|.s32|.u64|.s64)", "(.min|.max)(.u32|.s32)", "(.inc|.dec).u32", "(.and|.or|.xor).b32"})
    add(format_text("red.async.relaxed.cluster(.shared::cluster)?{}{}", done, operation));
}

void add_cluster_rows(std::vector<Row>& rows) {
  rows.push_back({"barrier.cluster.arrive(.release)?(.aligned)?", "", nullptr, Semantics::cluster_barrier, sm_90_cluster});
  rows.push_back({"barrier.cluster.arrive.relaxed(.aligned)?", "", nullptr, Semantics::cluster_barrier, sm_90});
  rows.push_back({"barrier.cluster.wait(.acquire)?(.aligned)?", "", nullptr, Semantics::cluster_barrier, sm_90_cluster});
  rows.push_back({"mapa(.shared::cluster)?(.u32|.s32|.u64)", "d:T = a:T, b:u32", nullptr, Semantics::cluster_rank, sm_90_cluster});
  rows.push_back({"getctarank(.shared::cluster)?(.u32|.s32|.u64)", "d:u32 = a:T", nullptr, Semantics::cluster_rank, sm_90_cluster});
  rows.push_back({"fence.mbarrier_init.release.cluster", "", nullptr, Semantics::nothing, sm_90});
  rows.push_back({"fence.proxy.async(.global|.shared::cta|.shared::cluster)?", "", nullptr, Semantics::proxy_fence, sm_90});
  rows.push_back({"fence.proxy.tensormap::generic(.acquire|.release)(.cta|.cluster|.gpu|.sys)",
                  "",
                  nullptr,
                  Semantics::nothing,
                  {.baseline = 90, .ptx = {8, 3}}});
}

void add_tensor_map_rows(std::vector<Row>& rows) {
  const Requirement requirement{.baseline = 90, .ptx = {8, 3}};  // and an architecture's features: restrictions.cpp
  const auto replace = [&](const char* fields) {
    rows.push_back({format_text("tensormap.replace.tile{}(.global|.shared::cta)?.b1024{}", fields, ""), "", nullptr, Semantics::tensor_map,
                    requirement});
  };
  replace("(.global_address|.global_stride)");
  rows.back().opcode += ".b64";
  replace("(.rank|.box_dim|.global_dim|.element_stride|.elemtype|.interleave_layout|.swizzle_mode|.fill_mode)");
  rows.back().opcode += ".b32";
  rows.push_back({"tensormap.replace.tile.swizzle_atomicity(.global|.shared::cta)?.b1024.b32",
                  "",
                  nullptr,
                  Semantics::tensor_map,
                  {.families = {100, 110, 120}, .ptx = {8, 6}}});
  rows.push_back({"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release(.cta|.cluster|.gpu|.sys).sync.aligned",
                  "",
                  nullptr,
                  Semantics::tensor_map,
                  {.baseline = 90, .ptx = {8, 3}}});
}

}  // namespace

void add_async_rows(std::vector<Row>& rows) {
  add_mbarrier_rows(rows);
  rows.push_back({"mbarrier.pending_count.b64", "d:b32 = a:b64", pending_count, Semantics::compute, sm_80});
  add_copy_rows(rows);
  add_reduction_rows(rows);
  add_later_copy_rows(rows);
  add_remote_rows(rows);
  add_cluster_rows(rows);
  add_tensor_map_rows(rows);
}

}  // namespace warpmat::catalogue
