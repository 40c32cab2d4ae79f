#include "tools/gpu/report/sweep_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "gpu/recordings/vectors.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;
using Row = SweepFile::Row;

std::uint64_t sum(const std::vector<Row>& rows, std::uint64_t Row::*member) {
  std::uint64_t total = 0;
  for (const Row& row : rows) total += row.*member;
  return total;
}

Json counts_json(const Row& row) {
  return {{"cases", row.cases}, {"outputs", row.outputs}, {"mismatches", row.mismatches}};
}

/// Sums over the classes of each form; zeros if nothing was compared.
Json forms_json(const SweepFile& sweep) {
  Json all = Json::array();
  for (const std::string& form : sweep.forms) {
    std::vector<Row> rows;
    std::ranges::copy_if(sweep.rows, std::back_inserter(rows), [&](const Row& row) { return row.form == form; });
    Json entry = {{"form", form}, {"classes", rows.size()}};
    entry.update(counts_json({form, "", sum(rows, &Row::cases), sum(rows, &Row::outputs), sum(rows, &Row::mismatches)}));
    all.push_back(entry);
  }
  return all;
}

Json rows_json(const SweepFile& sweep) {
  Json all = Json::array();
  for (const Row& row : sweep.rows) {
    Json entry = {{"form", row.form}, {"class", row.operand_class}};
    entry.update(counts_json(row));
    all.push_back(entry);
  }
  return all;
}

}  // namespace

std::uint64_t SweepFile::outputs() const {
  return sum(rows, &Row::outputs);
}
std::uint64_t SweepFile::mismatches() const {
  return sum(rows, &Row::mismatches);
}

Json to_json(const SweepFile& sweep) {
  Json json = to_json(sweep.source);
  json["case_generator_version"] = sweep.generator;
  json["cases_per_class"] = sweep.cases_per_class;
  json["outputs"] = sweep.outputs();
  json["mismatches"] = sweep.mismatches();
  json["forms"] = forms_json(sweep);
  json["rows"] = rows_json(sweep);
  return json;
}

SweepFile sweep_of(const Json& json) {
  SweepFile sweep;
  sweep.source = run_source_of(json);
  sweep.generator = json.at("case_generator_version");
  sweep.cases_per_class = json.at("cases_per_class");
  for (const Json& form : json.at("forms")) sweep.forms.push_back(form.at("form"));
  for (const Json& row : json.at("rows"))
    sweep.rows.push_back({row.at("form"), row.at("class"), row.at("cases"), row.at("outputs"), row.at("mismatches")});
  return sweep;
}

Part part_of(const SweepFile& sweep, const std::string& file) {
  Part part{.file = file, .shard = sweep.source.shard, .complete = sweep.source.complete, .range = {0, sweep.cases_per_class}};
  part.run = properties(sweep.source);
  const std::pair<std::string, std::string> generator{"version of the generator", std::to_string(sweep.generator)};
  part.run.push_back(generator);
  part.run.emplace_back("cases of each form and class", std::to_string(sweep.cases_per_class));
  part.run.emplace_back("forms", digest(fmt::format("{}", fmt::join(sweep.forms, "\n"))));
  std::set<std::string> classes;
  for (const Row& row : sweep.rows) classes.insert(row.operand_class);
  if (sweep.source.complete) part.run.emplace_back("classes", fmt::format("{}", fmt::join(classes, " ")));
  part.cases = properties(sweep.source);
  part.cases.back() = generator;  // replaces the number of parts
  part.items = sweep.forms;
  return part;
}

SweepFile merged(const std::vector<const SweepFile*>& parts) {
  SweepFile all = *parts.front();
  all.source.shard = {};
  for (const SweepFile* part : std::vector(parts.begin() + 1, parts.end())) {
    all.source.seconds += part->source.seconds;
    all.source.date = std::max(all.source.date, part->source.date);
    all.rows.insert(all.rows.end(), part->rows.begin(), part->rows.end());
  }
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  std::vector<Row> rows;
  for (const Row& row : all.rows) {
    const auto [place, added] = places.emplace(std::pair(row.form, row.operand_class), rows.size());
    if (added) {
      rows.push_back(row);
      continue;
    }
    Row& total = rows[place->second];
    total.cases += row.cases;
    total.outputs += row.outputs;
    total.mismatches += row.mismatches;
  }
  all.rows = std::move(rows);
  return all;
}

}  // namespace warpmat
