#include <warpmat/ptx/catalogue/kernel_row.h>
#include <warpmat/ptx/catalogue/launch_answer.h>
#include <warpmat/ptx/catalogue/rows.h>
#include <warpmat/text.h>
#include <warpmat/warp.h>

namespace warpmat::catalogue {
namespace {

// Qualifiers that many instructions share. Those that only advise caches are taken and ignored. Which of them go together, and what they
// ask of the target, is restrictions.cpp's.
constexpr auto scope = "(.cta|.cluster|.gpu|.sys)?";
constexpr auto memory_space = "(.global|.shared|.shared::cta|.shared::cluster)?";
constexpr auto priorities =
    "(.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate)?"
    "(.L2::evict_normal|.L2::evict_first|.L2::evict_last)?(.L2::cache_hint)?";
constexpr auto prefetch_size = "(.L2::64B|.L2::128B|.L2::256B)?";
constexpr auto memory_type = "(.b8|.u8|.s8|.b16|.u16|.s16|.b32|.u32|.s32|.f32|.b64|.u64|.s64|.f64|.b128)";

void add_memory_rows(std::vector<Row>& rows) {
  rows.push_back(
      {format_text("ld(.weak|.volatile|.relaxed|.acquire)?(.mmio)?{}(.global|.shared|.shared::cta|.shared::cluster|.local|.const|"
                   ".param|.param::entry|.param::func)?(.ca|.cg|.cs|.lu|.cv)?(.nc)?{}{}(.v2|.v4|.v8)?{}",
                   scope, priorities, prefetch_size, memory_type),
       "", nullptr, Semantics::load});
  rows.push_back({format_text("ldu(.global)?(.v2|.v4)?{}", memory_type), "", nullptr, Semantics::load});
  rows.push_back(
      {format_text("st(.weak|.volatile|.relaxed|.release)?(.mmio)?{}(.global|.shared|.shared::cta|.shared::cluster|.local|.param|"
                   ".param::func)?(.wb|.cg|.cs|.wt)?{}(.v2|.v4|.v8)?{}",
                   scope, priorities, memory_type),
       "", nullptr, Semantics::store});

  const auto atomic = [&](const std::string& mnemonic, const std::string& operation, const char* vectors, const char* types) {
    const char* ordering = mnemonic == "atom" ? "(.relaxed|.acquire|.release|.acq_rel)?" : "(.relaxed|.release)?";
    const char* cached = operation == ".cas" ? "" : "(.L2::cache_hint)?";
    rows.push_back({mnemonic + ordering + scope + memory_space + operation + cached + vectors + types, "", nullptr, Semantics::atomic});
  };
  for (const char* mnemonic : {"atom", "red"}) {
    atomic(mnemonic, ".add", "", "(.u32|.s32|.u64)");
    atomic(mnemonic, ".add", "", ".f64");
    atomic(mnemonic, ".add", "(.v2|.v4)?", ".f32");
    atomic(mnemonic, ".add.noftz", "(.v2|.v4|.v8)?", "(.f16|.bf16)");
    atomic(mnemonic, ".add.noftz", "(.v2|.v4)?", "(.f16x2|.bf16x2)");
    atomic(mnemonic, "(.min|.max)", "", "(.u32|.s32|.u64|.s64)");
    atomic(mnemonic, "(.min|.max).noftz", "(.v2|.v4|.v8)", "(.f16|.bf16)");
    atomic(mnemonic, "(.min|.max).noftz", "(.v2|.v4)", "(.f16x2|.bf16x2)");
    atomic(mnemonic, "(.inc|.dec)", "", ".u32");
    atomic(mnemonic, "(.and|.or|.xor)", "", "(.b32|.b64)");
  }
  atomic("atom", ".exch", "", "(.b32|.b64|.b128)");
  atomic("atom", ".cas", "", "(.b16|.b32|.b64|.b128)");

  const Requirement ampere = since(80, {7, 0});
  rows.push_back({format_text("cp.async(.ca|.cg)(.shared|.shared::cta).global(.L2::cache_hint)?{}", prefetch_size), "", nullptr,
                  Semantics::cp_async, ampere});
  rows.push_back({"cp.async.commit_group", "", nullptr, Semantics::cp_async_commit, ampere});
  rows.push_back({"cp.async.wait_group", "", nullptr, Semantics::cp_async_wait, ampere});
  rows.push_back({"cp.async.wait_all", "", nullptr, Semantics::cp_async_wait, ampere});
  rows.push_back({"cvta(.to)?(.global|.shared|.shared::cta|.shared::cluster|.local|.const|.param|.param::entry).u64", "", nullptr,
                  Semantics::address_space});
  rows.push_back({"isspacep(.global|.shared|.shared::cta|.shared::cluster|.local|.const|.param|.param::entry)", "", nullptr,
                  Semantics::address_space});
}

/// Each type was asked of ptxas 13.0. A vector in braces and one register: the rows of mov (basic_rows.cpp).
void add_vector_rows(std::vector<Row>& rows) {
  rows.push_back({"mov.v2(.b16|.u16|.s16|.b32|.u32|.s32|.f32|.b64|.u64|.s64|.f64)", "", nullptr, Semantics::move_vector});
  rows.push_back({"mov.v4(.b16|.u16|.s16|.b32|.u32|.s32|.f32)", "", nullptr, Semantics::move_vector});
}

void add_control_rows(std::vector<Row>& rows) {
  rows.push_back({"bra(.uni)?", "", nullptr, Semantics::branch});
  rows.push_back({"brx.idx(.uni)?", "", nullptr, Semantics::branch_table});
  rows.push_back({"call(.uni)?", "", nullptr, Semantics::call});
  rows.push_back({"ret(.uni)?", "", nullptr, Semantics::return_});
  rows.push_back({"exit", "", nullptr, Semantics::exit});
  rows.push_back({"trap", "", nullptr, Semantics::trap});
  rows.push_back({"brkpt", "", nullptr, Semantics::trap});
  const Requirement stack = since(52, {7, 3});
  rows.push_back({"alloca(.u32|.u64)", "", nullptr, Semantics::stack, stack});
  rows.push_back({"stacksave(.u32|.u64)", "d:T =", nullptr, Semantics::stack, stack});
  rows.push_back({"stackrestore(.u32|.u64)", "a:T", nullptr, Semantics::stack, stack});
}

void add_warp_rows(std::vector<Row>& rows) {
  rows.push_back({"bar(.cta)?(.sync|.arrive)", "", nullptr, Semantics::barrier});
  rows.push_back({"bar(.cta)?.red.popc.u32", "", nullptr, Semantics::barrier});
  rows.push_back({"bar(.cta)?.red(.and|.or).pred", "", nullptr, Semantics::barrier});
  const Requirement barrier = since(30, {6, 0});
  rows.push_back({"barrier(.cta)?(.sync|.arrive)(.aligned)?", "", nullptr, Semantics::barrier, barrier});
  rows.push_back({"barrier(.cta)?.red.popc(.aligned)?.u32", "", nullptr, Semantics::barrier, barrier});
  rows.push_back({"barrier(.cta)?.red(.and|.or)(.aligned)?.pred", "", nullptr, Semantics::barrier, barrier});
  const Requirement synchronous = since(30, {6, 0}), match = since(70, {6, 0}), reduce = since(80, {7, 0});
  rows.push_back({"bar.warp.sync", "mask:u32", nullptr, Semantics::warp_barrier, synchronous});
  rows.push_back(
      {"shfl.sync(.up|.down|.bfly|.idx).b32", "d:b32[|p] = a:b32, b:b32, c:b32, mask:u32", nullptr, Semantics::exchange, synchronous});
  rows.push_back({"shfl(.up|.down|.bfly|.idx).b32", "d:b32[|p] = a:b32, b:b32, c:b32", nullptr, Semantics::exchange});
  rows.push_back({"vote.sync(.all|.any|.uni).pred", "p = a, mask:u32", nullptr, Semantics::exchange, synchronous});
  rows.push_back({"vote.sync.ballot.b32", "d:b32 = a:pred, mask:u32", nullptr, Semantics::exchange, synchronous});
  rows.push_back({"vote(.all|.any|.uni).pred", "p = a", nullptr, Semantics::exchange});
  rows.push_back({"vote.ballot.b32", "d:b32 = a:pred", nullptr, Semantics::exchange});
  rows.push_back({"match.any.sync(.b32|.b64)", "d:u32 = a:T, mask:u32", nullptr, Semantics::exchange, match});
  rows.push_back({"match.all.sync(.b32|.b64)", "d:u32[|p] = a:T, mask:u32", nullptr, Semantics::exchange, match});
  rows.push_back({"redux.sync(.add|.min|.max)(.u32|.s32)", "d:T = a:T, mask:u32", nullptr, Semantics::exchange, reduce});
  rows.push_back({"redux.sync(.and|.or|.xor).b32", "d:u32 = a:u32, mask:u32", nullptr, Semantics::exchange, reduce});
  rows.push_back({"redux.sync(.min|.max)(.abs)?(.NaN)?.f32", "d:f32 = a:f32, mask:u32", nullptr, Semantics::exchange,
                  Requirement{.families = {100}, .ptx = {8, 6}}});
  rows.push_back({"activemask.b32", "d:b32 =", nullptr, Semantics::active_mask, since(30, {6, 2})});
  rows.push_back({"elect.sync", "d:u32|p = mask:u32", nullptr, Semantics::elect, since(90, {8, 0})});
}

/// wgmma.mma_async itself has no row: wgmma.h lists its spellings.
void add_warpgroup_rows(std::vector<Row>& rows) {
  const Requirement hopper{.families = {90}, .architecture = true, .ptx = {8, 0}};
  rows.push_back({"wgmma.fence.sync(.aligned)?", "", nullptr, Semantics::wgmma_fence, hopper});
  rows.push_back({"wgmma.commit_group.sync(.aligned)?", "", nullptr, Semantics::wgmma_commit, hopper});
  rows.push_back({"wgmma.wait_group.sync(.aligned)?", "", nullptr, Semantics::wgmma_wait, hopper});
  rows.push_back({"setmaxnreg(.inc|.dec).sync.aligned(.u32|.s32)", "", nullptr, Semantics::max_registers, since(90, {8, 0})});
}

/// Memory ordering and hints to the hardware.
void add_other_rows(std::vector<Row>& rows) {
  rows.push_back({"membar(.cta|.gl|.sys)", "", nullptr, Semantics::fence});
  rows.push_back({"fence(.sc|.acq_rel)?(.cta|.cluster|.gpu|.sys)", "", nullptr, Semantics::fence, since(70, {6, 0})});
  rows.push_back({"fence(.acquire|.release)(.cta|.cluster|.gpu|.sys)", "", nullptr, Semantics::fence, since(70, {6, 0})});
  for (const char* restricted : {"acquire.sync_restrict::shared::cluster", "release.sync_restrict::shared::cta"}) {
    const Requirement requirement = since(90, {8, 6});
    rows.push_back({format_text("fence.{}.cluster", restricted), "", nullptr, Semantics::fence, requirement});
    rows.push_back({format_text("fence.proxy.async::generic.{}.cluster", restricted), "", nullptr, Semantics::proxy_fence, requirement});
  }
  const auto hint = [&](const char* opcode, const char* operands, const Requirement& requirement = any_target) {
    rows.push_back({opcode, operands, nullptr, Semantics::nothing, requirement});
  };
  hint("fence.proxy.alias", "", since(70, {7, 5}));
  hint("membar.proxy.alias", "", since(60, {7, 5}));
  rows.push_back({"nanosleep.u32", "t:T", nullptr, Semantics::sleep, since(70, {6, 3})});
  hint("prefetch(.global|.local)?(.L1|.L2)", "address:u64");
  hint("prefetch(.global)?(.L2::evict_last|.L2::evict_normal)", "address:u64", since(80, {7, 4}));
  hint("prefetch(.const|.param)?.tensormap", "address:u64", since(90, {8, 0}));
  hint("prefetchu.L1", "address:u64");
  hint("applypriority(.global)?.L2::evict_normal", "address:u64, size:u32", since(80, {7, 4}));
  hint("discard(.global)?.L2", "address:u64, size:u32", since(80, {7, 4}));
  hint("griddepcontrol(.launch_dependents|.wait)", "", since(90, {7, 8}));
  hint("pmevent(.mask)?", "event:u16");
}

/// multimem. What ptxas takes and the machine does not have are types of 8 bits, as no H200 has them: an entry that has one is resolved,
/// and a lane that comes to it traps by name.
void add_multimem_rows(std::vector<Row>& rows) {
  const Requirement hopper = since(90, {8, 1}), bytes{.families = {100, 110, 120}, .ptx = {8, 6}};
  const auto several = [&](const std::string& operation, const char* order, bool loads) {
    const auto row = [&](const char* kind, const char* vector, const char* types, const Requirement& requirement) {
      const bool of_bytes = std::string_view(types).find(".e4m3x4") != std::string_view::npos;
      rows.push_back({"multimem." + operation + order + scope + "(.global)?" + kind + vector + types,
                      !of_bytes ? ""
                      : loads   ? "d:T*v = address:u64"
                                : "address:u64, a:T*v",
                      nullptr, of_bytes ? Semantics::absent : Semantics::multimem, requirement});
    };
    if (operation == "st") {
      row("", "", "(.b32|.b64|.u32|.s32|.u64|.s64|.f64)", hopper);
      row("", "(.v2|.v4)?", "(.f32|.f16x2|.bf16x2)", hopper);
      row("", "(.v2|.v4|.v8)", "(.f16|.bf16)", hopper);
      row("", "(.v2|.v4)?", "(.e4m3x4|.e5m2x4)", bytes);
      return;
    }
    row(".add", "", "(.u32|.s32|.u64)", hopper);
    row(".add", "", ".f64", hopper);
    row(".add", "(.v2|.v4)?", ".f32", hopper);
    row(".add", "(.v2|.v4)?", "(.f16x2|.bf16x2)", hopper);
    row("(.min|.max)", loads ? "(.v2|.v4)?" : "(.v2|.v4)", "(.f16x2|.bf16x2)", hopper);
    row("(.add|.min|.max)", "(.v2|.v4|.v8)", "(.f16|.bf16)", hopper);
    row("(.min|.max)", "", "(.u32|.s32|.u64|.s64)", hopper);
    row("(.and|.or|.xor)", "", "(.b32|.b64)", hopper);
    if (!loads) return;
    row(".add.acc::f32", "(.v2|.v4)?", "(.f16x2|.bf16x2)", since(90, {8, 2}));
    row(".add.acc::f32", "(.v2|.v4|.v8)", "(.f16|.bf16)", since(90, {8, 2}));
    row("(.add|.min|.max)", "(.v2|.v4)?", "(.e4m3x4|.e5m2x4)", bytes);
    row(".add.acc::f16", "(.v2|.v4)?", "(.e4m3x4|.e5m2x4)", bytes);
  };
  several("ld_reduce", "(.weak|.relaxed|.acquire)?", true);
  several("st", "(.weak|.relaxed|.release)?", false);
  several("red", "(.relaxed|.release)?", false);
}

/// A word of a LaunchAnswer, which a register has in two halves of 64 bits, each lane by lane.
template <int word>
void answer_word(void* const* results, const void* const* sources) {
  const auto* const half = static_cast<const std::uint64_t*>(sources[0]) + word / 2 * warp_size;
  for (int lane = 0; lane < warp_size; ++lane)
    static_cast<std::uint32_t*>(results[0])[lane] = static_cast<std::uint32_t>(half[lane] >> word % 2 * 32);
}

void answer_words(void* const* results, const void* const* sources) {
  answer_word<0>(results, sources);
  answer_word<1>(results + 1, sources);
  answer_word<2>(results + 2, sources);
  answer_word<3>(results + 3, sources);
}

void answer_says_cancelled(void* const* results, const void* const* sources) {
  std::uint32_t marks[warp_size];
  void* const to[] = {marks};
  answer_word<3>(to, sources);
  LaneMask mask = 0;
  for (int lane = 0; lane < warp_size; ++lane) mask |= LaneMask{marks[lane] == cancelled_mark} << lane;
  *static_cast<LaneMask*>(results[0]) = mask;
}

void add_launch_control_rows(std::vector<Row>& rows) {
  const Requirement blackwell = since(100, {8, 6});
  const std::string cancel = "clusterlaunchcontrol.try_cancel.async(.shared::cta)?.mbarrier::complete_tx::bytes";
  rows.push_back({cancel + ".b128", "", nullptr, Semantics::bulk_copy, blackwell});
  rows.push_back(
      {cancel + ".multicast::cluster::all.b128", "", nullptr, Semantics::bulk_copy, {.families = {100, 110, 120}, .ptx = {8, 6}}});
  const auto query = [&](const char* what, const char* operands, WarpFunction function) {
    rows.push_back({std::string("clusterlaunchcontrol.query_cancel") + what, operands, function, Semantics::compute, blackwell});
  };
  query(".is_canceled.pred.b128", "p = a:b128", answer_says_cancelled);
  query(".get_first_ctaid.v4.b32.b128", "d:b32*4 = a:b128", answer_words);
  query(".get_first_ctaid::x.b32.b128", "d:b32 = a:b128", answer_word<0>);
  query(".get_first_ctaid::y.b32.b128", "d:b32 = a:b128", answer_word<1>);
  query(".get_first_ctaid::z.b32.b128", "d:b32 = a:b128", answer_word<2>);
  rows.push_back({"st.bulk(.weak)?(.shared::cta)?", "", nullptr, Semantics::bulk_copy, blackwell});
}

}  // namespace

void add_machine_rows(std::vector<Row>& rows) {
  add_memory_rows(rows);
  add_vector_rows(rows);
  add_control_rows(rows);
  add_warp_rows(rows);
  add_warpgroup_rows(rows);
  add_other_rows(rows);
  add_multimem_rows(rows);
  add_launch_control_rows(rows);
}

}  // namespace warpmat::catalogue
