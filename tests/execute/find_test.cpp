// One handle for any instruction: what find() finds, how it describes its operands, and that a call on registers in any place gives what
// the catalogue's function gives on rows of lanes.

#include <warpmat/instruction.h>

#include <warpmat/numeric/rounding_mode.h>
#include <warpmat/ptx/catalogue/restrictions.h>

#include "gpu/runners/scalar_case.h"
#include "test.h"

namespace warpmat::find_test {
namespace {

constexpr std::size_t warps = 2;

/// The words of all operands of a call, each operand in an array of its own.
class Words {
 public:
  /// `thread_major`: the words of a thread stand together, with one more that nothing may touch.
  Words(const Instruction& instruction, bool thread_major, std::mt19937_64& random) : thread_major_(thread_major) {
    for (const InstructionOperand& operand : instruction.operands()) {
      counts_.push_back(static_cast<std::size_t>(operand.words()));
      std::vector<std::uint32_t> words(warps * warp_size * (counts_.back() + 1));
      for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
      const bool is_mask = operand.register_bits() == 1;
      if (is_mask)
        for (std::uint32_t& word : words) word = word >> 16 & 1;
      arrays_.push_back(std::move(words));
    }
  }

  std::uint32_t& at(std::size_t operand, std::size_t warp, std::size_t word, std::size_t lane) {
    const std::size_t all = counts_[operand] + 1;
    return arrays_[operand][thread_major_ ? (warp * warp_size + lane) * all + word : (warp * all + word) * warp_size + lane];
  }
  std::vector<RegisterView> views() {
    std::vector<RegisterView> out;
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      const std::size_t all = counts_[i] + 1;
      if (thread_major_)
        out.push_back({arrays_[i].data(), all * warp_size, 1, static_cast<std::ptrdiff_t>(all), nullptr});
      else
        out.push_back({arrays_[i].data(), all * warp_size, warp_size, 1, nullptr});
    }
    return out;
  }
  const std::vector<std::vector<std::uint32_t>>& arrays() const { return arrays_; }

 private:
  bool thread_major_;
  std::vector<std::size_t> counts_;
  std::vector<std::vector<std::uint32_t>> arrays_;
};

struct alignas(64) Row {
  std::uint64_t bits[2 * warp_size] = {};
};

/// One register of a case's list, as the catalogue's function takes it, from or to the words of an operand of the handle.
struct Register_ {
  std::size_t operand, first_word;
  int bits;
};

std::vector<Register_> registers_of(const Instruction& instruction, const std::vector<ScalarOperand>& list, bool results) {
  std::vector<Register_> out;
  std::size_t operand = 0, word = 0;
  const auto operands = instruction.operands();
  const auto is_explicit = [&](const InstructionOperand& o) {
    return o.kind() != InstructionOperand::Kind::carry && o.is_written() == results;
  };
  for (const ScalarOperand& given : list) {
    if (given.carry) {
      const auto carry = std::ranges::find(operands, InstructionOperand::Kind::carry, &InstructionOperand::kind);
      out.push_back({static_cast<std::size_t>(carry - operands.begin()), 0, 1});
      continue;
    }
    while (!is_explicit(operands[operand])) ++operand;
    const int bits = given.type->bits == 128 ? 128 : given.register_bits;
    out.push_back({operand, word, bits});
    word += static_cast<std::size_t>((bits + 31) / 32);
    if (word == static_cast<std::size_t>(operands[operand].words())) {
      ++operand;
      word = 0;
    }
  }
  return out;
}

void load(Row& row, const Register_& r, Words& words, std::size_t warp) {
  auto* const narrow = reinterpret_cast<std::uint32_t*>(row.bits);
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    const std::uint32_t low = words.at(r.operand, warp, r.first_word, lane);
    if (r.bits == 1)
      narrow[0] = (lane == 0 ? 0 : narrow[0]) | (low & 1) << lane;
    else if (r.bits <= 32)
      narrow[lane] = low;
    else
      for (std::size_t half = 0; half < static_cast<std::size_t>(r.bits) / 64; ++half)
        row.bits[half * warp_size + lane] = words.at(r.operand, warp, r.first_word + 2 * half, lane) |
                                            std::uint64_t{words.at(r.operand, warp, r.first_word + 2 * half + 1, lane)} << 32;
  }
}

void store(const Row& row, const Register_& r, int sign_extended_from, Words& words, std::size_t warp) {
  const auto* const narrow = reinterpret_cast<const std::uint32_t*>(row.bits);
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    if (r.bits == 1) {
      words.at(r.operand, warp, r.first_word, lane) = narrow[0] >> lane & 1;
    } else if (r.bits <= 32) {
      std::uint32_t word = narrow[lane];
      if (sign_extended_from != 0 && (word >> (sign_extended_from - 1) & 1) != 0) word |= ~((1u << sign_extended_from) - 1);
      words.at(r.operand, warp, r.first_word, lane) = word;
    } else {
      for (std::size_t half = 0; half < static_cast<std::size_t>(r.bits) / 64; ++half) {
        words.at(r.operand, warp, r.first_word + 2 * half, lane) = static_cast<std::uint32_t>(row.bits[half * warp_size + lane]);
        words.at(r.operand, warp, r.first_word + 2 * half + 1, lane) = static_cast<std::uint32_t>(row.bits[half * warp_size + lane] >> 32);
      }
    }
  }
}

TEST_CASE("find: every scalar instruction with a kernel, by its opcode, computes what its kernel does on registers in any place") {
  std::mt19937_64 random(28);
  Tally tally;
  std::set<std::string> seen;
  const std::string_view target_name = "sm_100a";
  for (const ScalarCase& shown : scalar_cases(target(target_name), newest_ptx)) {
    if (!seen.insert(shown.opcode).second) continue;
    if (const auto match = catalogue::find_row(shown.opcode); catalogue::refusal(*match, target(target_name), newest_ptx)) {
      CHECK_THROWS_AS(find(shown.opcode, target_name), std::invalid_argument);
      continue;
    }
    const Instruction instruction = find(shown.opcode, target_name);
    REQUIRE(instruction.kind() == InstructionKind::scalar);
    const auto results = registers_of(instruction, shown.results, true), sources = registers_of(instruction, shown.sources, false);
    for (const bool thread_major : {false, true})
      for (const Path path : {Path::fast, Path::reference}) {
        Words words(instruction, thread_major, random);
        for (std::size_t i = 0; i < instruction.operands().size(); ++i)
          if (instruction.operands()[i].kind() == InstructionOperand::Kind::number)
            for (std::size_t warp = 0; warp < warps; ++warp)
              for (std::size_t lane = 1; lane < warp_size; ++lane) words.at(i, warp, 0, lane) = words.at(i, warp, 0, 0);
        Words expected = words;
        for (std::size_t warp = 0; warp < warps; ++warp) {
          std::vector<Row> result_rows(results.size()), source_rows(sources.size());
          std::vector<void*> to;
          std::vector<const void*> from;
          for (std::size_t i = 0; i < sources.size(); ++i) {
            load(source_rows[i], sources[i], words, warp);
            from.push_back(source_rows[i].bits);
          }
          for (Row& row : result_rows) to.push_back(row.bits);
          to.push_back(nullptr);
          from.push_back(nullptr);
          {
            const RoundingMode nearest(RoundingMode::nearest);
            shown.executable.function(to.data(), from.data(), shown.executable.modifiers);
          }
          for (std::size_t i = 0; i < results.size(); ++i) {
            const DataType& type = *shown.results[i].type;
            const bool extends = shown.results[i].register_bits > type.bits && type.is_signed_integer();
            store(result_rows[i], results[i], extends ? type.bits : 0, expected, warp);
          }
        }
        const std::vector<RegisterView> views = words.views();
        Call call;
        call.operands = views;
        REQUIRE_FALSE(instruction.problem(call, warps));
        instruction.execute(call, warps, {.path = path});
        tally.expect(words.arrays() == expected.arrays(), [&] { return shown.opcode + (thread_major ? ", thread-major" : ""); });
      }
  }
  CHECK(seen.size() > 1000);
}

TEST_CASE("find: what an instruction says of itself and of its operands") {
  const Instruction setp = find("setp.and.lt.s32", "sm_80");
  CHECK(setp.opcode() == "setp.lt.and.s32");
  CHECK(setp == find("setp.lt.and.s32", "sm_80"));
  CHECK_FALSE(setp == find("setp.lt.and.s32", "sm_90"));
  REQUIRE(setp.operands().size() == 5);  // p|q = a, b, c
  CHECK((setp.operands()[0].kind() == InstructionOperand::Kind::predicate && setp.operands()[0].is_written()));
  CHECK(setp.operands()[1].is_optional());
  CHECK(setp.operands()[2].type()->name == "s32");
  CHECK(setp.operands()[4].kind() == InstructionOperand::Kind::predicate);

  const Instruction madc = find("madc.lo.cc.u32", "sm_80");
  const InstructionOperand& carry = madc.operands().back();
  CHECK(carry.kind() == InstructionOperand::Kind::carry);
  CHECK((carry.is_read() && carry.is_written() && carry.words() == 1));

  const Instruction wide = find("mul.wide.u32", "sm_80");
  CHECK((wide.operands()[0].register_bits() == 64 && wide.operands()[0].words() == 2));

  const Instruction mma = find("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_80");
  CHECK((mma.kind() == InstructionKind::matrix && mma.warps() == 1 && mma.operands().size() == 4));
  CHECK(mma.operands()[0].words() == 4);
  CHECK(mma.label() == label_of(mma.lowering()));

  const Instruction wgmma = find("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16", "sm_90a");
  CHECK((wgmma.kind() == InstructionKind::warpgroup && wgmma.warps() == 4));
  std::string names;
  for (const InstructionOperand& operand : wgmma.operands()) names += std::string(operand.name()) + " ";
  CHECK(names == "d a a-desc b-desc scale-d imm-scale-a imm-scale-b imm-trans-a imm-trans-b ");
}

TEST_CASE("find: what it refuses, and what it says") {
  const auto message = [](std::string_view opcode, std::string_view on) {
    try {
      (void)find(opcode, on);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("found");
  };
  CHECK(message("ld.global.b32", "sm_90") ==
        "'ld.global.b32' needs a program around it, for memory, other lanes or control flow: it is a statement of a kernel");
  CHECK(message("elect.sync", "sm_80") == "elect.sync needs sm_90 or later; the target is sm_80");
  CHECK(message("add.rn.f32x2", "sm_90") == "add.rn.f32x2 needs sm_100 or later; the target is sm_90");
  CHECK(message("%extend.s32.s8", "sm_90") != "found");
  CHECK(message("wgmma.sync.mma_async.aligned.m64n8k8.f32.tf32.tf32", "sm_90a") ==
        "the qualifiers of 'wgmma.sync.mma_async.aligned.m64n8k8.f32.tf32.tf32' are in another order than in "
        "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32");
  CHECK(message("add.rn.f32;", "sm_90") == "'add.rn.f32;' has a semicolon beside the opcode: the opcode is add.rn.f32");
  CHECK(message("add.rn.f32", "sm_42").find("sm_42") != std::string::npos);
  CHECK(message("mma", "sm_90").find("found") == std::string::npos);
}

TEST_CASE("find: what lists of statements alone execute is described, and every call of it is refused") {
  using Kind = InstructionOperand::Kind;
  struct Case {
    std::string_view opcode, canonical;
    InstructionKind kind;
    std::string_view operands;  ///< names and words; < is written
    int bytes;
    std::string_view needs;
  };
  const Case cases[]{
      {"ld.v2.shared::cta.s16", "ld.shared.v2.s16", InstructionKind::load, "d2< a1 ", 4, "memory"},
      {"ld.shared.v2.f64", "ld.shared.v2.f64", InstructionKind::load, "d4< a1 ", 16, "memory"},
      {"st.shared.u8", "st.shared.u8", InstructionKind::store, "a1 b1 ", 1, "memory"},
      {"shfl.sync.idx.b32", "shfl.sync.idx.b32", InstructionKind::lanes, "d1< p1< a1 b1 c1 mask1 ", 0, "other lanes"},
      {"redux.sync.add.s32", "redux.sync.add.s32", InstructionKind::lanes, "d1< a1 mask1 ", 0, "other lanes"},
      {"match.any.sync.b64", "match.any.sync.b64", InstructionKind::lanes, "d1< a2 mask1 ", 0, "other lanes"},
      {"activemask.b32", "activemask.b32", InstructionKind::lanes, "d1< ", 0, "other lanes"},
      {"bar.warp.sync", "bar.warp.sync", InstructionKind::lanes, "mask1 ", 0, "other lanes"},
  };
  for (const Case& wanted : cases) {
    INFO(wanted.opcode);
    const Instruction found = find(wanted.opcode, "sm_90");
    CHECK(found.opcode() == wanted.canonical);
    CHECK(found == find(wanted.canonical, "sm_90"));
    CHECK((found.kind() == wanted.kind && needs_program(found.kind()) && found.warps() == 1));
    CHECK(found.access_bytes() == wanted.bytes);
    std::string operands;
    for (const InstructionOperand& operand : found.operands())
      operands += std::string(operand.name()) + std::to_string(operand.words()) + (operand.is_written() ? "< " : " ");
    CHECK(operands == wanted.operands);
    CHECK_FALSE(found.source().empty());
    const std::string refused = "'" + std::string(wanted.canonical) + "' needs a program around it, for " + std::string(wanted.needs) +
                                ": it is a statement of a list or of a kernel";
    CHECK(found.problem(Call{}, 1) == refused);
    CHECK(found.problem(Call{}, 0) == refused);
  }
  const auto shfl = find("shfl.sync.idx.b32", "sm_90").operands();
  CHECK((shfl[1].is_paired() && shfl[1].is_optional() && shfl[1].kind() == Kind::predicate && !shfl[0].is_paired()));
  CHECK(find("st.shared.u8", "sm_90").operands()[0].kind() == Kind::address);
  CHECK(find("ld.shared.u8", "sm_90").requirement() == find("st.shared.u8", "sm_75").requirement());
  CHECK_FALSE(needs_program(find("add.u32", "sm_90").kind()));
}

TEST_CASE("find: which registers PTX takes for an operand") {
  const Instruction shift = find("shl.b32", "sm_90"), convert = find("cvt.u16.u8", "sm_90"), load = find("ld.shared.f32", "sm_90");
  CHECK(shift.operands()[1].accepts() == accepts_all);
  CHECK(shift.operands()[2].accepts() == accepts_integers);  // the number of a shift
  CHECK((convert.operands()[0].may_be_wider() && !shift.operands()[0].may_be_wider()));
  CHECK((load.operands()[0].accepts() == accepts_floating && !load.operands()[0].may_be_wider()));
  const Instruction mma = find("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_80");
  for (std::size_t i = 0; i < mma.operands().size(); ++i)
    CHECK(mma.operands()[i].accepts() == accepted_by(mma.form(), mma.form().operands[i]));
}

TEST_CASE("find: the third source of max and min may be left out where the target has it") {
  const Instruction two = find("max.f32", "sm_90"), three = find("max.f32", "sm_100a");
  REQUIRE(two.operands().size() == 3);
  REQUIRE(three.operands().size() == 4);
  CHECK((three.operands()[3].name() == "c" && three.operands()[3].is_optional() && !three.operands()[2].is_optional()));
  CHECK(find("max.f64", "sm_100a").operands().size() == 3);
  CHECK_FALSE(find("max.abs.f32", "sm_100a").operands()[3].is_optional());  // no form of two sources
  std::vector<float> d(warp_size), a(warp_size, 1), b(warp_size, 2), c(warp_size, 3);
  const auto view = [](std::vector<float>& values) { return RegisterView(reinterpret_cast<std::uint32_t*>(values.data())); };
  std::vector<RegisterView> views{view(d), view(a), view(b), view(c)};
  Call call;
  call.operands = views;
  REQUIRE_FALSE(three.problem(call, 1));
  three.execute(call, 1);
  CHECK(d == c);
  views[3] = {};
  REQUIRE_FALSE(three.problem(call, 1));
  three.execute(call, 1);
  CHECK(d == b);
  std::ranges::fill(d, 0);
  call.operands = std::span(views).first(3);
  REQUIRE_FALSE(three.problem(call, 1));
  three.execute(call, 1);
  CHECK(d == b);
  call.operands = std::span(views).first(2);
  CHECK(three.problem(call, 1) == "max.f32: 3 operands are needed; 2 given");
  CHECK(find("min.NaN.f32", "sm_120").operands().size() == 4);
}

TEST_CASE("find: a result may be a source's registers, and an optional predicate may be left out") {
  std::vector<std::uint32_t> a(2 * warp_size), p(warp_size);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::uint32_t>(i * 0x9e3779b9u);
  const std::vector<std::uint32_t> before = a;
  std::uint32_t seven = 7;
  const std::vector<RegisterView> add{{a.data()}, {a.data()}, {&seven, 0, 1, 0}};
  Call call;
  call.operands = add;
  find("add.u32", "sm_80").execute(call, 1);
  for (std::size_t lane = 0; lane < warp_size; ++lane) CHECK(a[lane] == before[lane] + 7);

  const std::vector<RegisterView> compare{{p.data()}, {}, {a.data()}, {a.data() + warp_size}};
  call.operands = compare;
  const Instruction setp = find("setp.lt.u32", "sm_80");
  REQUIRE_FALSE(setp.problem(call, 1));
  setp.execute(call, 1);
  for (std::size_t lane = 0; lane < warp_size; ++lane) CHECK(p[lane] == (a[lane] < a[warp_size + lane] ? 1u : 0u));
}

}  // namespace
}  // namespace warpmat::find_test
