#include <warpmat/forms.h>
#include <warpmat/tables/nearest_opcode.h>
#include <warpmat/wgmma.h>

#include "compressed_table.h"
#include "test.h"

namespace warpmat::form_test {
namespace {

std::vector<std::string> split(const std::string& opcode) {
  std::vector<std::string> parts(1);
  for (const char character : opcode)
    if (character == '.')
      parts.emplace_back();
    else
      parts.back() += character;
  return parts;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string opcode = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) opcode += "." + parts[i];
  return opcode;
}

bool is_type(const std::string& qualifier) {
  return find_format(qualifier) != nullptr || qualifier == "b16" || qualifier == "b8";
}
bool is_layout(const std::string& qualifier) {
  return qualifier == "row" || qualifier == "col";
}

bool is_reduction(const std::string& qualifier) {
  return qualifier == "xor" || qualifier == "and" || qualifier == "popc";
}
bool is_load_format(const std::string& qualifier) {
  return qualifier == "b8x16" || qualifier == "b6x16_p32" || qualifier == "b4x16_p64";
}

/// The places of the parts that `is_member` chooses.
template <typename Predicate>
std::vector<std::size_t> places(const std::vector<std::string>& parts, Predicate is_member) {
  std::vector<std::size_t> found;
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (is_member(parts[i])) found.push_back(i);
  return found;
}

/// The form whose canonical spelling is `opcode`, or nullptr.
const Form* form_spelled(const std::string& opcode) {
  const auto found = std::ranges::find(forms(), opcode, &Form::opcode);
  return found == forms().end() ? nullptr : &*found;
}

/// Whether a form may exist with and without `qualifier`.
bool is_optional(const Form& form, const std::string& qualifier) {
  if (qualifier == "trans") return form.mnemonic != Mnemonic::movmatrix && form.shape == Shape{8, 8, 0};
  if (qualifier == "scale_vec::1X") return form.kind == Kind::mxf8f6f4;
  if (qualifier == "scale_vec::2X") return form.kind == Kind::mxf4;
  constexpr std::string_view others[] = {"shared", "global", "satfinite", "rn", "rz", "rm", "rp"};
  return std::ranges::find(others, qualifier) != std::end(others);
}

/// Whether other forms may exist without `qualifier`, of other operands or another placement.
bool makes_another_kind(const std::string& qualifier) {
  return qualifier == "sp" || qualifier == "sp::ordered_metadata" || qualifier == "kind::f8f6f4";
}

/// Puts the parts that `is_member` chooses back into the order that they have in `original`.
template <typename Predicate>
void keep_order(std::vector<std::string>& parts, const std::vector<std::string>& original, Predicate is_member) {
  std::vector<std::string> members;
  std::ranges::copy_if(original, std::back_inserter(members), is_member);
  auto next = members.begin();
  for (std::string& part : parts)
    if (is_member(part)) part = *next++;
}

const Form& form(std::string_view opcode) {
  const Form* found = find_form(opcode);
  INFO(opcode);
  REQUIRE(found != nullptr);
  return *found;
}

TEST_CASE("a form is what its opcode says") {
  const Form& mma = form("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32");
  CHECK(mma.mnemonic == Mnemonic::mma);
  CHECK(mma.shape == Shape{16, 8, 32});
  CHECK(mma.satfinite);
  CHECK(mma.operand(OperandName::a).format == Format::u8);
  CHECK(mma.operand(OperandName::b).format == Format::s8);
  CHECK(mma.operand(OperandName::c).format == Format::s32);
  CHECK(mma.operand(OperandName::d).format == Format::s32);
  CHECK(mma.find_operand(OperandName::p) == nullptr);
  const Form& load = form("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16");
  CHECK(load.mnemonic == Mnemonic::ldmatrix);
  CHECK(load.number == 2);
  CHECK(load.transposed);
  CHECK_FALSE(form("stmatrix.sync.aligned.m8n8.x4.shared.b16").transposed);
}

TEST_CASE("operands stand in PTX's order, and only destinations are written") {
  const auto names = [](const Form& f) {
    std::string text;
    for (const Operand& operand : f.operands) {
      const bool in_braces = operand.kind == OperandKind::ids || (operand.kind == OperandKind::fragment && operand.in_braces);
      const char* const brackets = operand.kind == OperandKind::address ? "[]" : in_braces ? "{}" : "";
      text += fmt::format("{}{}{} ", brackets, name(operand.name), operand.written ? "!" : "");
    }
    return text;
  };
  for (const Form& f : forms()) {
    CAPTURE(f.opcode);
    switch (f.mnemonic) {
      case Mnemonic::mma:
        CHECK(names(f) == fmt::format("{{}}d! {{}}a {{}}b {{}}c {}{}", contains(f.opcode, "mma.sp") ? "e selector " : "",
                                      contains(f.opcode, ".block_scale") ? "scale-a {}ids-a scale-b {}ids-b " : ""));
        break;
      case Mnemonic::ldmatrix: CHECK(names(f) == "{}r! []p "); break;
      case Mnemonic::stmatrix: CHECK(names(f) == "[]p {}r "); break;
      case Mnemonic::movmatrix: CHECK(names(f) == "d! a "); break;
      case Mnemonic::wmma_load: CHECK(names(f) == "{}r! []p stride "); break;
      case Mnemonic::wmma_store: CHECK(names(f) == "[]p {}r stride "); break;
      case Mnemonic::wmma_mma: CHECK(names(f) == "{}d! {}a {}b {}c "); break;
    }
  }
}

TEST_CASE("mnemonics and operand names are PTX's") {
  const char* const operands[] = {"d", "a", "b", "c", "e", "selector", "scale-a", "ids-a", "scale-b", "ids-b", "r", "p", "stride"};
  CHECK(std::size(operands) == operand_name_count);
  for (std::size_t i = 0; i < operand_name_count; ++i) {
    CHECK(name(static_cast<OperandName>(i)) == operands[i]);
    CHECK(find_operand_name(operands[i]) == static_cast<OperandName>(i));
  }
  CHECK_FALSE(find_operand_name("x").has_value());
  CHECK_FALSE(find_operand_name("").has_value());
  for (const char* mnemonic : {"ldmatrix", "stmatrix", "movmatrix", "mma", "wmma"}) CHECK(is_matrix_mnemonic(mnemonic));
  for (const char* mnemonic : {"", "mov", "wmma.mma", "MMA", "mma.sync"}) CHECK_FALSE(is_matrix_mnemonic(mnemonic));
}

TEST_CASE("a form is found by its qualifiers in every order that keeps types and layouts in theirs") {
  std::mt19937_64 random(50);
  for (const Form& f : forms()) {
    const std::vector<std::string> original = split(f.opcode);
    const auto mnemonic = static_cast<std::ptrdiff_t>(f.mnemonic == Mnemonic::wmma_mma ? 2
                                                      : moves_matrix(f)                ? 3
                                                                                       : 1);  // wmma.load.a: three parts
    for (int i = 0; i < 50; ++i) {
      std::vector<std::string> parts = original;
      if (i > 0) std::shuffle(parts.begin() + mnemonic, parts.end(), random);
      keep_order(parts, original, is_type);
      keep_order(parts, original, is_layout);
      keep_order(parts, original, is_reduction);
      keep_order(parts, original, is_load_format);
      CAPTURE(joined(parts));
      REQUIRE(find_form(joined(parts)) == &f);
    }
  }
  CHECK(find_form("ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16") == &form("ldmatrix.sync.aligned.m8n8.x4.shared.b16"));
}

TEST_CASE("an opcode with its types or layouts in another order is not the form") {
  std::size_t swapped = 0;
  for (const Form& f : forms()) {
    const std::vector<std::string> original = split(f.opcode);
    const auto without_order = [&](std::size_t one, std::size_t other) {
      std::vector<std::string> parts = original;
      std::swap(parts[one], parts[other]);
      ++swapped;
      CAPTURE(joined(parts));
      return find_form(joined(parts));
    };
    for (const auto& pair : {places(original, is_reduction), places(original, is_load_format)})
      if (pair.size() == 2) CHECK(without_order(pair[0], pair[1]) == nullptr);
    if (f.mnemonic != Mnemonic::mma) continue;

    const auto layouts = places(original, is_layout), types = places(original, is_type);
    REQUIRE(layouts.size() == 2);
    REQUIRE(types.size() == (f.scale_vector != 0 ? 5 : 4));
    if (original[layouts[0]] != original[layouts[1]]) {
      const Form* const other = without_order(layouts[0], layouts[1]);
      CHECK(other != &f);
      CHECK((other == nullptr) == (f.shape != Shape{8, 8, 4} || f.format(OperandName::a) != Format::f16));  // m8n8k4 has all four
    }
    if (original[types[2]] != original[types[3]]) CHECK(without_order(types[2], types[3]) == nullptr);  // C's type before B's
  }
  CHECK(swapped > 2 * 30);
}

TEST_CASE("an opcode with a qualifier missing, doubled or changed is not the form") {
  for (const Form& f : forms()) {
    const std::vector<std::string> original = split(f.opcode);
    for (std::size_t i = 1; i < original.size(); ++i) {
      std::vector<std::string> missing = original, doubled = original, changed = original;
      missing.erase(missing.begin() + static_cast<std::ptrdiff_t>(i));
      doubled.push_back(original[i]);
      changed[i] += "x";
      CAPTURE(f.opcode, original[i]);
      // Without .trans, .satfinite and others it is another form, whose spelling is just that.
      const Form* const other = find_form(joined(missing));
      CHECK(other != &f);
      CHECK(other == form_spelled(joined(missing)));
      if (is_optional(f, original[i]))
        CHECK(other != nullptr);
      else if (!makes_another_kind(original[i]))
        CHECK(other == nullptr);
      CHECK(find_form(joined(doubled)) == nullptr);
      CHECK(find_form(joined(changed)) == nullptr);
    }
  }
}

TEST_CASE("ldmatrix and stmatrix have the space that their opcode names") {
  for (const char* moves : {"ldmatrix", "stmatrix"}) {
    const auto form = [&](const char* space) { return find_form(std::string(moves) + ".sync.aligned.m8n8.x2" + space + ".b16"); };
    CHECK(form(".shared")->space == Space::shared);
    CHECK(form(".shared::cta") == form(".shared"));
    CHECK(form("")->space == Space::generic);
  }
}

TEST_CASE("an unknown opcode is explained by the nearest form and the difference") {
  struct Row {
    const char* opcode;
    std::vector<std::string> parts;
  };
  const Row rows[] = {
      {"", {"unknown instruction", "ldmatrix, stmatrix, movmatrix, mma and wmma"}},
      {"wgmma.mma_async.sync.aligned", {"unknown instruction 'wgmma'"}},
      {"wmma.mma.sync.aligned", {"nearest is wmma.mma.sync.aligned"}},
      {"wmma.load.e.sync.aligned.row.m16n16k16.f16", {"nearest is wmma.load.", ".sync.aligned.row.m16n16k16.f16"}},
      {"wmma", {"no such form of wmma"}},
      {"wmma.sync.load.a.aligned.row.m16n16k16.shared.f16", {"another order", "in wmma.load.a.sync.aligned.row.m16n16k16.shared.f16"}},
      {"wmma.sync.mma.aligned.col.row.m16n16k16.f32.f32", {"another order", "in wmma.mma.sync.aligned.col.row.m16n16k16.f32.f32"}},
      {"wmma.sync.load.a.aligned.row.m16n16k15.shared.f16",
       {"no such form of wmma.load.a; the nearest is wmma.load.a.sync.aligned.row.m16n16k16.shared.f16: the same without .m16n16k15 and"}},
      {"wmma.sync.aligned.row.m16n16k16.f16", {"no such form of wmma; the nearest is wmma."}},
      {"MMA.sync.aligned", {"has capitals beside the opcode: no such form of mma"}},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32;", {"has a semicolon beside the opcode: the opcode is mma.sync."}},
      {"mma", {"mma.sync.aligned", "with .aligned"}},
      {"ldmatrix.sync.aligned.m8n8.x3.shared.b16", {"ldmatrix.sync.aligned.m8n8.x", "without .x3", "with .x"}},
      {"ldmatrix.sync.aligned.m8n8.x4.trans.shared", {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "with .b16"}},
      {"ldmatrix.sync.aligned.m8n8.x4.global.b16", {"ldmatrix.sync.aligned.m8n8.x4.b16", "without .global"}},
      {"stmatrix.sync.aligned.m8n8.x1.shared.b32", {"stmatrix.sync.aligned.m8n8.x1.shared.b16", "without .b32", "with .b16"}},
      {"movmatrix.sync.aligned.m8n8.b16", {"movmatrix.sync.aligned.m8n8.trans.b16", "with .trans"}},
      {"mma.sync.m16n8k16.row.col.f32.f16.f16.f32", {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "with .aligned"}},
      {"mma.sync.aligned.m16n8k16.row.row.f32.bf16.bf16.f32",
       {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "without .row", "with .col"}},
      {"mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",
       {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "without .row", "with .col"}},
      {"mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.f32.tf32",
       {"another order", "mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32"}},
      {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and", {"m16n8k256.row.col.s32.b1.b1.s32.and.popc", "with .popc"}},
      {"mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32", {"another order", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}},
      {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f32.f32", {"another order", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16", {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "with .f32"}},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32.f32", {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "without .f32"}},
      {"mma.sync.aligned.m16n8k16.row.col.satfinite.f32.bf16.bf16.f32", {"m16n8k16.row.col.f32.bf16.bf16.f32", "without .satfinite"}},
      {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32.satfinit",
       {"mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32:", "without .satfinit and with .satfinite"}},
      {"mma.sync.aligned.m16n8k31.row.col.s32.s8.s8.s32",
       {"nearest is mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32:", "without .m16n8k31"}},
      {"mma.sync.aligned.m16n8k15.row.col.f32.f16.f16.f32",
       {"nearest is mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32:", "without .m16n8k15 and with .m16n8k16"}},
      {"mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",  // which mma.sp has
       {"nearest is mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32:", "without .m16n8k32 and with .m16n8k16"}},
      {"ldmatrix.sync.aligned.m8n8.x4.share.b16",
       {"nearest is ldmatrix.sync.aligned.m8n8.x4.shared.b16:", "without .share and with .shared"}},
      {"ldmatrix.sync.aligend.m8n8.x4.shared.b16", {"nearest is ldmatrix.sync.aligned.m8n8.x4.shared.b16:"}},
      {"mma.sync.aligned.m16n8k9.row.col.f32.tf32.tf32.f32", {"nearest is mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32:"}},
      {"mma.sync.aligned.m8n8k5.row.col.f32.f16.f16.f32", {"nearest is mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32:"}},
      {"mma.sync.aligned.m16n16k16.row.col.f32.f16.f16.f32", {"nearest is mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32:"}},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f32.f32.f32", {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}},
      {"mma.sync.aligned.m16n8k99999999999999999999999999999999.row.col.f32.f16.f16.f32", {"nearest is mma.sync.aligned.m16n8k"}},
  };
  for (const Row& r : rows) {
    const std::string text = explain_unknown_form(r.opcode);
    CAPTURE(r.opcode, text);
    CHECK(find_form(r.opcode) == nullptr);
    CHECK_FALSE(contains(text, "\n"));
    for (const std::string& part : r.parts) CHECK(contains(text, part));
  }
}

TEST_CASE("a target that comes later inherits what baseline targets have, and nothing of families that it does not belong to") {
  const Target later{"sm_130a", 130, 130, Hardware::sm_121, Target::Features::architecture, {9, 1}};
  std::size_t inherited = 0, refused = 0;
  for (const Form& form : forms()) {
    CAPTURE(form.opcode);
    const bool of_baseline = form.requirement.baseline != 0;
    CHECK(unmet(form.requirement, later, newest_ptx).has_value() != of_baseline);
    ++(of_baseline ? inherited : refused);
  }
  CHECK(inherited > 0);
  CHECK(refused > 0);
  CHECK(std::ranges::all_of(wgmma_forms(), [&](const WgmmaForm& form) { return unavailable(form, later, newest_ptx).has_value(); }));
}

TEST_CASE("the forms of wgmma are those that ptxas assembles", "[tables][wgmma]") {
  // Every width from 8 to 264, every pair of types with every result, dense and sparse: what ptxas 13.0 said of each.
  std::map<bool, int> answers;
  for (const auto& row : read_table(source_path("tests/vectors/ptxas_13.0_wgmma.tsv.gz"))) {
    if (row.front().starts_with('#')) continue;
    INFO(row[0]);
    const bool accepted = row[1] == "1";
    REQUIRE((find_wgmma(row[0]) != nullptr) == accepted);
    ++answers[accepted];
  }
  CHECK(answers[true] == static_cast<int>(wgmma_forms().size()));
  CHECK(answers[false] > 1000);
}

TEST_CASE("wgmma is for sm_90a alone", "[tables][wgmma]") {
  const WgmmaForm& form = *find_wgmma("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8");
  CHECK(unavailable(form, *find_target("sm_90a")) == std::nullopt);
  CHECK(unavailable(form, *find_target("sm_90")) == form.opcode + " needs sm_90a; the target is sm_90");
  CHECK(unavailable(form, *find_target("sm_100a")) == form.opcode + " needs sm_90a; the target is sm_100a");
  CHECK(unavailable(form, *find_target("sm_90a"), {8, 3}) == form.opcode + " needs PTX 8.4 or later; the version is 8.3");
}

TEST_CASE("accumulators of every width have the ISA's layout", "[tables][wgmma]") {
  for (const WgmmaForm& form : wgmma_forms()) {
    const TiledLayout layout = register_layout(form, OperandName::d);
    const bool narrow = row(form.tile->format(OperandName::d)).bits == 16;
    REQUIRE(layout.size_from(LayoutAxis::row) == 64);
    REQUIRE(layout.size_from(LayoutAxis::column) == static_cast<std::uint32_t>(form.shape.n));
    REQUIRE(layout.size_to(LayoutAxis::reg) == static_cast<std::uint32_t>(form.d_registers()));
    REQUIRE(form.a_registers() == 4);
    // PTX ISA 9.1, figures of section 9.7.15.5.1.1: the row and column that register r of lane l of warp w holds.
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(form.shape.n) / 2; ++i)
      for (const std::uint32_t lane : {0u, 5u, 31u})
        for (const std::uint32_t warp : {0u, 3u}) {
          Point element;
          element[LayoutAxis::row] = 16 * warp + lane / 4 + 8 * (i / 2 % 2);
          element[LayoutAxis::column] = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
          const Point place = layout(element);
          REQUIRE(place[LayoutAxis::warp] == warp);
          REQUIRE(place[LayoutAxis::lane] == lane);
          REQUIRE(place[LayoutAxis::reg] == (narrow ? i / 2 : i));
          REQUIRE(place[LayoutAxis::bit] == (narrow ? 16 * (i % 2) : 0));
        }
  }
}

TEST_CASE("A in registers: 16 rows a warp, as in mma", "[tables][wgmma]") {
  const TiledLayout layout = register_layout(*find_wgmma("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"), OperandName::a);
  Point element;
  element[LayoutAxis::row] = 16 * 2 + 9;
  element[LayoutAxis::column] = 13;
  const Point place = layout(element);
  CHECK(place[LayoutAxis::warp] == 2);
  CHECK(place[LayoutAxis::lane] == 4 * 1 + 2);
  CHECK(place[LayoutAxis::reg] == 3);
  CHECK(place[LayoutAxis::bit] == 16);
}

}  // namespace
}  // namespace warpmat::form_test
