// Finding by what a decoder has: the parts of an opcode; and what a text that is more than an opcode is told.

#include <warpmat/c_program.h>

#include <warpmat/forms.h>
#include <warpmat/lower/tensor_fields.h>
#include <warpmat/tables/field_table.h>

#include "c/calls.h"
#include "test.h"

namespace warpmat::fields_test {

namespace {

const char* text_or_null(const std::string& text) {
  return text.empty() ? nullptr : text.c_str();
}

/// m, n and k of "m16n8k16" into `to`.
void read_shape(const std::string& shape, warpmat_fields& to) {
  int* number = nullptr;
  for (const char c : shape)
    if (c == 'm' || c == 'n' || c == 'k')
      number = c == 'm' ? &to.m : c == 'n' ? &to.n : &to.k;
    else
      *number = *number * 10 + (c - '0');
}

warpmat_fields as_c(const OpcodeFields& fields) {
  auto out = sized<warpmat_fields>();
  out.mnemonic = text_or_null(fields.mnemonic);
  if (fields.shape.starts_with('m'))
    read_shape(fields.shape, out);
  else
    out.shape = text_or_null(fields.shape);
  out.d = text_or_null(fields.d);
  out.a = text_or_null(fields.a);
  out.b = text_or_null(fields.b);
  out.c = text_or_null(fields.c);
  out.type = text_or_null(fields.type);
  out.layout_a = text_or_null(fields.layout_a);
  out.layout_b = text_or_null(fields.layout_b);
  out.kind = text_or_null(fields.kind);
  out.sparsity = text_or_null(fields.sparsity);
  out.scale_vec = text_or_null(fields.scale_vec);
  out.scale_type = text_or_null(fields.scale_type);
  out.rounding = text_or_null(fields.rounding);
  out.space = text_or_null(fields.space);
  out.operation = text_or_null(fields.operation);
  out.number = fields.number.empty() ? 0 : std::stoi(fields.number.substr(1));
  out.transposed = fields.trans.empty() ? 0 : 1;
  out.satfinite = fields.satfinite.empty() ? 0 : 1;
  out.cta_group = fields.cta_group.empty() ? 0 : std::stoi(fields.cta_group);
  out.multicast = text_or_null(fields.multicast);
  out.format = text_or_null(fields.format);
  out.pack = fields.pack.empty() ? 0 : 1;
  out.weights = fields.weights.empty() ? 0 : 1;
  out.shift_a = fields.shift_a.empty() ? 0 : 1;
  out.absolute = fields.absolute.empty() ? 0 : 1;
  out.nan = fields.nan.empty() ? 0 : 1;
  return out;
}

std::string message_of(const warpmat_fields& fields, const char* target, warpmat_status status) {
  auto error = sized<warpmat_error>();
  CHECK(warpmat_find_fields(&fields, target, &error) == nullptr);
  CHECK(error.status == status);
  return error.message;
}

struct FreeTcgen05 {
  void operator()(warpmat_tcgen05* tcgen05) const { warpmat_tcgen05_free(tcgen05); }
};

/// The opcode that C finds by fields, or its error.
std::string wgmma_by(const warpmat_fields& fields, const char* target, warpmat_status status = WARPMAT_OK) {
  auto error = sized<warpmat_error>();
  const warpmat_instruction* const found = warpmat_find_fields(&fields, target, &error);
  CHECK(error.status == status);
  if (found == nullptr) return error.message;
  auto info = sized<warpmat_instruction_info>();
  REQUIRE(warpmat_describe(found, &info) == WARPMAT_OK);
  return info.opcode;
}
std::string tcgen05_by(const warpmat_fields& fields, const char* target, warpmat_status status = WARPMAT_OK) {
  auto error = sized<warpmat_error>();
  const std::unique_ptr<warpmat_tcgen05, FreeTcgen05> tcgen05(warpmat_tcgen05_create_fields(&fields, target, &error));
  CHECK(error.status == status);
  if (tcgen05 == nullptr) return error.message;
  auto info = sized<warpmat_tcgen05_info>();
  REQUIRE(warpmat_tcgen05_describe(tcgen05.get(), &info) == WARPMAT_OK);
  return info.opcode;
}

/// The values that a field has among all of `has`, another that no opcode has, and none.
std::vector<std::string> values_of(const FieldRow& row, const FieldTable& table) {
  std::vector<std::string> values{"", "x7"};
  for (const FieldTable::Entry& entry : table.entries())
    if (std::ranges::find(values, entry.fields.*row.member) == values.end()) values.push_back(entry.fields.*row.member);
  return values;
}

/// Each entry of `table` with each field replaced, where that is not an opcode too: the error names the field, and what would be right.
/// Returns the number of questions.
std::size_t check_wrong_fields(const FieldTable& table, const Target& target) {
  std::size_t wrong = 0, entries = 0;
  for (const FieldTable::Entry& entry : table.entries()) {
    if (table.find(entry.fields, target).size() != 1) continue;
    ++entries;
    for (const FieldRow& row : field_rows()) {
      const std::vector<std::string> values = values_of(row, table);
      OpcodeFields fields = entry.fields;
      fields.*row.member = values[entries % values.size()];  // over all entries every value
      if (fields == entry.fields || !table.find(fields, target).empty()) continue;
      ++wrong;
      const FieldTable::Explanation why = table.explain(fields, target);
      CAPTURE(entry.opcode, row.name, fields.*row.member, why.text);
      if (why.problem == FieldTable::Problem::unavailable) {
        const bool of_the_target = why.text.find("the target is " + std::string(target.name)) != std::string::npos;
        REQUIRE((of_the_target || why.text.find(" registers; 128 are the most") != std::string::npos));
        continue;
      }
      const std::string& right = entry.fields.*row.member;
      const std::size_t there = why.text.find("; with another " + std::string(row.name) + " there is: ");
      REQUIRE(there != std::string::npos);
      const std::string list = why.text.substr(there, why.text.find(';', there + 1) - there);
      REQUIRE((list.find(right.empty() ? "none" : right) != std::string::npos || list.find("...") != std::string::npos));
    }
  }
  return wrong;
}

std::string message_of(const char* opcode) {
  auto error = sized<warpmat_error>();
  CHECK(warpmat_find(opcode, "sm_90a", &error) == nullptr);
  CHECK(error.status == WARPMAT_UNKNOWN_OPCODE);
  return error.message;
}

}  // namespace

TEST_CASE("C: every form on every target is found by its fields", "[c]") {
  int found_forms = 0;
  for (const Form& form : forms()) {
    const OpcodeFields fields = fields_of(form);
    const warpmat_fields given = as_c(fields);
    for (const Target& target : targets()) {
      if (unavailable(form, target)) continue;
      const std::string on(target.name);
      auto error = sized<warpmat_error>();
      CAPTURE(form.opcode, on, error.message);
      REQUIRE(warpmat_find_fields(&given, on.c_str(), &error) == warpmat_find(form.opcode.c_str(), on.c_str(), nullptr));
      ++found_forms;
    }
  }
  CHECK(found_forms > 5000);
}

TEST_CASE("C: every wgmma is found by its fields", "[c]") {
  std::size_t found_forms = 0;
  for (const WgmmaForm& form : wgmma_forms()) {
    CAPTURE(form.opcode);
    REQUIRE(wgmma_by(as_c(fields_of(form)), "sm_90a") == form.opcode);
    REQUIRE(find_wgmma_forms(fields_of(form), target("sm_90a")) == std::vector<const WgmmaForm*>{&form});
    ++found_forms;
  }
  CHECK(found_forms == wgmma_forms().size());
  CHECK(found_forms > 1000);
}

TEST_CASE("C: every tcgen05 that touches tensor memory is found by its fields", "[c]") {
  std::map<std::string, std::size_t> on_target;
  for (const char* name : {"sm_100a", "sm_100f", "sm_103a", "sm_110f", "sm_90a"})
    for (const FieldTable::Entry& entry : code::tensor_fields().entries()) {
      // By another way than the table: what warpmat_tcgen05_create takes.
      auto error = sized<warpmat_error>();
      const std::unique_ptr<warpmat_tcgen05, FreeTcgen05> made(warpmat_tcgen05_create(entry.opcode.c_str(), name, &error));
      CAPTURE(entry.opcode, name, error.message);
      if (made == nullptr) {
        REQUIRE(tcgen05_by(as_c(entry.fields), name, WARPMAT_UNAVAILABLE) == error.message);
        continue;
      }
      REQUIRE(tcgen05_by(as_c(entry.fields), name) == entry.opcode);
      ++on_target[name];
    }
  CHECK(on_target.size() == 4);
  for (const auto& [name, count] : on_target) {
    CAPTURE(name, count);
    CHECK(count > 200);
  }
}

TEST_CASE("Fields: every wrong one is named, with those that there are", "[c]") {
  CHECK(check_wrong_fields(form_fields(), target("sm_120a")) > 3000);
  CHECK(check_wrong_fields(form_fields(), target("sm_90a")) > 3000);
  CHECK(check_wrong_fields(wgmma_fields(), target("sm_90a")) > 10000);
  CHECK(check_wrong_fields(code::tensor_fields(), target("sm_103a")) > 3000);
}

TEST_CASE("C: fields of wgmma and tcgen05 that are open, wrong, or of another function", "[c]") {
  auto fields = sized<warpmat_fields>();
  fields.mnemonic = "wgmma.mma_async";
  fields.m = 64;
  fields.n = 96;
  fields.a = fields.b = "e4m3";
  fields.k = 32;
  CHECK(wgmma_by(fields, "sm_90a", WARPMAT_BAD_ARGUMENT) ==
        "2 forms have these fields, such as wgmma.mma_async.sync.aligned.m64n96k32.f16.e4m3.e4m3 and "
        "wgmma.mma_async.sync.aligned.m64n96k32.f32.e4m3.e4m3: say d (f16, f32) and c (f16, f32)");
  fields.d = "f32";
  CHECK(wgmma_by(fields, "sm_90a") == "wgmma.mma_async.sync.aligned.m64n96k32.f32.e4m3.e4m3");
  CHECK(wgmma_by(fields, "sm_90", WARPMAT_UNAVAILABLE).find("needs sm_90a; the target is sm_90") != std::string::npos);
  fields.n = 100;
  CHECK(wgmma_by(fields, "sm_90a", WARPMAT_UNKNOWN_OPCODE).find("; with another shape there is: m64n8k32, m64n16k32, ") !=
        std::string::npos);
  fields.kind = "f8";
  CHECK(wgmma_by(fields, "sm_90a", WARPMAT_UNKNOWN_OPCODE).find("; shape may be: m64n8k16, ") != std::string::npos);
  CHECK(wgmma_by(fields, "sm_90a", WARPMAT_UNKNOWN_OPCODE).find("; kind may be: none") != std::string::npos);

  fields = sized<warpmat_fields>();
  fields.mnemonic = "wgmma.mma_async";
  CHECK(message_of(fields, "sm_90a", WARPMAT_BAD_ARGUMENT).find("474 forms have these fields, such as wgmma.mma_async.") == 0);
  fields.mnemonic = "tcgen05.mma";
  CHECK(message_of(fields, "sm_100a", WARPMAT_UNKNOWN_OPCODE) ==
        "a tensor core with tensor memory executes 'tcgen05.mma': warpmat_tcgen05_create_fields of c_program.h finds it");
  fields.kind = "mxf4";
  fields.sparsity = "sp";
  CHECK(tcgen05_by(fields, "sm_100a", WARPMAT_BAD_ARGUMENT).find(": say cta_group (1, 2)") != std::string::npos);
  fields.cta_group = 2;
  CHECK(tcgen05_by(fields, "sm_100a") == "tcgen05.mma.sp.cta_group::2.kind::mxf4.block_scale");
  fields.shape = "32x32b";
  CHECK(tcgen05_by(fields, "sm_100a", WARPMAT_UNKNOWN_OPCODE) ==
        "sm_100a has no form with mnemonic = tcgen05.mma, shape = 32x32b, kind = mxf4, sparsity = sp, cta_group = 2; with another shape "
        "there is: none");
  fields.m = 16;
  CHECK(tcgen05_by(fields, "sm_100a", WARPMAT_BAD_ARGUMENT) == "fields has both m, n, k and a shape: only tcgen05 has a shape");
  fields.m = 0;
  // A struct of before tcgen05, and sizes that no version has: what follows is not read.
  fields.shape = reinterpret_cast<const char*>(std::uintptr_t{1});
  for (const std::size_t beyond : {std::size_t{0}, std::size_t{4}, std::size_t{12}, std::size_t{20}}) {
    fields.size = offsetof(warpmat_fields, cta_group) + beyond;
    CHECK(tcgen05_by(fields, "sm_100a", WARPMAT_BAD_ARGUMENT).find(": say cta_group (1, 2)") != std::string::npos);
  }

  CHECK(warpmat_tcgen05_create_fields(nullptr, "sm_100a", nullptr) == nullptr);
  CHECK(warpmat_tcgen05_create_fields(&fields, nullptr, nullptr) == nullptr);
  CHECK(tcgen05_by(fields, "sm_1", WARPMAT_UNKNOWN_TARGET).find("unknown target") == 0);
}

TEST_CASE("C: a decoder need not know what is always the same", "[c]") {
  auto fields = sized<warpmat_fields>();
  fields.mnemonic = "mma";
  fields.m = 16;
  fields.n = 8;
  fields.k = 16;
  fields.a = "bf16";
  CHECK(warpmat_find_fields(&fields, "sm_80", nullptr) == found("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "sm_80"));
  fields.a = "f16";
  CHECK(message_of(fields, "sm_80", WARPMAT_BAD_ARGUMENT) ==
        "2 forms have these fields, such as mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 and "
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16: say d (f32, f16) and c (f32, f16)");
  fields.d = "f32";
  CHECK(warpmat_find_fields(&fields, "sm_80", nullptr) == found("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_80"));
  fields.k = 15;
  CHECK(
      message_of(fields, "sm_80", WARPMAT_UNKNOWN_OPCODE) ==
      "sm_80 has no form with mnemonic = mma, shape = m16n8k15, d = f32, a = f16; with another shape there is: m8n8k4, m16n8k8, m16n8k16");
  fields.k = 16;
  fields.satfinite = 1;
  CHECK(message_of(fields, "sm_80", WARPMAT_UNKNOWN_OPCODE).find("with another satfinite there is: none") != std::string::npos);
  CHECK(message_of(sized<warpmat_fields>(), "sm_80", WARPMAT_BAD_ARGUMENT).find("forms have these fields") != std::string::npos);
  fields.size = 4;
  CHECK(message_of(fields, "sm_80", WARPMAT_BAD_ARGUMENT) == "fields->size is not that of a warpmat_fields");
  CHECK(warpmat_find_fields(nullptr, "sm_80", nullptr) == nullptr);
  CHECK(message_of(sized<warpmat_fields>(), "sm_1", WARPMAT_UNKNOWN_TARGET).find("unknown target") == 0);
}

TEST_CASE("C: what a text has beside an opcode is told", "[c]") {
  const std::string opcode = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
  struct Row {
    std::string text;
    const char* beside;
  };
  for (const Row& row :
       {Row{opcode + " ", "blanks"}, Row{"\t" + opcode, "blanks"}, Row{opcode + ";", "a semicolon"}, Row{"@p0 " + opcode, "a predicate"},
        Row{"@!%p1 " + opcode + " {%r0}, {%r1};", "a predicate, operands and a semicolon"},
        Row{"MMA.sync.aligned.M16N8K16.row.col.f32.f16.f16.f32 ;", "blanks, a semicolon and capitals"}}) {
    CAPTURE(row.text);
    CHECK(message_of(row.text.c_str()) == "'" + row.text + "' has " + row.beside + " beside the opcode: the opcode is " + opcode);
  }
  CHECK(message_of("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16 ")
            .find("' has blanks beside the opcode: no such form of mma; the nearest is") != std::string::npos);
  CHECK(message_of("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16;") ==
        "'wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16;' has a semicolon beside the opcode: the opcode is "
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16");
  CHECK(message_of("@p wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16;") ==
        "'@p wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16;' has a predicate and a semicolon beside the opcode: the opcode is "
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16");
  CHECK(message_of("tcgen05.mma.cta_group::1.kind::f16") ==
        "a tensor core with tensor memory executes 'tcgen05.mma.cta_group::1.kind::f16': warpmat_tcgen05_create of c_program.h finds it");
  CHECK(message_of("cp.async.bulk.tensor.2d.shared::cta.global") ==
        "a kernel executes 'cp.async.bulk.tensor.2d.shared::cta.global': warpmat_bulk_accesses of c_program.h lists what it accesses");
  const auto unknown = [](auto find) {
    auto error = sized<warpmat_error>();
    CHECK(find(&error) == nullptr);
    CHECK(error.status == WARPMAT_UNKNOWN_OPCODE);
    return std::string(error.message);
  };
  const auto of_machine = [&](const char* name) {
    return unknown([&](warpmat_error* error) { return warpmat_find_machine(name, "sm_90a", error); });
  };
  CHECK(of_machine("HGMMA.64x8x16.F32 R24") == "'HGMMA.64x8x16.F32 R24' has operands beside the name: the name is HGMMA.64x8x16.F32");
  CHECK(of_machine("HGMMA.64x8x16.F33") == "no such form of HGMMA; the nearest is HGMMA.64x8x16.F32: the same without .F33 and with .F32");
  CHECK(of_machine("HGMMA.64x12x16.F32") ==
        "no such form of HGMMA; the nearest is HGMMA.64x16x16.F32: the same without .64x12x16 and with .64x16x16");
  CHECK(of_machine("UTCHMMA.2CTA") == "'UTCHMMA.2CTA' is of tcgen05: warpmat_tcgen05_create of c_program.h finds it by PTX's opcode");
  CHECK(of_machine("UTMALDG.2D") == "'UTMALDG.2D' is of cp.async.bulk: warpmat_bulk_accesses of c_program.h lists what it accesses");
  for (const char* other : {"", ".", "tcgen05", "tcgen05.", "mma", "tcgen05.mma"}) {
    CAPTURE(other);
    const std::string message = unknown([&](warpmat_error* error) { return warpmat_tcgen05_create(other, "sm_100a", error); });
    CHECK(message.find("'" + std::string(other) + "'") == 0);
  }
  CHECK(message_of("HMMA.16816.F32") == "'HMMA.16816.F32' is a name of SASS: warpmat_find_machine finds it");
  CHECK(message_of("HGMMA.64x16x16.F32") == "'HGMMA.64x16x16.F32' is a name of SASS: warpmat_find_machine finds it");
  CHECK(message_of("fma.rn.f33") == "'fma.rn.f33' is not a form that warpmat executes; the nearest is fma.rn.f32");
  CHECK(message_of("fma.rn.f32 %f1, %f2, %f3, %f4;") ==
        "'fma.rn.f32 %f1, %f2, %f3, %f4;' has operands and a semicolon beside the opcode: the opcode is fma.rn.f32");
  CHECK(message_of("ld.global.u32") ==
        "'ld.global.u32' needs a program around it, for memory, other lanes or control flow: it is a statement of a kernel; "
        "warpmat_module_parse of c_program.h takes those");
  CHECK(message_of(" ").find("unknown instruction") == 0);
  CHECK(message_of("@p").find("unknown instruction") == 0);
  CHECK(message_of(";").find("unknown instruction") == 0);
}

TEST_CASE("C: an instruction says its parts, its alignment and how its layout is known", "[c]") {
  auto info = sized<warpmat_instruction_info>();
  REQUIRE(warpmat_describe(found("wmma.load.b.sync.aligned.col.m32n8k16.global.f16", "sm_90"), &info) == WARPMAT_OK);
  CHECK(std::string(info.mnemonic) == "wmma.load.b");
  CHECK(std::string(info.type) == "f16");
  CHECK(std::string(info.layout_a) == "col");
  CHECK(std::string(info.layout_b).empty());
  CHECK(std::string(info.space) == "global");
  CHECK((info.m == 32 && info.n == 8 && info.k == 16));
  CHECK(info.default_stride == 16);
  CHECK(info.alignment == find_form(info.opcode)->memory_alignment());
  CHECK(std::string(info.layout_evidence) == "measured");
  struct Row {
    const char *opcode, *target, *evidence, *layout_evidence, *layout_source;
  };
  for (const Row& row :
       {Row{"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "sm_70", "assumed", "published",
            "GPGPU-Sim, arXiv 1811.08309; wmma_extension"},
        Row{"wmma.load.b.sync.aligned.col.m8n32k16.f16", "sm_70", "assumed", "assumed", "octets as of m16n16k16 on sm_70"},
        Row{"wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32", "sm_80", "assumed", "assumed", "registers as on sm_90"},
        Row{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_80", "replayed", "specified", "PTX ISA 9.1"},
        Row{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_90", "measured", "measured", "H200"}}) {
    CAPTURE(row.opcode, row.target);
    REQUIRE(warpmat_describe(found(row.opcode, row.target), &info) == WARPMAT_OK);
    CHECK(std::string(info.evidence) == row.evidence);
    CHECK(std::string(info.layout_evidence) == row.layout_evidence);
    CHECK(std::string(info.layout_source) == row.layout_source);
  }
  REQUIRE(warpmat_describe(found("ldmatrix.sync.aligned.m8n8.x4.b16", "sm_90"), &info) == WARPMAT_OK);
  CHECK((info.alignment == 16 && info.default_stride == 0));
  // A host compiled with the first version's struct gets what that had.
  info.size = offsetof(warpmat_instruction_info, layout_evidence);
  info.layout_evidence = nullptr;
  CHECK(warpmat_describe(found("ldmatrix.sync.aligned.m8n8.x4.b16", "sm_90"), &info) == WARPMAT_OK);
  CHECK(info.layout_evidence == nullptr);
}

}  // namespace warpmat::fields_test
