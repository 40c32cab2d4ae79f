#include "gpu/cases/kernel_program.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <warpmat/forms.h>
#include <warpmat/warp.h>

#include "gpu/cases/absent_lanes.h"
#include "gpu/cases/kernel_choices.h"
#include "gpu/cases/random.h"
#include "gpu/cases/scalar_operands.h"
#include "gpu/runners/scalar_case.h"

namespace warpmat::inline v0_1 {
namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t slot_bytes = 8;  // of a register in the buffers
constexpr std::uint32_t own_bytes = 64, table_bytes = 1024, counters = 16;

/// What statements a kernel has: all, all but branches and loops, products and their sums with few others between, or products and sums
/// in any order, most of them, with branches and loops. ptxas 13.0 errs in some statements beside branches and decides otherwise about
/// others (docs/numerics.md): these are drawn where there are none.
enum class Shape { any, straight, contractions, sums };

class KernelGenerator {
 public:
  KernelGenerator(const Target& target, std::uint64_t key, int max_units)
      : target_(target),
        choices_(choices(target)),
        random_(key),
        left_(random_.between(1, max_units)),
        shape_(random_.one_in(4)   ? Shape::sums
               : random_.one_in(4) ? Shape::contractions
               : random_.one_in(3) ? Shape::straight
                                   : Shape::any) {}

  KernelProgram kernel() {
    program_.launch.entry = "k";
    program_.launch.config.grid = {static_cast<std::uint32_t>(random_.between(1, 3))};
    program_.launch.config.block = {static_cast<std::uint32_t>(warp_size * random_.between(1, 4))};
    add_buffers();
    while (left_ > 0) program_.units.push_back(unit(0));
    begin();
    end();
    return std::move(program_);
  }

 private:
  std::uint32_t threads_of_block() const { return program_.launch.config.block.x; }
  std::size_t threads() const { return program_.launch.config.grid.x * threads_of_block(); }

  // ---- Registers --------------------------------------------------------------------------------------------------------------------

  std::string any(const Pool& pool) { return fmt::format("{}{}", pool.prefix, random_.below(pool.size)); }

  /// A pool for numbers of `kind` in `bits` bits: mostly one that starts with such, now and then another.
  const Pool& pool_for(ValueKind kind, int bits) {
    std::vector<const Pool*> same, fitting;
    for (const Pool& pool : pools) {
      if (pool.bits != bits) continue;
      if (bits == 64 && (kind == ValueKind::f64) != (pool.kind == ValueKind::f64)) continue;  // no NaN of any payload, see Choices
      fitting.push_back(&pool);
      const bool pairs = kind == ValueKind::i16 && bits == 32;  // packed types
      if (pool.kind == (pairs ? ValueKind::f16 : kind)) same.push_back(&pool);
    }
    const auto& drawn = same.empty() || random_.one_in(12) ? fitting : same;
    return *drawn[random_.below(drawn.size())];
  }

  std::string source(const ScalarOperand& operand) { return any(pool_for(operand.kind, operand.register_bits)); }

  /// A register for a result, not one of `taken`.
  std::string destination(const Pool& pool, const Lines& taken = {}) {
    std::string name = any(pool);
    while (std::ranges::find(taken, name) != taken.end()) name = any(pool);
    return name;
  }

  std::string guard() {
    if (!random_.one_in(4)) return "";
    return fmt::format("@{}{} ", random_.one_in(2) ? "!" : "", any(pool_named('p')));
  }

  // ---- Units ------------------------------------------------------------------------------------------------------------------------

  static KernelUnit statements(Lines lines) { return {{fmt::format("{}", fmt::join(lines, "\n"))}, {}}; }

  bool has_branches() const { return shape_ == Shape::any || shape_ == Shape::sums; }

  KernelUnit unit(int depth) {
    --left_;
    if (shape_ == Shape::contractions) return contraction();
    if (has_branches() && depth < 3 && left_ > 1 && random_.one_in(7)) return random_.one_in(2) ? branch(depth) : loop(depth);
    if (shape_ == Shape::sums && !random_.one_in(6)) return mixed_sum();
    if (shape_ == Shape::any && random_.one_in(10)) return statements({absence(depth)});
    switch (random_.below(depth == 0 ? 14 : 10)) {
      case 0: return contraction();
      case 1: return contraction();
      case 2: return memory();
      case 3: return memory();
      case 4: return statements({atomic()});
      case 5: return statements({vote(depth)});
      case 6: return statements({special()});
      case 10: return statements({shuffle()});
      case 11: return statements(barrier());
      case 12:
      case 13: return statements(parted_ ? scalar() : matrix());
      default: return statements(scalar());
    }
  }

  std::vector<KernelUnit> body(int depth) {
    std::vector<KernelUnit> units;
    const int wanted = random_.between(1, 5);
    for (int i = 0; i < wanted && left_ > 0; ++i) units.push_back(unit(depth));
    return units;
  }

  /// Lanes part by a predicate; %m of the next depth names those that go on together. The predicate is not changed in either part:
  /// ptxas 13.0 takes it for what it was there.
  KernelUnit branch(int depth) {
    const int label = labels_++;
    const std::string p = fmt::format("%k{}", depth);
    const std::string condition = fmt::format("and.b32 %t0, {}, {};\nsetp.ne.u32 {}, %t0, 0;\nvote.sync.ballot.b32 %m{}, {}, %m{};\n",
                                              any(pool_named('r')), 1u << random_.below(32), p, depth + 1, p, depth);
    if (random_.one_in(2))
      return {{fmt::format("{}@!{} bra $end{};", condition, p, label), fmt::format("$end{}:", label)}, {body(depth + 1)}};
    const std::string others = fmt::format("not.b32 %o{0}, %m{0};\nand.b32 %o{0}, %o{0}, %m{1};\n", depth + 1, depth);
    return {{fmt::format("{}{}@!{} bra $else{};", condition, others, p, label),
             fmt::format("bra $end{0};\n$else{0}:\nmov.b32 %m{1}, %o{1};", label, depth + 1), fmt::format("$end{}:", label)},
            {body(depth + 1), body(depth + 1)}};
  }

  /// One to four times round, as often for all lanes or not; ptxas does not know how often.
  KernelUnit loop(int depth) {
    const int label = labels_++;
    ++loops_around_;
    const std::string count = random_.one_in(2)
                                  ? fmt::format("ld.global.u32 %c{}, [%counters+{}];", depth, 8 * (counters - 1) + 4 * random_.below(2))
                                  : fmt::format("and.b32 %c{0}, {1}, 3;\nadd.u32 %c{0}, %c{0}, 1;", depth, any(pool_named('r')));
    KernelUnit unit{
        {fmt::format("{}\nmov.b32 %m{}, %m{};\n$loop{}:", count, depth + 1, depth, label),
         fmt::format(
             "sub.u32 %c{0}, %c{0}, 1;\nsetp.ne.u32 %q{0}, %c{0}, 0;\nvote.sync.ballot.b32 %m{1}, %q{0}, %m{1};\n@%q{0} bra $loop{2};",
             depth, depth + 1, label)},
        {body(depth + 1)}};
    --loops_around_;
    return unit;
  }

  // ---- Scalar statements ------------------------------------------------------------------------------------------------------------

  const ScalarCase& scalar_case() {
    const auto& cases = choices_.scalar.at(choices_.mnemonics[random_.below(choices_.mnemonics.size())]);
    return cases[random_.below(cases.size())];
  }

  Lines scalar() {
    const ScalarCase& shown = scalar_case();
    Lines results, sources, lines;
    bool carries = false;
    for (const ScalarOperand& operand : shown.results) {
      carries |= operand.carry;
      results.push_back(operand.carry ? "" : destination(pool_for(operand.kind, operand.register_bits), results));
    }
    for (const ScalarOperand& operand : shown.sources) {
      carries |= operand.carry;
      sources.push_back(operand.carry ? "" : source(operand));
      if (!operand.carry) continue;
      const char* const mnemonic = random_.one_in(2) ? "sub" : "add";  // each reads the other's CC.CF too
      lines.push_back(fmt::format("{}.cc.u32 %t0, {}, {};", mnemonic, any(pool_named('r')), any(pool_named('r'))));
    }
    use_number(shown, sources);
    lines.push_back((carries || !Choices::may_be_guarded(shown) ? "" : guard()) + shown.statement(results, sources));
    return lines;
  }

  /// Now and then a number as the last of several integers.
  void use_number(const ScalarCase& shown, Lines& sources) {
    if (sources.size() < 2) return;
    const ScalarOperand& last = shown.sources.back();
    const bool short_shift = Choices::mnemonic(shown).starts_with("sh") && shown.results[0].type->bits == 16;
    if (short_shift) sources.back() = fmt::format("{}", random_.below(20));  // ptxas takes 0 for an amount that ld.s8 made negative
    if (short_shift || !random_.one_in(6)) return;
    const bool integer = last.type->type_class != catalogue::ValueType::Class::floating && !last.is_predicate() && last.vector == 1;
    const bool decorated = shown.behind.size() > shown.results.size() + shown.sources.size() - 1;
    if (!integer || decorated || last.type->name.ends_with("x2") || last.type->bits < 16) return;
    const bool field = shown.opcode.starts_with("bf");  // ptxas takes 0 to 255 there
    sources.back() = fmt::format("{}", field || random_.one_in(2) ? random_.below(64) : random_.next() >> (65 - last.type->bits));
  }

  std::string special() {
    constexpr std::array registers{"%tid.x", "%ntid.x", "%ctaid.x", "%nctaid.x", "%laneid", "%lanemask_lt", "%lanemask_ge", "%tid.y"};
    const std::string p = any(pool_named('p'));
    const std::uint64_t kind = random_.below(6);
    switch (kind == 1 && has_branches() ? 0 : kind) {  // beside branches ptxas 13.0 packs what a source becomes later
      case 0: return guard() + fmt::format("mov.u32 {}, {};", any(pool_named('r')), registers[random_.below(registers.size())]);
      case 1: return guard() + fmt::format("mov.b64 {}, {{{}, {}}};", any(pool_named('l')), any(pool_named('r')), any(pool_named('f')));
      case 2: return guard() + fmt::format("mov.b32 {{{}, {}}}, {};", "%h0", "%h1", any(pool_named('x')));
      case 3: return guard() + fmt::format("selp.b32 {}, {}, {}, {};", any(pool_named('r')), any(pool_named('r')), any(pool_named('f')), p);
      case 4: return guard() + fmt::format("selp.f32 {}, {}, {}, {};", any(pool_named('f')), any(pool_named('f')), any(pool_named('f')), p);
      default:
        return guard() + fmt::format("{}.pred {}, {}, {};", std::array{"and", "or", "xor"}[random_.below(3)], any(pool_named('p')),
                                     any(pool_named('p')), p);
    }
  }

  // ---- What ptxas contracts ---------------------------------------------------------------------------------------------------------

  struct Summed {
    const char *name, *ftz;
    char pool;
    const char* temporaries;
    bool passes_neg;  ///< whether neg is a sign of an operand
  };
  static constexpr std::array<Summed, 8> summed{{{".f32", "", 'f', "%u", true},
                                                 {".f32", ".ftz", 'f', "%u", true},
                                                 {".f64", "", 'd', "%v", true},
                                                 {".f16", "", 'e', "%w", true},
                                                 {".f16", ".ftz", 'e', "%w", false},
                                                 {".f16x2", "", 'x', "%u", true},
                                                 {".bf16", "", 'g', "%w", true},
                                                 {".bf16x2", "", 'x', "%u", false}}};

  /// Products in registers of their own, and sums that use them: one to three, one behind neg, one of two products, or one with a rounding
  /// modifier. Where a product has other uses beside these, ptxas 13.0 fuses none or some, depending on more than is known; and beside
  /// branches it moves one sum in about 10^4 and does not fuse it: there only those with a rounding modifier are drawn (docs/numerics.md,
  /// "What ptxas contracts").
  KernelUnit contraction() {
    const Summed& type = summed[random_.below(summed.size())];
    const Pool& pool = pool_named(type.pool);
    const std::string suffix = fmt::format("{}{}", type.ftz, type.name), product = fmt::format("{}0", type.temporaries),
                      second = fmt::format("{}1", type.temporaries);
    const auto multiply = [&](const std::string& to, const char* rounding) {
      return fmt::format("mul{}{} {}, {}, {};", rounding, suffix, to, any(pool), any(pool));
    };
    const auto sum = [&](const char* rounding, const std::string& left, const std::string& right) {
      return fmt::format("{}{}{} {}, {}, {};", random_.one_in(2) ? "add" : "sub", rounding, suffix, any(pool), left, right);
    };
    const auto sum_of = [&](const char* rounding) {
      return random_.one_in(2) ? sum(rounding, product, any(pool)) : sum(rounding, any(pool), product);
    };
    switch (shape_ == Shape::contractions ? random_.below(5) : 2 + random_.below(2)) {
      case 0:
        if (!type.passes_neg) break;
        return spaced({multiply(product, ""), fmt::format("neg{} {}, {};", suffix, second, product), sum("", second, any(pool))});
      case 1: return spaced({multiply(product, ""), multiply(second, ""), sum("", product, second)});
      case 2: return statements({multiply(product, ".rn"), sum_of("")});
      case 3: return statements({multiply(product, ""), sum_of(".rn")});
      default: break;
    }
    Lines lines{multiply(product, "")};
    for (int uses = random_.between(1, 3); uses > 0; --uses) lines.push_back(sum_of(""));
    return spaced(lines);
  }

  /// The statements, now and then with another in between: some of those end what ptxas takes together.
  KernelUnit spaced(const Lines& lines) {
    Lines out;
    for (const std::string& line : lines) {
      if (!out.empty() && random_.one_in(4)) std::ranges::copy(statement_between(), std::back_inserter(out));
      out.push_back(line);
    }
    return statements(out);
  }

  /// It leaves the temporaries of products as they are.
  Lines statement_between() {
    constexpr std::array<std::pair<const char*, char>, 12> divisions{{{"div.rn.f32", 'f'},
                                                                      {"div.rn.ftz.f32", 'f'},
                                                                      {"div.full.f32", 'f'},
                                                                      {"div.rn.f64", 'd'},
                                                                      {"div.s32", 'r'},
                                                                      {"div.u32", 'r'},
                                                                      {"rem.s32", 'r'},
                                                                      {"rem.u64", 'l'},
                                                                      {"rem.s16", 'h'},
                                                                      {"sqrt.rn.f32", 'f'},
                                                                      {"rcp.rn.f32", 'f'},
                                                                      {"sqrt.rn.f64", 'd'}}};
    constexpr std::array fences{"membar.cta;", "membar.gl;", "fence.acq_rel.gpu;", "fence.acquire.gpu;"};
    switch (random_.below(4)) {
      case 0: return scalar();
      case 1: return access_own();
      case 2: return {fences[random_.below(target_.number >= 90 ? fences.size() : fences.size() - 1)]};
      default: {
        const auto& [opcode, letter] = divisions[random_.below(divisions.size())];
        const Pool& pool = pool_named(letter);
        const bool one_source = std::string_view(opcode).starts_with("sqrt") || std::string_view(opcode).starts_with("rcp");
        return {one_source ? fmt::format("{}{} {}, {};", guard(), opcode, any(pool), any(pool))
                           : fmt::format("{}{} {}, {}, {};", guard(), opcode, any(pool), any(pool), any(pool))};
      }
    }
  }

  /// One statement of those whose order and uses decide what ptxas fuses, on the registers that all others use too: so products have any
  /// number of uses, in other blocks too, behind mov, neg and abs, with and without .ftz, guards and constants, or none. Of f64 without neg
  /// and abs, which turn the sign of a NaN.
  KernelUnit mixed_sum() {
    const Summed& type = summed[random_.below(summed.size())];
    const Pool& pool = pool_named(type.pool);
    const std::string ftz = std::string_view(type.name) == ".f32" && random_.one_in(3) ? ".ftz" : type.ftz;
    const bool no_sign = type.pool == 'd';
    const std::string to = any(pool), left = any(pool);
    std::string right = any(pool);
    if (random_.one_in(8) && type.pool == 'f') right = fmt::format("0f{:08X}", 0x3f800001 + random_.below(0x7ffffe));  // between 1 and 2
    if (random_.one_in(8) && type.pool == 'd') right = fmt::format("0d{:016X}", 0x3ff0000000000001 + random_.below(1ull << 51));
    switch (random_.below(no_sign ? 9 : 12)) {
      case 0:
      case 1:
      case 2:
      case 3: return statements({(random_.one_in(8) ? guard() : "") + fmt::format("mul{}{} {}, {}, {};", ftz, type.name, to, left, right)});
      case 4: return statements({fmt::format("mul.rn{}{} {}, {}, {};", ftz, type.name, to, left, right)});
      case 5: return statements({fmt::format("mov.b{} {}, {};", pool.bits, to, left)});
      case 9: return statements({fmt::format("neg{}{} {}, {};", ftz, type.name, to, left)});
      case 10: return statements({fmt::format("abs{}{} {}, {};", ftz, type.name, to, left)});
      default: {
        const char* const rounding = random_.one_in(8) ? ".rn" : "";
        return statements({(random_.one_in(6) ? guard() : "") + fmt::format("{}{}{}{} {}, {}, {};", random_.one_in(2) ? "add" : "sub",
                                                                            rounding, ftz, type.name, to, left, right)});
      }
    }
  }

  // ---- Memory -----------------------------------------------------------------------------------------------------------------------

  struct Place {
    std::string opcode, base;
    std::uint32_t bytes;
  };

  /// The thread's own memory in some space, also by generic address.
  Place own_place() {
    constexpr std::array<std::pair<const char*, const char*>, 6> places{
        {{".global", "%og"}, {".shared", "%os"}, {".local", "%ol"}, {"", "%og"}, {"", "%ogs"}, {"", "%ogl"}}};
    const auto& [space, base] = places[random_.below(places.size())];
    return {space, base, own_bytes};
  }

  /// Where in a thread's own memory `bytes` bytes may go: the last 8 are for f64, which so holds no NaN of any payload.
  std::uint64_t own_offset(bool is_f64, std::uint32_t bytes) {
    return is_f64 ? own_bytes - 8 : bytes * random_.below((own_bytes - 8) / bytes);
  }

  struct Moved {
    std::string type;
    Lines registers;
    std::uint32_t bytes;
  };

  Moved moved(bool loads) {
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
    const Type& type = types[random_.below(types.size())];
    const std::uint32_t vector = std::array<std::uint32_t, 5>{1, 1, 1, 2, 4}[random_.below(5)];
    const std::uint32_t count = vector * type.bytes > 16 || std::string_view(type.name) == ".f64" ? 1 : vector;
    const Pool& pool = pool_named(type.registers[random_.below(std::strlen(type.registers))]);
    Moved made{fmt::format("{}{}", count > 1 ? fmt::format(".v{}", count) : "", type.name), {}, count * type.bytes};
    while (made.registers.size() < count) made.registers.push_back(loads ? destination(pool, made.registers) : any(pool));
    return made;
  }

  static std::string list(const Lines& registers) {
    return registers.size() == 1 ? registers[0] : fmt::format("{{{}}}", fmt::join(registers, ", "));
  }

  KernelUnit memory() {
    if (random_.one_in(4)) return statements(read_table());
    if (random_.one_in(8)) return statements(copy_asynchronously());
    return statements(access_own());
  }

  Lines access_own() {
    const Place place = own_place();
    const bool loads = random_.one_in(2);
    const Moved what = moved(loads);
    const std::string address = fmt::format("[{}+{}]", place.base, own_offset(what.type == ".f64", what.bytes));
    if (loads) return {guard() + fmt::format("ld{}{} {}, {};", place.opcode, what.type, list(what.registers), address)};
    return {guard() + fmt::format("st{}{} {}, {};", place.opcode, what.type, address, list(what.registers))};
  }

  Lines read_table() {
    const Moved what = moved(true);
    const std::string offset = any(pool_named('r'));
    return {fmt::format("and.b32 %t0, {}, {};", offset, (table_bytes - 1) & ~(what.bytes - 1)), "cvt.u64.u32 %v0, %t0;",
            "add.u64 %v0, %v0, %table;",
            guard() + fmt::format("ld.global{}{} {}, [%v0];", random_.one_in(2) ? ".nc" : "", what.type, list(what.registers))};
  }

  Lines copy_asynchronously() {
    const std::uint32_t bytes = 4u << random_.below(3), at = static_cast<std::uint32_t>(own_offset(false, bytes));
    const std::uint32_t from = bytes * static_cast<std::uint32_t>(random_.below(table_bytes / bytes));
    const std::string size = random_.one_in(3) ? fmt::format(", {}", random_.below(bytes / 4 + 1) * 4) : "";
    return {fmt::format("cp.async.{}.shared.global [%os+{}], [%table+{}], {}{};", bytes == 16 && random_.one_in(2) ? "cg" : "ca", at, from,
                        bytes, size),
            "cp.async.commit_group;", "cp.async.wait_group 0;"};
  }

  /// On the thread's own memory, where the order among threads does not show; without a result also on counters of all threads.
  std::string atomic() {
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
    const Operation& operation = operations[random_.below(operations.size())];
    const std::string name = operation.name;
    const Pool& pool = pool_named(operation.types[0]);
    const std::uint32_t bytes = static_cast<std::uint32_t>(pool.bits) / 8;
    const bool repeats = bytes == 8 || name.find(".f") != std::string::npos;  // in shared memory, until no other access intervened
    const bool commutes = name != "inc.u32" && name != "dec.u32" && name.find(".f") == std::string::npos;
    if (commutes && random_.one_in(2))  // every operation has a counter of its own: different ones do not commute
      return guard() + fmt::format("red.global.{} [%counters+{}], {};", name, 8 * (&operation - operations.data()), any(pool));
    const bool shared = random_.one_in(2) && !(repeats && loops_around_ > 0);  // ptxas 13.0 takes two loops that begin together for one
    const std::string address = fmt::format("[{}+{}]", shared ? "%os" : "%og", own_offset(pool.kind == ValueKind::f64, bytes));
    const std::string space = shared ? "shared" : "global";
    switch (random_.below(4)) {
      case 0: return guard() + fmt::format("atom.{}.exch.b{} {}, {}, {};", space, pool.bits, any(pool), address, any(pool));
      case 1: return guard() + fmt::format("atom.{}.cas.b{} {}, {}, {}, {};", space, pool.bits, any(pool), address, any(pool), any(pool));
      default: return guard() + fmt::format("atom.{}.{} {}, {}, {};", space, name, any(pool), address, any(pool));
    }
  }

  // ---- Lanes and warps together -----------------------------------------------------------------------------------------------------

  std::string vote(int depth) {
    const std::string p = any(pool_named('p')), q = any(pool_named('p')), r = any(pool_named('r')), s = any(pool_named('r'));
    switch (random_.below(loops_around_ > 0 ? 4 : 6)) {  // redux in a loop that ptxas 13.0 unrolls goes wrong
      case 0: return fmt::format("vote.sync.{}.pred {}, {}, %m{};", std::array{"all", "any", "uni"}[random_.below(3)], p, q, depth);
      case 1: return fmt::format("vote.sync.ballot.b32 {}, {}, %m{};", r, p, depth);
      case 2:
        return random_.one_in(2) ? fmt::format("match.any.sync.b32 {}, {}, %m{};", r, s, depth)
                                 : fmt::format("match.any.sync.b64 {}, {}, %m{};", r, any(pool_named('l')), depth);
      case 3: return fmt::format("match.all.sync.b32 {}|{}, {}, %m{};", r, p, s, depth);
      case 4:
        return fmt::format("redux.sync.{} {}, {}, %m{};",
                           std::array{"add.u32", "min.s32", "max.u32", "min.u32", "max.s32", "add.s32"}[random_.below(6)], r, s, depth);
      default: return fmt::format("redux.sync.{}.b32 {}, {}, %m{};", std::array{"and", "or", "xor"}[random_.below(3)], r, s, depth);
    }
  }

  /// Only where all lanes are together: a lane may read from every other.
  std::string shuffle() {
    const std::string lane = random_.one_in(2) ? any(pool_named('r')) : fmt::format("{}", random_.below(32));
    const std::uint64_t segments = std::array<std::uint64_t, 4>{0, 16, 24, 28}[random_.below(4)];
    const char* const mode = std::array{"up", "down", "bfly", "idx"}[random_.below(4)];
    return fmt::format("shfl.sync.{} {}|{}, {}, {}, {}, 0xffffffff;", std::string(mode) + ".b32", any(pool_named('f')),
                       any(pool_named('p')), any(pool_named('f')), lane, segments << 8 | (mode[0] == 'u' ? 0u : 31u));
  }

  /// Lanes leave, or are read where they take no part.
  std::string absence(int depth) {
    if (loops_around_ > 0 || random_.one_in(depth > 0 ? 2 : 4)) {
      const std::string lane = random_.one_in(2) ? any(pool_named('r')) : fmt::format("{}", random_.below(32));
      return absent_shuffle(random_, depth, any(pool_named('f')), any(pool_named('p')), any(pool_named('f')), lane);
    }
    const EarlyExit made = early_exit(random_, any(pool_named('r')), threads_of_block() / warp_size, static_cast<std::uint32_t>(threads()));
    parted_ |= made.parts_warps || depth > 0;  // a branch may have parted them
    return made.text;
  }

  Lines barrier() {
    const std::string p = any(pool_named('p'));
    const std::uint64_t kind = random_.below(4);
    switch (kind == 1 && has_branches() ? 0 : kind) {  // ptxas 13.0 repeats the barrier in a branch where alone the result is used
      case 0: return {fmt::format("bar.red.popc.u32 {}, 0, {};", any(pool_named('r')), p)};
      case 1: return {fmt::format("bar.red.{}.pred {}, 0, {};", random_.one_in(2) ? "and" : "or", any(pool_named('p')), p)};
      default: {  // a word of another thread
        const std::uint64_t distance = random_.below(threads_of_block());
        const std::uint64_t at = own_offset(false, 4);
        return {fmt::format("st.shared.b32 [%os+{}], {};", at, any(pool_named('r'))),
                "bar.sync 0;",
                fmt::format("add.u32 %t0, %thread, {};", distance),
                fmt::format("rem.u32 %t0, %t0, {};", threads_of_block()),
                fmt::format("mad.lo.u32 %t0, %t0, {}, %shared;", own_bytes),
                fmt::format("ld.shared.b32 {}, [%t0+{}];", any(pool_named('r')), at),
                "bar.sync 0;"};
      }
    }
  }

  Lines matrix() {
    const Form& form = *choices_.forms[random_.below(choices_.forms.size())];
    const bool memory = form.mnemonic != Mnemonic::mma;
    Lines operands, written;
    for (const Operand& operand : form.operands) {
      if (operand.kind == OperandKind::address) {
        const char* const base = form.opcode.find(".shared") != std::string::npos ? "%os" : "%ogs";
        operands.push_back(fmt::format("[{}{}]", base, form.mnemonic == Mnemonic::stmatrix || random_.one_in(2) ? "" : "+16"));
        continue;
      }
      const bool wide = operand.fragment.register_bits == 64;
      Lines registers;
      while (registers.size() < static_cast<std::size_t>(operand.registers())) {
        // Of B of m16n8k8, ptxas 13.0 takes neg.f32 for a sign of both halves.
        const std::size_t allowed = form.shape.k == 8 && operand.name == OperandName::b ? 2 : 3;
        const Pool& pool = pool_named(wide ? 'd' : "rxf"[random_.below(allowed)]);
        registers.push_back(operand.written ? destination(pool, registers) : any(pool));
      }
      operands.push_back(fmt::format("{{{}}}", fmt::join(registers, ", ")));
    }
    Lines lines{fmt::format("{} {};", form.opcode, fmt::join(operands, ", "))};
    if (memory) {  // other lanes' rows
      lines.insert(lines.begin(), "bar.sync 0;");
      lines.push_back("bar.sync 0;");
    }
    return lines;
  }

  // ---- Around the units -------------------------------------------------------------------------------------------------------------

  void add_buffers() {
    const auto random_bytes = [&](std::size_t count) {
      std::vector<std::uint8_t> bytes(count);
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_.next());
      for (std::size_t last = 7; last < count; last += 8) bytes[last] &= 0xbf;  // no word is a NaN of f64
      return bytes;
    };
    std::vector<std::uint8_t> in(threads() * slots() * slot_bytes);
    std::size_t slot = 0;
    for (const Pool& pool : pools)
      for (std::size_t i = 0; i < pool.size; ++i, ++slot) fill(in, pool, slot);
    program_.launch.buffers = {{"in", std::move(in)},
                               {"out", std::vector<std::uint8_t>(threads() * slots() * slot_bytes)},
                               {"own", random_bytes(threads() * own_bytes)},
                               {"table", random_bytes(table_bytes)},
                               {"counters", random_bytes(8 * counters)}};
    auto& words = program_.launch.buffers.back().bytes;  // the last two are how often loops go round
    for (std::size_t word = words.size() - 8; word < words.size(); word += 4) {
      std::fill_n(words.begin() + static_cast<std::ptrdiff_t>(word), 4, std::uint8_t{0});
      words[word] = static_cast<std::uint8_t>(random_.between(1, 4));
    }
    for (std::size_t i = 0; i < program_.launch.buffers.size(); ++i)
      program_.launch.parameters.push_back({std::vector<std::uint8_t>(8), {{0, i, 0}}});
  }

  /// The numbers that one register starts with, in all threads.
  void fill(std::vector<std::uint8_t>& in, const Pool& pool, std::size_t slot) {
    constexpr std::array classes{ScalarClass::ordinary, ScalarClass::ordinary, ScalarClass::ordinary,
                                 ScalarClass::special,  ScalarClass::extreme,  ScalarClass::random};
    std::vector<std::uint64_t> values(threads());
    fill_operand(pool.kind, classes[random_.below(classes.size())], random_.below(3), random_.below(1 << 24), values);
    constexpr std::uint64_t exponent = 0x7ff0000000000000, lowest = 0x0010000000000000;
    if (pool.kind == ValueKind::f64)
      for (std::uint64_t& value : values)
        if ((value & exponent) == exponent) value -= lowest;
    for (std::size_t thread = 0; thread < values.size(); ++thread)
      std::memcpy(in.data() + (thread * slots() + slot) * slot_bytes, &values[thread], slot_bytes);
  }

  void begin() {
    std::string& text = program_.begin;
    const auto line = [&](const std::string& ptx) { text += ptx + '\n'; };
    line(fmt::format(".version {}\n.target {}\n.address_size 64", to_string(assembled_version), target_.name));
    line(".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 own, .param .u64 table, .param .u64 counters)\n{");
    line(fmt::format(".shared .align 16 .b8 memory[{}];\n.local .align 16 .b8 depot[{}];", own_bytes * threads_of_block(), own_bytes));
    for (const Pool& pool : pools)
      line(fmt::format(".reg .{} {}<{}>;", pool.bits == 1 ? "pred" : fmt::format("b{}", pool.bits), pool.prefix, pool.size));
    line(
        ".reg .b32 %t<2>, %u<4>, %c<4>, %m<5>, %o<5>, %thread, %i, %os, %shared;\n.reg .b64 %v<4>, %in, %out, %og, %ogs, %ol, %ogl, "
        "%table, %counters, %at;");
    line(".reg .b16 %w<4>;\n.reg .pred %q<4>, %k<4>;");
    line(fmt::format("mov.u32 %thread, %tid.x;\nmov.u32 %i, %ctaid.x;\nmad.lo.u32 %i, %i, {}, %thread;", threads_of_block()));
    for (const char* name : {"in", "out", "og", "table", "counters"})
      line(fmt::format("ld.param.u64 %{}, [{}];\ncvta.to.global.u64 %{}, %{};", name, std::string_view(name) == "og" ? "own" : name, name,
                       name));
    line(fmt::format("mad.wide.u32 %in, %i, {0}, %in;\nmad.wide.u32 %out, %i, {0}, %out;\nmad.wide.u32 %og, %i, {1}, %og;",
                     slots() * slot_bytes, own_bytes));
    line(fmt::format("mov.u32 %shared, memory;\nmad.lo.u32 %os, %thread, {}, %shared;\ncvt.u64.u32 %ogs, %os;\ncvta.shared.u64 %ogs, %ogs;",
                     own_bytes));
    line("mov.u64 %ol, depot;\ncvta.local.u64 %ogl, %ol;\nmov.b32 %m0, 0xffffffff;");
    for (std::uint32_t at = 0; at < own_bytes; at += 8)
      line(fmt::format("ld.global.b64 %v0, [%og+{0}];\nst.shared.b64 [%os+{0}], %v0;\nst.local.b64 [%ol+{0}], %v0;", at));
    each_register([&](const Pool& pool, const std::string& name, std::size_t at) {
      if (pool.bits == 1) return line(fmt::format("ld.global.b32 %t0, [%in+{}];\nand.b32 %t0, %t0, 1;\nsetp.ne.u32 {}, %t0, 0;", at, name));
      line(fmt::format("ld.global.b{} {}, [%in+{}];", pool.bits, name, at));
    });
    line("bar.sync 0;");
  }

  void end() {
    std::string& text = program_.end;
    each_register([&](const Pool& pool, const std::string& name, std::size_t at) {
      text += pool.bits == 1 ? fmt::format("selp.u32 %t0, 1, 0, {};\nst.global.b32 [%out+{}], %t0;\n", name, at)
                             : fmt::format("st.global.b{} [%out+{}], {};\n", pool.bits, at, name);
    });
    // The thread's own shared and local memory behind what it has in global memory.
    for (std::uint32_t at = 0; at < own_bytes; at += 8)
      text += fmt::format(
          "ld.shared.b64 %v0, [%os+{0}];\nld.local.b64 %v1, [%ol+{0}];\nld.global.b64 %v2, [%og+{0}];\nxor.b64 %v0, %v0, %v2;\n"
          "mul.lo.u64 %v1, %v1, 0x9e3779b97f4a7c15;\nxor.b64 %v0, %v0, %v1;\nst.global.b64 [%og+{0}], %v0;\n",
          at);
    text += fmt::format("{}:\nret;\n}}\n", exit_label);
  }

  template <typename Use>
  static void each_register(Use use) {
    std::size_t at = 0;
    for (const Pool& pool : pools)
      for (std::size_t i = 0; i < pool.size; ++i, at += slot_bytes) use(pool, fmt::format("{}{}", pool.prefix, i), at);
  }

  const Target& target_;
  const Choices& choices_;
  Random random_;
  int left_;  ///< units that may still be made
  Shape shape_;
  int loops_around_ = 0;  ///< the unit that is being made
  int labels_ = 0;
  bool parted_ = false;  ///< some lanes of a warp may have left
  KernelProgram program_;
};

}  // namespace

KernelProgram random_kernel(const Target& target, std::uint64_t seed, std::uint64_t index, int max_units) {
  return KernelGenerator(target, combine(combine(seed, hash_name("kernel")), index), max_units).kernel();
}

}  // namespace warpmat::inline v0_1
