#include "gpu/lab/kernels/kernel_statements.h"

#include <array>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace warpmat {
namespace {

struct OwnPlace {
  std::string opcode, base;
  std::uint32_t bytes;
};

/// The thread's own memory in some space, also by generic address.
OwnPlace own_place(KernelDrawing& d) {
  constexpr std::array<std::pair<const char*, const char*>, 6> places{
      {{".global", "%og"}, {".shared", "%os"}, {".local", "%ol"}, {"", "%og"}, {"", "%ogs"}, {"", "%ogl"}}};
  const auto& [space, base] = places[d.random.below(places.size())];
  return {space, base, own_bytes};
}

struct Moved {
  std::string type;
  Lines registers;
  std::uint32_t bytes;
};

Moved moved(KernelDrawing& d, bool loads) {
  struct Type {
    const char *name, *registers;
    std::uint32_t bytes;
  };
  constexpr std::array<Type, 12> types{{{".u8", "rhl", 1},
                                        {".s8", "rl", 1},
                                        {".b16", "he", 2},
                                        {".u16", "hr", 2},
                                        {".s16", "rhl", 2},
                                        {".b32", "rfx", 4},
                                        {".u32", "rl", 4},
                                        {".s32", "rl", 4},
                                        {".f32", "f", 4},
                                        {".b64", "l", 8},
                                        {".u64", "l", 8},
                                        {".f64", "d", 8}}};
  const Type& type = types[d.random.below(types.size())];
  const std::uint32_t vector = std::array<std::uint32_t, 5>{1, 1, 1, 2, 4}[d.random.below(5)];
  const std::uint32_t count = vector * type.bytes > 16 || std::string_view(type.name) == ".f64" ? 1 : vector;
  const Pool& pool = pool_named(type.registers[d.random.below(std::strlen(type.registers))]);
  Moved made{fmt::format("{}{}", count > 1 ? fmt::format(".v{}", count) : "", type.name), {}, count * type.bytes};
  while (made.registers.size() < count) made.registers.push_back(loads ? d.destination(pool, made.registers) : d.any(pool));
  return made;
}

std::string list(const Lines& registers) {
  return registers.size() == 1 ? registers[0] : fmt::format("{{{}}}", fmt::join(registers, ", "));
}

Lines read_table(KernelDrawing& d) {
  const Moved what = moved(d, true);
  const std::string offset = d.any(pool_named('r'));
  return {fmt::format("and.b32 %t0, {}, {};", offset, (table_bytes - 1) & ~(what.bytes - 1)), "cvt.u64.u32 %v0, %t0;",
          "add.u64 %v0, %v0, %table;",
          d.guarded(fmt::format("ld.global{}{} {}, [%v0];", d.random.one_in(2) ? ".nc" : "", what.type, list(what.registers)))};
}

Lines copy_asynchronously(KernelDrawing& d) {
  const std::uint32_t bytes = 4u << d.random.below(3), at = static_cast<std::uint32_t>(d.own_offset(false, bytes));
  const std::uint32_t from = bytes * static_cast<std::uint32_t>(d.random.below(table_bytes / bytes));
  const std::string size = d.random.one_in(3) ? fmt::format(", {}", d.random.below(bytes / 4 + 1) * 4) : "";
  return {fmt::format("cp.async.{}.shared.global [%os+{}], [%table+{}], {}{};", bytes == 16 && d.random.one_in(2) ? "cg" : "ca", at, from,
                      bytes, size),
          "cp.async.commit_group;", "cp.async.wait_group 0;"};
}

}  // namespace

Lines memory_statements(KernelDrawing& d) {
  if (d.random.one_in(4)) return read_table(d);
  if (d.random.one_in(8)) return copy_asynchronously(d);
  return own_access(d);
}

Lines own_access(KernelDrawing& d) {
  const OwnPlace place = own_place(d);
  const bool loads = d.random.one_in(2);
  const Moved what = moved(d, loads);
  const std::string address = fmt::format("[{}+{}]", place.base, d.own_offset(what.type == ".f64", what.bytes));
  if (loads) return {d.guarded(fmt::format("ld{}{} {}, {};", place.opcode, what.type, list(what.registers), address))};
  return {d.guarded(fmt::format("st{}{} {}, {};", place.opcode, what.type, address, list(what.registers)))};
}

std::string atomic_statement(KernelDrawing& d) {
  struct Operation {
    const char *name, *types;
  };
  constexpr std::array<Operation, 14> operations{{{"add.u32", "r"},
                                                  {"add.s32", "r"},
                                                  {"add.u64", "l"},
                                                  {"add.f32", "f"},
                                                  {"add.f64", "d"},
                                                  {"min.s32", "r"},
                                                  {"max.u32", "r"},
                                                  {"min.u64", "l"},
                                                  {"max.s64", "l"},
                                                  {"and.b32", "r"},
                                                  {"or.b32", "r"},
                                                  {"xor.b64", "l"},
                                                  {"inc.u32", "r"},
                                                  {"dec.u32", "r"}}};
  const Operation& operation = operations[d.random.below(operations.size())];
  const std::string name = operation.name;
  const char letter = operation.types[0];
  const Pool& pool = pool_named(letter);
  const std::uint32_t bytes = static_cast<std::uint32_t>(pool.bits) / 8;
  const bool repeats = bytes == 8 || name.find(".f") != std::string::npos;  // in shared memory, until no other access intervened
  const bool commutes = name != "inc.u32" && name != "dec.u32" && name.find(".f") == std::string::npos;
  if (commutes && d.random.one_in(2))  // every operation has a counter of its own: different ones do not commute
    return d.guarded(d.drawn(fmt::format("red.global.{} [%counters+{}], ?{};", name, 8 * (&operation - operations.data()), letter)));
  const bool shared = d.random.one_in(2) && !(repeats && d.loops_around > 0);  // ptxas 13.0 takes two loops that begin together for one
  const std::string address = fmt::format("[{}+{}]", shared ? "%os" : "%og", d.own_offset(pool.kind == ValueKind::f64, bytes));
  const std::string space = shared ? "shared" : "global";
  switch (d.random.below(4)) {
    case 0: return d.guarded(d.drawn(fmt::format("atom.{0}.exch.b{1} ?{2}, {3}, ?{2};", space, pool.bits, letter, address)));
    case 1: return d.guarded(d.drawn(fmt::format("atom.{0}.cas.b{1} ?{2}, {3}, ?{2}, ?{2};", space, pool.bits, letter, address)));
    default: return d.guarded(d.drawn(fmt::format("atom.{0}.{1} ?{2}, {3}, ?{2};", space, name, letter, address)));
  }
}

}  // namespace warpmat
