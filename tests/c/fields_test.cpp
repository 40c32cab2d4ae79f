// Finding by what a decoder has: the parts of an opcode; and what a text that is more than an opcode is told.

#include <warpmat/c.h>

#include <warpmat/tables/fields.h>

#include <string>

#include "c/calls.h"
#include "catch.h"

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

warpmat_fields as_c(const FormFields& fields) {
  auto out = sized<warpmat_fields>();
  out.mnemonic = text_or_null(fields.mnemonic);
  read_shape(fields.shape, out);
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
  out.number = fields.number.empty() ? 0 : fields.number[1] - '0';
  out.transposed = fields.trans.empty() ? 0 : 1;
  out.satfinite = fields.satfinite.empty() ? 0 : 1;
  return out;
}

std::string message_of(const warpmat_fields& fields, const char* target, warpmat_status status) {
  auto error = sized<warpmat_error>();
  CHECK(warpmat_find_fields(&fields, target, &error) == nullptr);
  CHECK(error.status == status);
  return error.message;
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
    const FormFields fields = fields_of(form);
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
  CHECK(message_of("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16") ==
        "a warpgroup executes 'wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16': warpmat_wgmma_create finds it");
  CHECK(message_of("tcgen05.mma.cta_group::1.kind::f16") ==
        "a tensor core with tensor memory executes 'tcgen05.mma.cta_group::1.kind::f16': warpmat_tcgen05_create of c_program.h finds it");
  CHECK(message_of("cp.async.bulk.tensor.2d.shared::cta.global") ==
        "a kernel executes 'cp.async.bulk.tensor.2d.shared::cta.global': warpmat_bulk_accesses of c_program.h lists what it accesses");
  CHECK(message_of("HMMA.16816.F32") == "'HMMA.16816.F32' is a name of SASS: warpmat_find_machine finds it");
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
