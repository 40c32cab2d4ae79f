// Layouts as pictures and in other notations: every operand of every form.

#include <warpmat/forms.h>
#include <warpmat/warp.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "test.h"
#include "tools/report/layout_grid.h"
#include "tools/report/layout_notation.h"
#include "tools/report/operand_layout.h"

namespace warpmat::layout_picture_test {
namespace {

template <typename Visit>
void for_each_fragment(Visit visit) {
  for (const Form& form : forms())
    for (const Operand& operand : form.operands)
      if (operand.kind == OperandKind::fragment) visit(form, operand);
}

/// The same, but once for all operands whose elements lie alike.
template <typename Visit>
void for_each_distinct_fragment(Visit visit) {
  std::vector<Fragment> seen;
  for_each_fragment([&](const Form& form, const Operand& operand) {
    if (std::ranges::find(seen, operand.fragment) != seen.end()) return;
    seen.push_back(operand.fragment);
    visit(form, operand);
  });
  CHECK(seen.size() > 50);
}

// ---- Formulas: a reader of C's expressions -------------------------------------------------------------------------------------------

/// Evaluates sums of products of names and numbers, from left to right: + or ^ between terms, * / % within one.
class Evaluator {
 public:
  Evaluator(const std::string& expression, const std::map<std::string, int>& names) : names_(names) {
    std::istringstream in(expression);
    for (std::string word; in >> word;) words_.push_back(word);
  }
  int value() {
    int total = product();
    while (at_ < words_.size()) {
      const std::string sign = words_[at_++];
      if (sign != "+" && sign != "^") FAIL("no operator: " << sign);
      const int next = product();
      total = sign == "+" ? total + next : total ^ next;
    }
    return total;
  }

 private:
  int factor() {
    const std::string& word = words_.at(at_++);
    return std::isdigit(static_cast<unsigned char>(word[0])) != 0 ? std::stoi(word) : names_.at(word);
  }
  int product() {
    int value = factor();
    while (at_ < words_.size() && std::string("*/%").find(words_[at_]) != std::string::npos) {
      const char sign = words_[at_++][0];
      const int next = factor();
      value = sign == '*' ? value * next : sign == '/' ? value / next : value % next;
    }
    return value;
  }

  const std::map<std::string, int>& names_;
  std::vector<std::string> words_;
  std::size_t at_ = 0;
};

std::map<std::string, std::string> assignments(const std::string& formulas) {
  std::map<std::string, std::string> found;
  std::istringstream in(formulas);
  for (std::string line; std::getline(in, line);) {
    const std::size_t equals = line.find(" = ");
    REQUIRE((equals != std::string::npos && line.ends_with(";")));
    found[line.substr(0, equals)] = line.substr(equals + 3, line.size() - equals - 4);
  }
  return found;
}

TEST_CASE("formulas give the place of every element, and the element of every place", "[layout]") {
  Tally tally;
  for_each_distinct_fragment([&](const Form& form, const Operand& operand) {
    const Fragment& f = operand.fragment;
    const auto formulas = assignments(layout_formulas(f));
    for (int lane = 0; lane < warp_size; ++lane)
      for (int reg = 0; reg < f.registers(); ++reg)
        for (int i = 0; i < f.elements_per_register(); i += std::max(1, f.elements_per_register() - 1)) {
          const Place place{lane, reg, i * f.element_bits()};
          const std::map<std::string, int> at{{"lane", lane}, {"reg", reg}, {"bit", place.bit}};
          const auto of_place = [&](const char* name) { return formulas.contains(name) ? Evaluator(formulas.at(name), at).value() : 0; };
          const Element element = f.element(place);
          const Element got{of_place("row"), of_place("column"), of_place("matrix")};
          const std::map<std::string, int> in{{"row", element.row}, {"column", element.column}, {"matrix", element.matrix}};
          const auto of_element = [&](const char* name) { return Evaluator(formulas.at(name), in).value(); };
          const Place back{of_element("lane"), of_element("reg"), of_element("bit")};
          tally.expect(got == element && back == f.place(element),
                       [&] { return fmt::format("{}, {}: lane {}, register {}", form.opcode, name(operand.name), lane, reg); });
        }
  });
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() > 10'000);
}

// ---- CuTe: a reader of its layouts ---------------------------------------------------------------------------------------------------

/// "((4,8),2):((32,1),16)": two modes, (thread, value), each of sizes with their strides.
class CuteLayout {
 public:
  explicit CuteLayout(const std::string& text) {
    const std::size_t colon = text.find(':');
    const auto sizes = modes(text.substr(0, colon)), strides = modes(text.substr(colon + 1));
    REQUIRE((sizes.size() == 2 && strides.size() == 2));
    for (std::size_t mode = 0; mode < 2; ++mode) {
      REQUIRE(sizes[mode].size() == strides[mode].size());
      for (std::size_t i = 0; i < sizes[mode].size(); ++i) modes_[mode].push_back({sizes[mode][i], strides[mode][i]});
    }
  }
  int operator()(int thread, int value) const { return index(modes_[0], thread) + index(modes_[1], value); }
  int size(std::size_t mode) const {
    int product = 1;
    for (const auto& [size, stride] : modes_[mode]) product *= size;
    return product;
  }

 private:
  /// The numbers of the two members of a tuple, each a number or a tuple of numbers.
  static std::vector<std::vector<int>> modes(const std::string& text) {
    std::vector<std::vector<int>> found;
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '(') ++depth;
      if (text[i] == ')') --depth;
      if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) continue;
      if (depth == 1 || text[i - 1] == '(') found.emplace_back();
      std::size_t length = 0;
      found.back().push_back(std::stoi(text.substr(i), &length));
      i += length - 1;
    }
    return found;
  }
  static int index(const std::vector<std::pair<int, int>>& modes, int number) {
    int sum = 0;
    for (const auto& [size, stride] : modes) sum += number % size * stride, number /= size;
    return sum;
  }

  std::vector<std::pair<int, int>> modes_[2];
};

bool by_columns(OperandName name) {
  return name == OperandName::b || name == OperandName::scale_b;
}

TEST_CASE("CuTe's notation is that of CUTLASS, and leads to every element", "[layout]") {
  CHECK(cute_layout(find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")->operand(OperandName::a).fragment, false) ==
        "((4,8),(2,2,2)):((32,1),(16,8,128))");  // SM80_16x8_Row's ALayout
  Tally tally;
  for_each_distinct_fragment([&](const Form& form, const Operand& operand) {
    const Fragment& f = operand.fragment;
    const CuteLayout layout(cute_layout(f, by_columns(operand.name)));
    for (int lane = 0; lane < warp_size; ++lane)
      for (int value = 0; value < layout.size(1); ++value) {
        const Element e = f.element({lane, value / f.elements_per_register(), value % f.elements_per_register() * f.element_bits()});
        const int number = by_columns(operand.name) ? e.column + f.columns() * e.row : e.row + f.rows() * e.column;
        tally.expect(layout(lane, value) == number + e.matrix * f.rows() * f.columns(),
                     [&] { return fmt::format("{}, {}: lane {}, value {}", form.opcode, name(operand.name), lane, value); });
      }
    CHECK(layout.size(0) == warp_size);
    CHECK(layout.size(1) == f.registers() * f.elements_per_register());
  });
  CHECK(tally.failures() == "");
}

TEST_CASE("LinearLayout's notation leads to every element", "[layout]") {
  Tally tally;
  for_each_distinct_fragment([&](const Form& form, const Operand& operand) {
    const Fragment& f = operand.fragment;
    std::map<std::string, std::vector<Element>> bases;
    std::istringstream in(linear_layout_text(f));
    for (std::string line; std::getline(in, line);) {
      if (line.find(" -> ") == std::string::npos) continue;
      Element e;
      const int read = std::sscanf(line.substr(line.find("-> (")).c_str(), "-> (%d, %d, %d", &e.row, &e.column, &e.matrix);
      CHECK(read == (f.matrices() > 1 ? 3 : 2));
      bases[line.substr(2, line.find('=') - 2)].push_back(e);
    }
    for (int lane = 0; lane < warp_size; ++lane)
      for (int value = 0; value < f.registers() * f.elements_per_register(); ++value) {
        Element sum;
        for (const auto& [name, number] : {std::pair{"lane", lane}, std::pair{"register", value}})
          for (std::size_t bit = 0; bit < bases[name].size(); ++bit)
            if ((number >> bit & 1) != 0) {
              sum.row ^= bases[name][bit].row;
              sum.column ^= bases[name][bit].column;
              sum.matrix ^= bases[name][bit].matrix;
            }
        const Element e = f.element({lane, value / f.elements_per_register(), value % f.elements_per_register() * f.element_bits()});
        tally.expect(sum == e, [&] { return fmt::format("{}, {}: lane {}, value {}", form.opcode, name(operand.name), lane, value); });
      }
  });
  CHECK(tally.failures() == "");
}

// ---- Pictures: well-formedness -------------------------------------------------------------------------------------------------------

/// What is not well-formed in an XML document without comments and CDATA; empty if all is.
std::string xml_problem(const std::string& xml) {
  std::vector<std::string> open;
  std::size_t roots = 0;
  for (std::size_t at = 0; at < xml.size();) {
    if (xml[at] != '<') {
      const std::size_t end = std::min(xml.find('<', at), xml.size());
      const std::string text = xml.substr(at, end - at);
      if (open.empty() && text.find_first_not_of("\n ") != std::string::npos) return "text outside of the root";
      if (text.find('>') != std::string::npos) return "a bare >";
      for (std::size_t amp = text.find('&'); amp != std::string::npos; amp = text.find('&', amp + 1))
        if (const std::string entity = text.substr(amp, text.find(';', amp) - amp);
            entity != "&amp" && entity != "&lt" && entity != "&gt" && entity != "&quot")
          return "an unknown entity " + entity;
      at = end;
      continue;
    }
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return "a tag without an end";
    std::string tag = xml.substr(at + 1, end - at - 1);
    at = end + 1;
    if (tag.empty() || tag.find('<') != std::string::npos || std::ranges::count(tag, '"') % 2 != 0) return "a broken tag " + tag;
    const std::string name = tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" /\n", 1) - (tag[0] == '/' ? 1 : 0));
    if (tag[0] == '/') {
      if (open.empty() || open.back() != name) return "</" + name + "> closes nothing";
      open.pop_back();
    } else if (tag.back() != '/') {
      if (open.empty()) ++roots;
      open.push_back(name);
    }
  }
  return !open.empty() ? "<" + open.back() + "> is not closed" : roots != 1 ? "not one root" : "";
}

/// What is not well-formed in a LaTeX table: braces, environments, and rows of other than `columns` cells.
std::string latex_problem(const std::string& latex, std::size_t columns) {
  int depth = 0;
  std::vector<std::string> open;
  std::istringstream in(latex);
  for (std::string line; std::getline(in, line);) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '\\') {
        ++i;  // an escaped character, or the first letter of a command
        continue;
      }
      depth += line[i] == '{' ? 1 : line[i] == '}' ? -1 : 0;
      if (depth < 0) return "a } too many: " + line;
      if (std::string("_#%$").find(line[i]) != std::string::npos) return "a bare special character: " + line;
    }
    if (depth != 0) return "braces across lines: " + line;
    const auto environment = [&](std::size_t at) { return line.substr(at, line.find('}', at) - at); };
    if (line.starts_with("\\begin{")) open.push_back(environment(7));
    if (line.starts_with("\\end{")) {
      if (open.empty() || open.back() != environment(5)) return "\\end closes nothing: " + line;
      open.pop_back();
    }
    if (line.ends_with("\\\\") && static_cast<std::size_t>(std::ranges::count(line, '&')) != columns)
      return "a row of other length: " + line;
  }
  return open.empty() ? "" : "an environment is not closed";
}

TEST_CASE("the checks of well-formedness find what is broken", "[layout]") {
  CHECK(xml_problem("<a><b x=\"1\"/>t &amp; u</a>\n") == "");
  CHECK(xml_problem("<a><b></a></b>") != "");
  CHECK(xml_problem("<a>&x;</a>") != "");
  CHECK(xml_problem("<a></a><a></a>") != "");
  CHECK(latex_problem("\\begin{x}\na & b \\\\\n\\end{x}\n", 1) == "");
  CHECK(latex_problem("\\begin{x}\na & b \\\\\n\\end{x}\n", 2) != "");
  CHECK(latex_problem("a_b\n", 1) != "");
}

/// What is wrong with the pictures of a grid.
std::string picture_problem(const LayoutGrid& grid) {
  const std::string svg = grid_svg(grid, GridColour::lane);
  if (std::string problem = xml_problem(svg); !problem.empty()) return problem;
  const auto cells = static_cast<std::size_t>(grid.rows * grid.columns) * grid.cells.size();
  std::size_t rectangles = 0;
  for (std::size_t at = svg.find("<rect"); at != std::string::npos; at = svg.find("<rect", at + 1)) ++rectangles;
  if (rectangles != cells + 1) return fmt::format("{} cells", rectangles);
  if (svg.find("Known: ") != std::string::npos) return "a layout's picture speaks of arithmetic";
  return latex_problem(grid_latex(grid, GridColour::reg), static_cast<std::size_t>(grid.columns));
}

TEST_CASE("pictures of all operands of all forms are well-formed", "[layout]") {
  std::size_t drawn = 0;
  for (const Form& form : forms())
    for (const Operand& operand : form.operands) {
      if (!has_layout(form, operand)) continue;
      if (const std::string problem = picture_problem(layout_grid(form, operand)); !problem.empty())
        FAIL_CHECK(form.opcode << ", " << name(operand.name) << ": " << problem);
      ++drawn;
    }
  CHECK(drawn > 3'000);
}

/// wgmma's tiles are large: one form of each shape and element width, and of those the operands in registers and the swizzled tiles.
TEST_CASE("pictures of wgmma's operands are well-formed and labelled", "[layout]") {
  std::set<std::tuple<int, int, bool>> seen;
  std::size_t drawn = 0;
  const auto check = [&](const WgmmaForm& form, const LayoutGrid& grid) {
    if (const std::string problem = picture_problem(grid); !problem.empty()) FAIL_CHECK(form.opcode << ": " << problem);
    ++drawn;
  };
  for (const WgmmaForm& form : wgmma_forms()) {
    if (form.shape.n % 24 != 0 || form.shape.n > 48) continue;
    if (!seen.insert({form.shape.n, row(form.tile->format(OperandName::a)).bits, form.sparse()}).second) continue;
    check(form, layout_grid(form, OperandName::d));
    check(form, layout_grid(form, OperandName::a));
    if (form.sparse()) check(form, layout_grid(form, OperandName::e));
    for (const OperandName operand : {OperandName::a, OperandName::b})
      for (const Major major : {Major::k, Major::mn}) {
        if (major == Major::mn && !form.transposes()) continue;
        const MatrixLines lines = matrix_lines(form, operand, major);
        check(form, memory_grid(form, operand, major, compact_descriptor(lines, Swizzle::bytes_128, 0)));
      }
  }
  CHECK(seen.size() >= 12);
  CHECK(drawn > 50);
}

Outcome layout(const std::string& opcode, const std::string& operand, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"layout", opcode, "--operand", operand};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_command(arguments);
}

TEST_CASE("pictures of wgmma show what layout --json says", "[tools]") {
  const std::string opcode = "wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16";
  std::string expected = "matrix,row,column,warp,lane,register,bit,element_bits\n";
  const auto d = nlohmann::json::parse(layout(opcode, "d", {"--json"}).out);
  const auto b = nlohmann::json::parse(layout(opcode, "b", {"--json", "--swizzle", "128"}).out);
  for (const auto& e : d.at("elements"))
    expected += fmt::format("{},{},{},{},{},{},{},{}\n", e.at("matrix").get<int>(), e.at("row").get<int>(), e.at("column").get<int>(),
                            e.at("warp").get<int>(), e.at("lane").get<int>(), e.at("register").get<int>(), e.at("bit").get<int>(), 32);
  CHECK(layout(opcode, "d", {"--format", "csv"}).out == expected);
  expected = "matrix,row,column,address,bit,element_bits\n";
  for (const auto& e : b.at("elements"))
    expected += fmt::format("0,{},{},{},{},{}\n", e.at("row").get<int>(), e.at("column").get<int>(), e.at("address").get<int>(),
                            e.at("bit").get<int>(), 16);
  CHECK(layout(opcode, "b", {"--format", "csv", "--swizzle", "128"}).out == expected);
  CHECK(contains(layout(opcode, "d", {"--format", "svg"}).out, ">w1 T0</text>"));
  CHECK(contains(layout(opcode, "b", {"--format", "svg", "--swizzle", "none"}).out, ">bank 4</text>"));
}

TEST_CASE("layout --format prints every format, of rows in memory too", "[tools]") {
  const std::string load = "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16";
  for (const char* operand : {"r", "p"}) {
    const std::string svg = layout(load, operand, {"--format", "svg"}).out;
    CHECK(xml_problem(svg) == "");
    CHECK(latex_problem(layout(load, operand, {"--format", "latex", "--colour", "register"}).out, 8) == "");
    CHECK(std::ranges::count(layout(load, operand, {"--format", "csv"}).out, '\n') == 1 + 4 * 64);
    CHECK(layout(load, operand, {"--format", "markdown"}).out.find("| **7** |") != std::string::npos);
    CHECK(layout(load, operand, {"--format", "json"}).out == layout(load, operand, {"--json"}).out);
  }
  CHECK(layout(load, "r", {"--cute"}).out == "(32,(2,4)):(2,(1,64))\n");
  CHECK(layout(load, "p", {"--cute"}).err.find("holds addresses") != std::string::npos);
  CHECK(layout(load, "r", {"--formulas"}).out.find("matrix = reg;\n") != std::string::npos);
}

/// WCAG's relative luminance of a colour "RRGGBB".
double luminance(const std::string& colour) {
  double sum = 0;
  const double weights[] = {0.2126, 0.7152, 0.0722};
  for (std::size_t i = 0; i < 3; ++i) {
    const double c = std::stoi(colour.substr(2 * i, 2), nullptr, 16) / 255.0;
    sum += weights[i] * (c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
  }
  return sum;
}

TEST_CASE("black text can be read on every colour, and lanes have colours of their own", "[layout]") {
  std::set<std::string> colours;
  for (int lane = 0; lane < warp_size; ++lane) {
    const std::string colour = grid_colour(lane);
    colours.insert(colour);
    CHECK((luminance(colour) + 0.05) / 0.05 > 7);  // WCAG 2.1, 1.4.6
  }
  CHECK(colours.size() == warp_size);
}

}  // namespace
}  // namespace warpmat::layout_picture_test
