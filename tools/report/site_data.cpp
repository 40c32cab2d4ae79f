#include "tools/report/site_data.h"

#include <fmt/core.h>
#include <warpmat/forms.h>
#include <warpmat/version.h>
#include <warpmat/warp.h>
#include <warpmat/wgmma.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/report/compared_results.h"
#include "tools/report/layout_notation.h"
#include "tools/report/lowered_forms.h"
#include "tools/report/operand_layout.h"
#include "tools/report/swizzle_search.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

/// A list of distinct values.
class Distinct {
 public:
  /// The number of `value` in the list.
  std::size_t number(Json value) {
    const auto [at, is_new] = numbers_.try_emplace(value.dump(), list_.size());
    if (is_new) list_.push_back(std::move(value));
    return at->second;
  }
  Json take() { return std::move(list_); }

 private:
  std::map<std::string, std::size_t> numbers_;
  Json list_ = Json::array();
};

// ---- Places of elements ---------------------------------------------------------------------------------------------------------------

/// The place for each single bit of an index: [warp, lane, register, bit].
template <typename PlaceOf>
Json steps(std::uint32_t size, PlaceOf place_of) {
  Json array = Json::array();
  for (std::uint32_t index = 1; index < size; index *= 2) array.push_back(place_of(index));
  return array;
}

/// Registers of a warp or of a warpgroup: a tile, repeated along the columns.
Json register_json(const Fragment& f, const TiledLayout& layout, int warps) {
  const auto along = [&](LayoutAxis axis) {
    std::uint32_t tile_size = 1;
    for (const AxisBits& a : layout.tile().from())
      if (a.axis == axis) tile_size = 1u << a.bits;
    return steps(tile_size, [&](std::uint32_t index) {
      Point point;
      point[axis] = index;
      const Point place = layout.tile()(point);
      return Json{place[LayoutAxis::warp], place[LayoutAxis::lane], place[LayoutAxis::reg], place[LayoutAxis::bit]};
    });
  };
  const auto copy = steps(static_cast<std::uint32_t>(f.copies()), [&](std::uint32_t index) {
    const Place place = f.place({}, static_cast<int>(index));
    return Json{0, place.lane, place.reg, place.bit};
  });
  const std::uint32_t repeats = layout.repeats().empty() ? 1 : layout.repeats().front().count;
  return {
      {"kind", "registers"},
      {"rows", layout.size_from(LayoutAxis::row)},
      {"columns", layout.size_from(LayoutAxis::column)},
      {"matrices", f.matrices()},
      {"warps", warps},
      {"registers", static_cast<std::uint32_t>(f.registers()) * repeats},
      {"register_bits", f.register_bits()},
      {"element_bits", f.element_bits()},
      {"payload_bits", f.payload_bits()},
      {"payload_shift", f.payload_shift()},
      {"tile", {{"columns", layout.size_from(LayoutAxis::column) / repeats}, {"registers", f.registers()}}},
      {"steps",
       {{"row", along(LayoutAxis::row)}, {"column", along(LayoutAxis::column)}, {"matrix", along(LayoutAxis::matrix)}, {"copy", copy}}}};
}

/// The registers of one warp, with all notations of such layouts.
Json fragment_json(const Fragment& f) {
  Json json = register_json(f, TiledLayout(f.layout(), {}), 1);
  json["formulas"] = layout_formulas(f);
  json["linear_layout"] = linear_layout_text(f);
  return json;
}

/// Rows in memory of ldmatrix and stmatrix: lanes hold the addresses of the rows, by matrix; elements are consecutive.
Json rows_json(const Form& form) {
  return {{"kind", "rows"},
          {"rows", form.shape.m},
          {"columns", form.shape.n},
          {"matrices", form.number},
          {"element_bits", form.memory_bits},
          {"row_bytes", Form::row_bytes}};
}

constexpr std::pair<Swizzle, const char*> swizzles[] = {
    {Swizzle::bytes_128, "128"}, {Swizzle::bytes_64, "64"}, {Swizzle::bytes_32, "32"}, {Swizzle::none, "none"}};

/// Shared memory of wgmma: the fields of compact descriptors, by major and by swizzle.
Json memory_json(const WgmmaForm& form, OperandName operand) {
  const MatrixExtent extent = matrix_extent(form, operand);
  Json majors = Json::object();
  for (const Major major : {Major::k, Major::mn}) {
    if (major == Major::mn && !form.transposes()) continue;
    Json& of_major = majors[major == Major::k ? "k" : "mn"];
    of_major["lines_are_rows"] = (operand == OperandName::a) == (major == Major::k);
    for (const auto& [swizzle, name] : swizzles) {
      const MatrixDescriptor d = compact_descriptor(matrix_lines(form, operand, major), swizzle, 0);
      of_major["swizzles"][name] = {
          {"width", d.line_bytes()}, {"leading", d.leading()}, {"stride", d.stride()}, {"descriptor", fmt::format("{:#018x}", d.encode())}};
    }
  }
  return {{"kind", "memory"},
          {"rows", extent.rows},
          {"columns", extent.columns},
          {"matrices", 1},
          {"element_bits", row(form.tile->format(operand)).bits},
          {"majors", std::move(majors)}};
}

// ---- Forms --------------------------------------------------------------------------------------------------------------------------

/// The whole table during construction.
class SiteTables {
 public:
  SiteTables() {
    for (const Form& form : warpmat::forms()) add(form);
    for (const WgmmaForm& form : wgmma_forms()) add(form);
  }

  void add_to(Json& json) {
    json["layouts"] = layouts_.take();
    json["operands"] = operands_.take();
    json["needs"] = needs_.take();
    json["knowledge"] = knowledge_.take();
    json["lowerings"] = lowerings_.take();
    json["forms"] = std::move(forms_);
  }

 private:
  void add(const Form& form) {
    Json operands = Json::array(), lowerings = Json::array(), targets = Json::array();
    for (const Operand& operand : form.operands)
      if (has_layout(form, operand)) operands.push_back(operand_number(form, operand));
    for (const LoweredForm& lowered : lowered_forms(form))
      lowerings.push_back(lowering(lowered.hardware, *lowered.lowering, machine_name(form, *lowered.lowering), evidence_label(lowered),
                                   results_behind(label_of(*lowered.lowering), form)));
    for (const Target& t : warpmat::targets())
      if (!unavailable(form, t)) targets.push_back(t.name);
    add(form.opcode, target_text(form.requirement), form.requirement.ptx, std::move(targets), std::move(operands), std::move(lowerings));
  }

  void add(const WgmmaForm& form) {
    Json operands = Json::array({warpgroup_operand(form, OperandName::d), warpgroup_operand(form, OperandName::a),
                                 memory_operand(form, OperandName::a), memory_operand(form, OperandName::b)});
    if (form.sparse()) operands.push_back(warpgroup_operand(form, OperandName::e));
    const Lowering& l = lowering_of(form);
    Json targets = Json::array();
    for (const Target& t : warpmat::targets())
      if (!unavailable(form, t)) targets.push_back(t.name);
    const std::string needs = targets.front().get<std::string>();
    add(form.opcode, needs, form.ptx, std::move(targets), std::move(operands),
        {lowering(Hardware::sm_90, l, std::string(l.machine), std::string(name(label_of(l))), 0)});
  }

  void add(const std::string& opcode, const std::string& needs, PtxVersion ptx, Json targets, Json operands, Json lowerings) {
    const std::size_t need = needs_.number({{"text", needs}, {"ptx", to_string(ptx)}, {"targets", std::move(targets)}});
    forms_.push_back({opcode, need, std::move(operands), lowerings_.number(std::move(lowerings))});
  }

  std::size_t operand_number(const Form& form, const Operand& operand) {
    const bool rows = is_address(operand);
    Json json = described(form, operand, rows ? form.number : operand.fragment.matrices());
    json["layout"] = layouts_.number(rows ? rows_json(form) : fragment_json(operand.fragment));
    const bool by_columns = operand.name == OperandName::b || operand.name == OperandName::scale_b;  // CuTe numbers B as n + N * k
    if (!rows) json["cute"] = cute_layout(operand.fragment, by_columns);
    return operands_.number(std::move(json));
  }

  std::size_t warpgroup_operand(const WgmmaForm& form, OperandName operand) {
    const Operand& of_tile = form.tile->operand(operand);
    Json json = described(*form.tile, of_tile, of_tile.fragment.matrices());
    json["layout"] = layouts_.number(register_json(of_tile.fragment, register_layout(form, operand), WgmmaForm::warps));
    return operands_.number(std::move(json));
  }

  std::size_t memory_operand(const WgmmaForm& form, OperandName operand) {
    Json json = described(*form.tile, form.tile->operand(operand), 1);
    json["layout"] = layouts_.number(memory_json(form, operand));
    return operands_.number(std::move(json));
  }

  static Json described(const Form& form, const Operand& operand, int matrices) {
    Json json{{"name", name(operand.name)}, {"format", format_text(operand)}, {"remark", layout_remark(form, operand)}};
    if (matrices == 1) return json;
    json["matrix_word"] = matrix_word(form, operand);
    for (int matrix = 0; matrix < matrices; ++matrix) json["matrices"].push_back(matrix_text(form, operand, matrix));
    return json;
  }

  /// [hardware, number of the evidence, results behind it]
  Json lowering(Hardware hardware, const Lowering& l, const std::string& machine, const std::string& label, std::uint64_t results) {
    const std::size_t known = knowledge_.number({{"machine", machine}, {"label", label}, {"source", l.source}});
    return {name(hardware), known, results};
  }

  Distinct layouts_, operands_, needs_, knowledge_, lowerings_;
  Json forms_ = Json::array();
};

Json targets_json() {
  Json array = Json::array();
  for (const Target& t : targets()) array.push_back({{"name", t.name}, {"hardware", name(t.hardware)}, {"cards", card_names(t.hardware)}});
  return array;
}

Json accesses_json(bool stores) {
  constexpr const char* kinds[] = {"load", "store", "matrix", "copy"};
  Json array = Json::array();
  for (const TileAccess& access : tile_accesses(stores))
    array.push_back({{"name", access.name},
                     {"kind", kinds[static_cast<std::size_t>(access.access)]},
                     {"bytes", access.bytes},
                     {"matrices", access.matrices},
                     {"column", access.column}});
  return array;
}

}  // namespace

std::string site_data() {
  Json json{{"version", version()}, {"targets", targets_json()}};
  for (const Label label : all_labels) json["labels"][std::string(name(label))] = meaning(label);
  for (int number = 0; number < warp_size; ++number) json["colours"].push_back("#" + grid_colour(number));
  SiteTables().add_to(json);
  json["stores"] = accesses_json(true);
  json["loads"] = accesses_json(false);
  return fmt::format("\"use strict\";\nconst tables = {};\n", json.dump());
}

}  // namespace warpmat
