// Finding by what a decoder has: the parts of an opcode; and what a text that is more than an opcode is told.

#include <warpmat/c_program.h>

#include <warpmat/forms.h>
#include <warpmat/lower/tensor_fields.h>
#include <warpmat/tables/field_table.h>

#include "c/calls.h"
#include "golden.h"

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

/// "mnemonic=mma m=16": `of` with the fields that the words name.
OpcodeFields read_fields(const std::string& text) {
  OpcodeFields fields;
  std::istringstream words(text);
  for (std::string word; words >> word;)
    for (const FieldRow& row : field_rows())
      if (const std::size_t equals = word.find('='); row.name == word.substr(0, equals)) fields.*row.member = word.substr(equals + 1);
  return fields;
}

TEST_CASE("C: what is found, and what is said where nothing is", "[c]") {
  const auto said = [](const std::string& input) {
    const std::size_t blank = input.find(' '), bar = input.find('|');
    const std::string kind = input.substr(0, blank), target = input.substr(blank + 1, bar - blank - 1), text = input.substr(bar + 1);
    auto error = sized<warpmat_error>();
    auto info = sized<warpmat_instruction_info>();
    auto tensor_info = sized<warpmat_tcgen05_info>();
    auto step = sized<warpmat_machine_step>();
    const OpcodeFields read = read_fields(text);
    const warpmat_fields fields = as_c(read);
    const warpmat_instruction* found = nullptr;
    std::unique_ptr<warpmat_tcgen05, FreeTcgen05> tensor;
    if (kind == "find") found = warpmat_find(text.c_str(), target.c_str(), &error);
    if (kind == "machine") found = warpmat_find_machine(text.c_str(), target.c_str(), &error);
    if (kind == "fields") found = warpmat_find_fields(&fields, target.c_str(), &error);
    if (kind == "tensor_fields") tensor.reset(warpmat_tcgen05_create_fields(&fields, target.c_str(), &error));
    if (kind == "tensor") tensor.reset(warpmat_tcgen05_create(text.c_str(), target.c_str(), &error));
    if (kind == "step") {
      const std::size_t a = text.find(' '), b = text.rfind(' ');
      warpmat_find_machine_step(text.substr(0, a).c_str(), text.substr(a + 1, b - a - 1).c_str(), text.substr(b + 1).c_str(),
                                target.c_str(), &step, &error);
      found = step.instruction;  // null where the step is refused
    }
    if (found != nullptr && warpmat_describe(found, &info) == WARPMAT_OK)
      return kind == "machine" ? fmt::format("{} {} {}", info.opcode, info.sass, info.machine) : std::string(info.opcode);
    if (tensor != nullptr && warpmat_tcgen05_describe(tensor.get(), &tensor_info) == WARPMAT_OK) return std::string(tensor_info.opcode);
    return fmt::format("{}: {}", warpmat_status_name(error.status), error.message);
  };
  CHECK(check_golden("c_find.txt", said) > 60);
}

TEST_CASE("C: fields of other versions, and none", "[c]") {
  auto fields = sized<warpmat_fields>();
  fields.mnemonic = "tcgen05.mma";
  fields.kind = "mxf4";
  fields.sparsity = "sp";
  fields.m = 16;
  fields.shape = "32x32b";
  CHECK(tcgen05_by(fields, "sm_100a", WARPMAT_BAD_ARGUMENT) == "fields has both m, n, k and a shape: only tcgen05 has a shape");
  fields.m = 0;
  // A struct of before tcgen05, and sizes that no version has: what follows is not read.
  fields.shape = reinterpret_cast<const char*>(std::uintptr_t{1});
  for (const std::size_t beyond : {std::size_t{0}, std::size_t{4}, std::size_t{12}, std::size_t{20}}) {
    fields.size = offsetof(warpmat_fields, cta_group) + beyond;
    CHECK(contains(tcgen05_by(fields, "sm_100a", WARPMAT_BAD_ARGUMENT), ": say cta_group (1, 2)"));
  }
  CHECK(warpmat_tcgen05_create_fields(nullptr, "sm_100a", nullptr) == nullptr);
  CHECK(warpmat_tcgen05_create_fields(&fields, nullptr, nullptr) == nullptr);
  CHECK(warpmat_find_fields(nullptr, "sm_80", nullptr) == nullptr);
  fields.size = 4;
  auto error = sized<warpmat_error>();
  CHECK(warpmat_find_fields(&fields, "sm_80", &error) == nullptr);
  CHECK(std::string(error.message) == "fields->size is not that of a warpmat_fields");
  auto step = sized<warpmat_machine_step>();
  CHECK(warpmat_find_machine_step("HMMA.884.F32.F32.STEP0", nullptr, "col", "sm_70", &step, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(std::string(error.message) == "a layout is null");
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

}  // namespace
}  // namespace warpmat::fields_test
