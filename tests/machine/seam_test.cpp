
#include <fmt/ranges.h>

#include <warpmat/forms.h>
#include <warpmat/machine/texture.h>
#include <warpmat/ptx/catalogue/catalogue.h>
#include <warpmat/tables/types.h>

#include "machine/kernel.h"
#include "test.h"

// Every instruction that accesses memory, with its bytes over the end of a memory behind which others follow: the seam of two adjacent
// buffers, the end of shared memory, of a lane's local memory and of the parameters. AddressSanitizer sees what a wrong check lets through.

namespace warpmat::seam_test {
namespace {

using catalogue::Match;
using catalogue::Pattern;
using catalogue::Semantics;

/// Each memory has 4095 bytes from a multiple of 128 on: N bytes at the multiple of N that is 4096 - N go one byte too far. Local memory,
/// whose size is a multiple of 16, has 4080.
constexpr std::uint64_t bytes = 4095, first = 0x7000'0000'0000;
constexpr std::uint8_t filled = 0xee;

/// Whether lanes access memory that they name.
bool accesses_memory(Semantics semantics) {
  switch (semantics) {
    case Semantics::load:
    case Semantics::store:
    case Semantics::atomic:
    case Semantics::cp_async:
    case Semantics::matrix:
    case Semantics::mbarrier:
    case Semantics::bulk_copy:
    case Semantics::tensor_map:
    case Semantics::tensor_memory:
    case Semantics::texture: return true;
    case Semantics::wgmma:     // no row; wgmma_operands_test.cpp
    case Semantics::multimem:  // multimem_test.cpp
    case Semantics::compute:
    case Semantics::select:
    case Semantics::special:
    case Semantics::cp_async_commit:
    case Semantics::cp_async_wait:
    case Semantics::branch:
    case Semantics::branch_table:
    case Semantics::call:
    case Semantics::return_:
    case Semantics::exit:
    case Semantics::trap:
    case Semantics::absent:
    case Semantics::stack:
    case Semantics::barrier:
    case Semantics::warp_barrier:
    case Semantics::exchange:
    case Semantics::active_mask:
    case Semantics::elect:
    case Semantics::address_space:
    case Semantics::move_vector:
    case Semantics::fence:
    case Semantics::sleep:
    case Semantics::max_registers:
    case Semantics::nothing:
    case Semantics::wgmma_fence:
    case Semantics::wgmma_commit:
    case Semantics::wgmma_wait:
    case Semantics::bulk_commit:
    case Semantics::bulk_wait:
    case Semantics::cluster_barrier:
    case Semantics::cluster_rank:
    case Semantics::proxy_fence: return false;
  }
  return false;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Rows of these semantics that access no memory, or that of a descriptor, of which tensor_memory_test.cpp has tests.
bool is_exempt(std::string_view opcode) {
  for (const char* part : {"prefetch", "txq", "suq"})
    if (has(opcode, part)) return true;
  return opcode.starts_with("tcgen05") && !has(opcode, ".alloc") && !has(opcode, ".commit");
}

/// A statement, and how many bytes it accesses at the place under test.
struct Case {
  std::string statement;
  std::uint64_t bytes = 0;
  bool pair = false;  ///< of blocks
};

std::string register_of(int bits, int number) {
  const char* const name = bits <= 16 ? "%h" : bits == 32 ? "%r" : bits == 64 ? "%l" : "%q";
  return fmt::format("{}{}", name, number);
}

std::string registers(int bits, int count, int from) {
  if (count == 1) return register_of(bits, from);
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back(register_of(bits, from + i));
  return fmt::format("{{{}}}", fmt::join(all, ", "));
}

std::string hint(std::string_view opcode) {
  return has(opcode, "cache_hint") ? ", %policy" : "";
}

/// %g is the address at the seam, %s that at the end of shared memory, %own that of local memory; `given` are the parameters' last bytes.
std::string address_of(std::string_view opcode) {
  if (has(opcode, ".shared")) return "[%s]";
  if (has(opcode, ".local")) return "[%own]";
  return has(opcode, ".param") ? "[given+AT]" : "[%g]";
}

Case access_case(const Match& match, std::string_view opcode) {
  const int bits = match.types.back()->bits, count = match.vector();
  const std::string address = address_of(opcode), data = registers(bits, count, 1);
  const bool stores = match.pattern->row.semantics == Semantics::store;
  return {stores ? fmt::format("{} {}, {}{};", opcode, address, data, hint(opcode))
                 : fmt::format("{} {}, {}{};", opcode, data, address, hint(opcode)),
          static_cast<std::uint64_t>(bits / 8 * count)};
}

Case atomic_case(const Match& match, std::string_view opcode) {
  const int bits = match.types.back()->bits, count = match.vector();
  std::string text = fmt::format("{} ", opcode);
  if (opcode.starts_with("atom")) text += registers(bits, count, 1) + ", ";
  text += address_of(opcode) + ", " + registers(bits, count, opcode.starts_with("atom") && bits == 128 ? 2 : 9);
  if (has(opcode, ".cas")) text += ", " + register_of(bits, bits == 128 ? 3 : 17);
  return {text + hint(opcode) + ";", static_cast<std::uint64_t>(bits / 8 * count)};
}

std::string group(std::string_view what, int count) {
  std::vector<std::string_view> all(static_cast<std::size_t>(count), what);
  return fmt::format("{{{}}}", fmt::join(all, ", "));
}

/// The number before the d of .1d to .5d.
int rank_of(std::string_view opcode) {
  for (const char c : {'1', '2', '3', '4', '5'})
    if (has(opcode, fmt::format(".{}d", c))) return c - '0';
  return 0;
}

Case bulk_case(const Match& match, std::string_view opcode) {
  const bool pair = has(opcode, "cta_group::2");
  const auto made = [&](const std::string& operands, std::uint64_t count) {
    return Case{fmt::format("{} {};", opcode, operands), count, pair};
  };
  if (opcode.starts_with("st.bulk")) return made("[%sl], 32, 0", 32);
  const std::string shared = has(opcode, ".shared") ? "[%s]" : "[%sl]", bar = has(opcode, ".shared") ? "[bar]" : "[%bar]";
  if (opcode.starts_with("clusterlaunchcontrol")) return made(fmt::format("{}, {}", shared, bar), 16);
  if (opcode.starts_with("st.async") || opcode.starts_with("red.async")) {
    const int bits = match.types.back()->bits, count = match.vector();
    return made(fmt::format("{}, {}, {}", shared, registers(bits, count, 1), bar), static_cast<std::uint64_t>(bits / 8 * count));
  }
  const bool loads = has(opcode, "shared::cta.global") || has(opcode, "shared::cluster.global");
  const std::string behind = std::string(has(opcode, ".multicast::cluster") ? ", 1" : "") + hint(opcode);
  if (const int rank = rank_of(opcode); rank != 0) {
    const std::string map = fmt::format("[{}, {}]", has(opcode, "im2col") ? "%image" : "%tile", group("0", rank));
    const std::string offsets = loads && has(opcode, "im2col") ? ", " + group("0", rank - 2) : "";
    return made(loads ? fmt::format("[tile], {}, [bar]{}{}", map, offsets, behind) : fmt::format("{}, [tile]{}", map, hint(opcode)), 64);
  }
  if (loads) return made("[tile], [%g], 32, [bar]" + behind, 32);
  if (has(opcode, "shared::cluster.shared::cta")) return made("[tile], [%s], 32, [bar]", 32);
  return made("[%g], [tile], 32" + hint(opcode), 32);
}

Case tensor_map_case(std::string_view opcode) {
  const std::string address = address_of(opcode);
  if (has(opcode, "cp_fenceproxy")) return {fmt::format("{} [%g], [tile], 128;", opcode), 128};
  const bool ordinal = has(opcode, "_dim") || has(opcode, "stride");
  const char* const value = has(opcode, ".b64")                                                    ? "%l1"
                            : has(opcode, "_dim") || has(opcode, "stride") || has(opcode, ".rank") ? "%r1"
                                                                                                   : "0";
  return {fmt::format("{} {}, {}{};", opcode, address, ordinal ? "0, " : "", value), 128};
}

Case mbarrier_case(std::string_view opcode) {
  std::string before, behind;
  if (has(opcode, "arrive") && !opcode.starts_with("cp.async")) before = has(opcode, "shared::cluster") ? "_, " : "%l1, ";
  if (has(opcode, "_wait")) before = "%p, ";
  if (has(opcode, "init") || has(opcode, "noComplete") || has(opcode, "expect_tx") || has(opcode, "complete_tx")) behind = ", 1";
  if (has(opcode, "_wait")) behind = has(opcode, ".parity") ? ", 0" : ", %l2";
  return {fmt::format("{} {}{}{};", opcode, before, has(opcode, "shared") ? "[%s]" : "[%sl]", behind), 8};
}

Case texture_case(const Match& match, std::string_view opcode) {
  const bool surface = opcode.starts_with("su"), stores = opcode.starts_with("sust");
  const bool integers = surface || (opcode.starts_with("tex") && match.types.back()->name == "s32");
  const std::string x = integers ? "%r20" : "%f1";
  std::string place = group(x, 4), handle = "%surface";
  if (has(opcode, ".1d")) place = group(x, 1);
  if (has(opcode, ".2d") || has(opcode, ".a1d")) place = group(x, 2);
  if (has(opcode, ".a1d") || has(opcode, ".a2d") || has(opcode, ".acube"))
    place = has(opcode, ".a1d") ? "{%r20, " + x + "}" : "{%r20, " + x + ", " + x + ", " + x + "}";
  if (!surface) {
    std::string behind = has(opcode, ".level") ? ", %f1" : "";
    if (has(opcode, ".grad"))
      behind = has(opcode, "1d")   ? ", {%f1}, {%f1}"
               : has(opcode, "2d") ? ", {%f1, %f1}, {%f1, %f1}"
                                   : ", {%f1, %f1, %f1, %f1}, {%f1, %f1, %f1, %f1}";
    return {fmt::format("{} {{%r1, %r2, %r3, %r4}}, [%texture, {}]{};", opcode, place, behind), 64};
  }
  const std::string data = registers(match.types.back()->bits, match.vector(), 1);
  return {
      stores ? fmt::format("{} [{}, {}], {};", opcode, handle, place, data) : fmt::format("{} {}, [{}, {}];", opcode, data, handle, place),
      64};
}

Case case_of(const Match& match, std::string_view opcode) {
  switch (match.pattern->row.semantics) {
    case Semantics::load:
    case Semantics::store: return access_case(match, opcode);
    case Semantics::atomic: return atomic_case(match, opcode);
    case Semantics::cp_async: return {fmt::format("{} [tile], [%g], 16{};", opcode, hint(opcode)), 16};
    case Semantics::bulk_copy: return bulk_case(match, opcode);
    case Semantics::tensor_map: return tensor_map_case(opcode);
    case Semantics::mbarrier: return mbarrier_case(opcode);
    case Semantics::texture: return texture_case(match, opcode);
    case Semantics::tensor_memory:
      return has(opcode, ".alloc")
                 ? Case{fmt::format("{} [{}], 32;", opcode, has(opcode, ".shared") ? "%s" : "%sl"), 4, has(opcode, "group::2")}
                 : Case{fmt::format("{} [{}]{};", opcode, has(opcode, "shared") ? "%s" : "%sl", has(opcode, "multicast") ? ", 1" : ""), 8,
                        has(opcode, "group::2")};
    default: return {};
  }
}

std::string text_of(const Case& one, std::uint64_t at) {
  std::string statement = one.statement;
  if (const std::size_t here = statement.find("AT"); here != std::string::npos) statement.replace(here, 2, std::to_string(at));
  return fmt::format(R"(
    .shared .align 8 .b64 bar; .shared .align 128 .b8 tile[{0}];
    .local .align 128 .b8 local[4080];
    .reg .pred %p; .reg .b16 %h<33>; .reg .b32 %r<99>; .reg .f32 %f<9>; .reg .b64 %l<33>; .reg .b128 %q<9>;
    .reg .b32 %s; .reg .b64 %g, %sl, %bar, %own, %tile, %image, %texture, %surface, %policy;
    ld.param.u64 %g, [global]; ld.param.u64 %tile, [maps]; ld.param.u64 %texture, [objects];
    add.u64 %g, %g, {1}; add.u64 %image, %tile, 128; add.u64 %surface, %texture, 1;
    mov.u32 %s, tile; add.u32 %s, %s, {1}; cvt.u64.u32 %sl, %s; mov.u64 %own, local; add.u64 %own, %own, {1};
    cvta.shared.u64 %sl, %sl; mov.u64 %bar, bar; cvta.shared.u64 %bar, %bar;
    mov.b32 %r20, 0; mov.b32 %r1, 1; mov.b64 %l1, 16; mov.b64 %policy, 0; mov.f32 %f1, 0f3F000000;
    mov.u32 %r2, %laneid; setp.eq.u32 %p, %r2, 0;
    @%p mbarrier.init.shared.b64 [bar], 32;
    {2}
    ret;
)",
                     bytes, at, statement);
}

/// Maps whose only row of 64 bytes goes over the seam, and objects of one row of 16 texels there.
struct Memory {
  DeviceMemory memory;
  std::uint64_t maps = 0, texture = 0;

  Memory() {
    memory.place(first, std::vector<std::uint8_t>(bytes, filled), "A");
    memory.place(first + bytes, std::vector<std::uint8_t>(bytes, filled), "B");
  }

  void place_maps(std::string_view opcode, std::uint64_t address) {
    std::vector<std::uint8_t> both;
    const auto rank = static_cast<std::uint32_t>(std::max(rank_of(opcode), 1));
    for (const TensorMap::Mode mode : {TensorMap::Mode::tile, TensorMap::Mode::im2col}) {
      TensorMap::Arguments given{
          .type = TensorMap::Type::u32, .rank = mode == TensorMap::Mode::tile ? rank : std::max(rank, 3u), .address = address / 16 * 16};
      given.dims = {16, 1, 1, 1, 1};
      given.strides = {64, 64, 64, 64};
      given.box = {16, 1, 1, 1, 1};
      given.mode = mode;
      if (mode == TensorMap::Mode::im2col) given.channels = 16, given.pixels = 1;
      const TensorMap::Encoded encoded = TensorMap(given).encode();
      both.insert(both.end(), encoded.begin(), encoded.end());
    }
    maps = memory.allocate(std::span<const std::uint8_t>(both), "maps");
  }

  void add_objects(const Match& match, std::string_view opcode, std::uint64_t address) {
    Texture object;
    object.levels = {{address, 16, 1, 1, 64, 64}};
    object.cube = has(opcode, "cube");
    object.layered = has(opcode, ".a1d") || has(opcode, ".a2d") || has(opcode, ".acube");
    if (object.cube) object.levels = {{address, 1, 1, 6, 4, 12}};
    object.dimensions = static_cast<std::uint8_t>(object.cube ? 2 : has(opcode, "3d") ? 3 : has(opcode, "1d") ? 1 : 2);
    object.normalised_coordinates = true;
    if (match.pattern->row.semantics == Semantics::texture && !opcode.starts_with("su") && match.types.back()->name == "s32")
      object.normalised_coordinates = false, object.linear_memory = object.dimensions == 1;
    if (has(opcode, "3d") && !object.layered) object.levels = {{address, 16, 1, 1, 64, 64}};
    texture = add_texture(memory, object);
    object.surface = true;
    static_cast<void>(add_texture(memory, object));  // the next handle
  }
};

struct Outcome {
  std::optional<Trap> trap;
  bool unchanged = true;
};

/// Runs the case `at` bytes into its memory, with 32 lanes. `match`: of a row of the catalogue.
Outcome run(const Kernel& kernel, const Case& one, std::uint64_t at, bool observed, const Match* match = nullptr) {
  Memory memory;
  if (match != nullptr) memory.place_maps(match->opcode, first + at);
  if (match != nullptr) memory.add_objects(*match, match->opcode, first + at);
  LaunchOptions options{.most_operations = 100'000};
  if (!observed) options.checks = {.uninitialised = false, .copies = false, .fences = false, .stores = false};
  const std::uint32_t blocks = one.pair ? 2 : 1;
  Outcome outcome;
  try {
    launch(kernel, {.grid = {blocks}, .block = {32}, .cluster = {blocks}}, memory.memory,
           {first, memory.maps, memory.texture, Argument(std::vector<std::uint8_t>(bytes))}, options);
  } catch (const Trap& trap) {
    outcome.trap.emplace(trap);
  }
  for (const std::uint64_t buffer : {first, first + bytes}) {
    const auto held = memory.memory.read<std::uint8_t>(buffer, bytes);
    outcome.unchanged &= std::ranges::all_of(held, [](std::uint8_t byte) { return byte == filled; });
  }
  return outcome;
}

std::optional<Kernel> kernel_of(const Case& one, std::uint64_t at, std::string& refusal) {
  for (const char* target : {"sm_90a", "sm_100a", "sm_120a", "sm_80"}) {
    try {
      return Kernel(module_of(".param .u64 global, .param .u64 maps, .param .u64 objects, .param .align 128 .b8 given[4095]",
                              text_of(one, at), target),
                    "k");
    } catch (const SyntaxError& error) {
      if (refusal.empty()) refusal = error.what();
    }
  }
  return std::nullopt;
}

/// Of a matrix, in 32 or 64 bits.
std::string registers_in_list(const Operand& operand) {
  std::vector<std::string> all;
  for (int i = 0; i < operand.registers(); ++i) all.push_back(register_of(operand.fragment.register_bits(), i));
  return fmt::format("{}", fmt::join(all, ", "));
}

/// The spellings of a row that differ in one place from the plainest; of types and vectors in both.
std::vector<std::string> spellings(const Pattern& pattern) {
  const auto is_wide = [](const OpcodePlace& place) {
    return place.alternatives.front() == ".v2" || find_ptx_type(std::string_view(place.alternatives.back()).substr(1)) != nullptr;
  };
  const auto usual = [&](const OpcodePlace& place) -> std::string {
    if (place.optional) return "";
    for (const char* type : {".b32", ".u32", ".f32"})
      if (std::ranges::find(place.alternatives, type) != place.alternatives.end()) return type;
    return place.alternatives.front();
  };
  std::vector<std::vector<std::string>> all{{}};
  for (std::size_t i = 0; i < pattern.places.size(); ++i) {
    const OpcodePlace& place = pattern.places[i];
    std::vector<std::vector<std::string>> next;
    for (const auto& begun : all) {
      bool plain = true;  // so far
      for (std::size_t j = 0; j < i; ++j) plain &= is_wide(pattern.places[j]) || begun[j] == usual(pattern.places[j]);
      bool usual_types = true;
      for (std::size_t j = 0; j < i; ++j) usual_types &= begun[j] == usual(pattern.places[j]);
      const auto add = [&](const std::string& chosen) {
        next.push_back(begun);
        next.back().push_back(chosen);
      };
      add(usual(place));
      for (const std::string& other : place.alternatives)
        if (other != usual(place) && (is_wide(place) ? plain : usual_types)) add(other);
    }
    all = std::move(next);
  }
  std::vector<std::string> opcodes;
  for (const auto& chosen : all) opcodes.push_back(pattern.mnemonic + fmt::format("{}", fmt::join(chosen, "")));
  return opcodes;
}

/// Returns whether the case was executed.
bool check_case(const Match& match, const std::string& opcode, std::string& refusal) {
  const Case one = case_of(match, opcode);
  if (one.bytes < 2) return false;
  const std::optional<Kernel> over = kernel_of(one, bytes + 1 - one.bytes, refusal);
  if (!over) return false;
  INFO(one.statement);
  const std::optional<Kernel> inside = kernel_of(one, 0, refusal);
  REQUIRE(inside);
  for (const bool observed : {false, true}) {
    const Outcome outcome = run(*over, one, bytes + 1 - one.bytes, observed, &match);
    const std::string said = outcome.trap ? outcome.trap->what() : "nothing";
    INFO(said);
    CHECK(outcome.unchanged);
    REQUIRE(outcome.trap);
    CHECK(outcome.trap->kind == Trap::Kind::out_of_range);
    CHECK(outcome.trap->site.kernel == "k");
    CHECK(outcome.trap->site.statement == opcode);
    CHECK(outcome.trap->site.line != 0);
  }
  const Outcome good = run(*inside, one, 0, false, &match);
  const std::string said = good.trap ? good.trap->what() : "nothing";
  INFO(said);
  CHECK((!good.trap || (good.trap->kind != Trap::Kind::out_of_range && good.trap->kind != Trap::Kind::misaligned)));
  return true;
}

TEST_CASE("every row of the catalogue that accesses memory asks for all of its bytes: none over the end of a buffer with another behind it",
          "[machine][seam]") {
  for (const Pattern& pattern : catalogue::patterns()) {
    if (pattern.hidden || !accesses_memory(pattern.row.semantics) || is_exempt(pattern.row.opcode)) continue;
    std::string refusal;
    int spelled = 0, executed = 0;  // spelled by no row before it
    for (const std::string& opcode : spellings(pattern)) {
      if (has(opcode, ".param") && (has(opcode, "::func") || pattern.row.semantics == Semantics::store)) continue;  // of calls
      const auto match = catalogue::find_row(opcode);
      if (!match || match->pattern != &pattern) continue;
      ++spelled;
      executed += check_case(*match, opcode, refusal);
    }
    INFO(pattern.row.opcode);
    INFO(refusal);
    CHECK((executed > 0 || spelled == 0));
  }
}

TEST_CASE("a row or a matrix in memory lies in one memory: forms of ldmatrix, stmatrix, wmma.load and wmma.store", "[machine][seam]") {
  for (const Form& form : forms()) {
    if (form.find_operand(OperandName::p) == nullptr) continue;
    const bool matrix = form.mnemonic == Mnemonic::wmma_load || form.mnemonic == Mnemonic::wmma_store;
    const bool of_bytes = form.opcode.ends_with("8");  // which may lie apart, each in one of the buffers
    const bool in_shared = !matrix || has(form.opcode, ".shared");
    std::vector<std::string> operands;
    for (const Operand& operand : form.operands) {
      if (operand.kind == OperandKind::address) operands.push_back(in_shared ? "[%s]" : "[%g]");
      if (operand.kind == OperandKind::fragment) operands.push_back("{" + registers_in_list(operand) + "}");
    }
    const Case one{fmt::format("{} {};", form.opcode, fmt::join(operands, ", ")), matrix ? 32u : 16u};
    INFO(one.statement);
    std::string refusal;
    const std::optional<Kernel> over = kernel_of(one, bytes + 1 - one.bytes, refusal), inside = kernel_of(one, 0, refusal);
    INFO(refusal);
    REQUIRE(over);
    REQUIRE(inside);
    for (const bool observed : {false, true}) {
      const Outcome outcome = run(*over, one, bytes + 1 - one.bytes, observed);
      CHECK(outcome.unchanged);
      if (!outcome.trap && of_bytes) continue;
      REQUIRE(outcome.trap);
      CHECK(outcome.trap->kind == Trap::Kind::out_of_range);
      CHECK(outcome.trap->site.statement == form.opcode);
    }
    CHECK_FALSE(run(*inside, one, 0, false).trap);
  }
}

}  // namespace
}  // namespace warpmat::seam_test
