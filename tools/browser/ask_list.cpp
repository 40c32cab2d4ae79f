// Lists of statements: what each statement reads and writes, when it does.

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <warpmat/lists/statement_call.h>
#include <warpmat/program.h>

#include "tools/browser/questions.h"
#include "tools/report/bank_report.h"
#include "tools/report/evidence_line.h"
#include "tools/report/explanation_html.h"
#include "tools/report/explanation_pair.h"
#include "tools/report/program_warnings.h"
#include "tools/report/warp_place.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

/// The matrix of numbers that a user has pasted: rows are lines, numbers have blanks, tabs or commas between them. Nothing of other texts.
std::optional<NpyArray> pasted(const std::string& text) {
  std::vector<std::vector<double>> rows(1);
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\n' || text[at] == ';') {
      if (!rows.back().empty()) rows.emplace_back();
      ++at;
    } else if (std::string_view(" \t\r,[]").find(text[at]) != std::string_view::npos) {
      ++at;
    } else {
      char* end = nullptr;
      rows.back().push_back(std::strtod(text.c_str() + at, &end));
      if (end == text.c_str() + at) return std::nullopt;
      at = static_cast<std::size_t>(end - text.c_str());
    }
  }
  if (rows.back().empty()) rows.pop_back();
  if (rows.empty()) return std::nullopt;
  for (const auto& row : rows)
    if (row.size() != rows[0].size())
      throw std::runtime_error(fmt::format("the pasted rows have {} and {} numbers: one length is needed", rows[0].size(), row.size()));
  NpyArray array = NpyArray::zeros(DType::float64, {rows.size(), rows[0].size()});
  double* to = array.as<double>().data();
  for (const auto& row : rows) to = std::copy(row.begin(), row.end(), to);
  return array;
}

/// The register that holds word `index` of an operand: "%r5"; a number is itself.
std::string register_name(const Program& program, const OperandText& operand, std::size_t index) {
  const Item& item = operand.items.at(index);
  return item.kind == Item::Kind::named ? program.registers()[static_cast<std::size_t>(item.index)].name : item.text;
}

/// The places of a list of statements, as each is when its statement reads or has written it.
class ListRun {
 public:
  ListRun(const Json& question, const Target& target)
      : program_(parse(question.at("text").get<std::string>(), target.name)), warp_(program_) {
    const Json layouts = question.value("layouts", Json::array());
    layouts_ = parse_layouts(program_, layouts.get<std::vector<std::string>>());
    const Json inputs = question.value("in", Json::object());
    for (const auto& [place, source] : inputs.items()) fill(place, source.get<std::string>());
  }
  ListRun(const ListRun&) = delete;
  ListRun& operator=(const ListRun&) = delete;

  /// Executes all statements. What ends them early is in the answer.
  Json run() {
    BankReport banks;
    warp_.observe({&banks});
    Json answer{{"evidence", evidence_line(program_.target()->name, labelled(program_))},
                {"warnings", program_warnings(program_, &filled_)}};
    try {
      std::size_t number = 0;
      for (const Statement& statement : program_.statements()) execute(statement, number);
    } catch (const Trap& trap) {
      answer["trap"] = finding_json(report_of(trap), "");
    }
    for (const SharedVariable& variable : program_.variables()) add_variable(variable.name);
    warp_.observe({});
    answer["places"] = std::move(places_);
    answer["registers"] = registers();
    answer["banks"] = bank_json(banks.lines());
    return answer;
  }

  /// Executes the statements before matrix instruction `number`, and explains an element of its result.
  ExplanationPair explain(std::size_t number, const Element& element, const std::string& against) {
    const Statement* const wanted = program_.matrix_statements().at(number);
    for (const Statement& statement : program_.statements()) {
      if (&statement == wanted) break;
      warp_.execute(statement);
    }
    const StatementCall call(warp_, *wanted);
    return explain_pair(*wanted->matrix(), call.get(), element, against, {});
  }

  const Program& program() const { return program_; }

 private:
  void fill(const std::string& text, const std::string& source) {
    const WarpPlace place(program_, text, layouts_);
    const auto array = pasted(source);
    filled_.push_back({text, array ? place.fill_from(warp_, *array, text) : place.fill(warp_, source)});
    if (place.kind() == WarpPlace::Kind::variable) shown_variables_[place.variable().name] = text;
  }

  void execute(const Statement& statement, std::size_t& number) {
    if (statement.matrix() == nullptr) return warp_.execute(statement);
    add_operands(statement, number, false);
    warp_.execute(statement);
    add_operands(statement, number, true);
    ++number;
  }

  void add_operands(const Statement& statement, std::size_t number, bool written) {
    const Form& form = statement.matrix()->form();
    for (const Operand& operand : form.operands)
      if (operand.kind == OperandKind::fragment && operand.written == written) add_operand(statement, number, operand);
  }

  void add_operand(const Statement& statement, std::size_t number, const Operand& operand) {
    const WarpPlace place(program_, fmt::format("{}.{}{}", statement_name(program_, number), name(operand.name),
                                                operand.format || operand.fragment.payload_bits() != 16 ? "" : ":f16"));
    Json json = place_json(place);
    json["line"] = statement.location().line;
    json["statement"] = number;
    json["operand"] = name(operand.name);
    json["written"] = operand.written;
    json["explains"] = operand.written && operand.fragment.matrices() >= 1;
    const OperandText& text = statement.operands()[static_cast<std::size_t>(&operand - form_of(statement).operands.data())];
    Json names = Json::array(), at = Json::array(), matrices = Json::array();
    for (std::size_t i = 0; i < text.items.size(); ++i) names.push_back(register_name(program_, text, i));
    for (std::size_t i = 0; i < json["elements"].size(); ++i) {
      const Element element = place.element(warp_, i);
      const Place found = operand.fragment.place(element);
      at.push_back({found.lane, found.reg, found.bit + operand.fragment.payload_shift(), element.row, element.column, element.matrix});
    }
    json["registers"] = std::move(names);
    json["at"] = std::move(at);
    places_.push_back(std::move(json));
  }

  static const Form& form_of(const Statement& statement) { return statement.matrix()->form(); }

  void add_variable(const std::string& variable) {
    const auto shown = shown_variables_.find(variable);
    places_.push_back(place_json(WarpPlace(program_, shown == shown_variables_.end() ? variable : shown->second, layouts_)));
  }

  Json place_json(const WarpPlace& place) const {
    const std::vector<std::uint64_t> bits = place.read(warp_);
    Json elements = Json::array(), codes = Json::array();
    for (const std::uint64_t element : bits) {
      elements.push_back(place.show_element(element));
      codes.push_back(fmt::format("{:#x}", element));
    }
    return {{"name", place.text()},
            {"type", name(place.type())},
            {"shape", place.shape()},
            {"elements", std::move(elements)},
            {"bits", std::move(codes)}};
  }

  Json registers() const {
    Json all = Json::array();
    for (const NamedRegister& r : program_.registers()) {
      Json lanes = Json::array();
      for (std::size_t lane = 0; lane < warp_size; ++lane)
        lanes.push_back(r.type->bits == 64
                            ? fmt::format("{:016x}", warp_.reg(r.name)[lane] | std::uint64_t{warp_.reg(r.name, 1)[lane]} << 32)
                            : fmt::format("{:08x}", warp_.reg(r.name)[lane]));
      all.push_back({{"name", r.name}, {"type", r.type->name}, {"lanes", std::move(lanes)}});
    }
    return all;
  }

  Program program_;
  Warp warp_;
  Layouts layouts_;
  std::vector<FilledPlace> filled_;
  std::map<std::string, std::string> shown_variables_;  ///< as the question calls them, with their type and columns
  Json places_ = Json::array();
};

std::string against_of(const Json& question) {
  return question.value("against", "");
}

}  // namespace

Json run_list(const Json& question) {
  Json answer = ListRun(question, asked_target(question, "target")).run();
  if (against_of(question).empty() || answer.contains("trap")) return answer;
  try {
    Json other = ListRun(question, asked_target(question, "against")).run();
    if (other.contains("trap")) throw std::runtime_error(other["trap"]["headline"].get<std::string>());
    mark_differences(answer["places"], other["places"]);
  } catch (const std::exception& refused) {  // the card does not have an instruction
    answer["refused"] = fmt::format("{}: {}", against_of(question), refused.what());
  }
  return answer;
}

Json explain_list(const Json& question) {
  ListRun run(question, asked_target(question, "target"));
  const Json& at = question.at("element");
  const ExplanationPair pair = run.explain(question.at("statement").get<std::size_t>(),
                                           {at.at(0).get<int>(), at.at(1).get<int>(), at.at(2).get<int>()}, against_of(question));
  return {{"html", explanation_part_html(pair.one, pair.beside())}};
}

}  // namespace warpmat
