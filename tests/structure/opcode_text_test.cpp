#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "catch.h"
#include "structure/source_files.h"

namespace warpmat::opcode_text_test {

// What an instruction is, a program asks of its row: of catalogue::Name, Qualifier, trait and Semantics, of DataType. The text of an opcode
// is read where a statement is parsed and where its row or form is found; what then makes its payload asks the row, too. Nor is any other
// text compared from there on: types are compared by their addresses or values, operands of rows have roles, kernels are functions.

namespace {

const std::string emulator = "emulator/warpmat/";

/// The folders that execute programs.
const std::vector<std::string> folders = {emulator + "ptx",     emulator + "machine", emulator + "checks", emulator + "execute",
                                          emulator + "profile", emulator + "launch",  emulator + "lists",  emulator + "c_program"};
/// Those, and what they call for a row that is found.
const std::vector<std::string> folders_of_rows = [] {
  std::vector<std::string> all = folders;
  all.insert(all.end(), {emulator + "scalar", emulator + "tables"});
  return all;
}();

/// Files, or the beginnings of their names, that read the text of opcodes, and what for.
struct Reader {
  std::string name, reason;
};
const std::vector<Reader> readers = {
    {"ptx/catalogue/catalogue.", "finds the row"},
    {"ptx/catalogue/qualifier_meaning.", "finds each qualifier of the rows in the tables, once"},
    {"ptx/catalogue/restrictions.cpp", "whether the target has what the qualifiers say"},
    {"ptx/catalogue/evidence.cpp", "the label of a row, by what the row spells"},
    {"ptx/catalogue/names.", "the names of mnemonics"},
    {"ptx/catalogue/machine_rows.cpp", "spells rows"},
    {"ptx/program/function_resolver.", "from a statement to its row"},
    {"ptx/program/list_refusal.cpp", "which rows lists take, and how an opcode would be right"},
    {"ptx/program/tensor_fields.cpp", "finds statements of tcgen05 by fields"},
    {"ptx/program/tensor_statement.", "names the opcode in messages"},
    {"execute/instruction.cpp", "finds the form"},
    {"lists/parser.cpp", "which opcodes a list has"},
};

/// Files that compare other text, and which.
const std::vector<Reader> comparers = {
    {"ptx/syntax/", "the words of a module, before there are rows"},
    {"ptx/text/excerpt.cpp", "letters of a line that a message shows"},
    {"ptx/catalogue/catalogue.cpp", "the words of a row's operands, as the row becomes a pattern"},
    {"ptx/catalogue/evidence.cpp", "the catalogue::Name of a row"},
    {"ptx/catalogue/machine_rows.cpp", "parts of rows that it spells"},
    {"ptx/program/parameter_text.cpp", "a parameter's type, for a message"},
    {"ptx/program/special_register.cpp", "names of operands: %laneid, WARP_SZ"},
    {"ptx/program/tensor_fields.cpp", "qualifiers of rows, to find one by its fields"},
    {"launch/check_list.h", "the user's list of checks"},
    {"machine/printf_format.cpp", "the formats of vprintf, which lie in the kernel's memory"},
    {"checks/gemm.cpp", "the user's words for a product"},
    {"tables/opcode.cpp", "which table has an opcode"},
    {"tables/form.cpp", "the spellings of a form, as the table is made"},
    {"tables/fields.cpp", "the parts of an opcode"},
    {"tables/nearest_opcode.cpp", "what a message proposes"},
};

const Reader* reader_of(const std::vector<Reader>& allowed, const std::string& path) {
  const auto found = std::ranges::find_if(allowed, [&](const Reader& reader) { return path.starts_with(reader.name); });
  return found == allowed.end() ? nullptr : &*found;
}

bool has_any(const std::string& line, const std::vector<std::regex>& questions) {
  const std::string code = line.substr(0, line.find("//"));
  return std::ranges::any_of(questions, [&](const std::regex& question) { return std::regex_search(code, question); });
}

/// Whether a line of code asks for a part of an opcode's text, or for the name of a type that an opcode has.
bool asks_for_text(const std::string& line) {
  static const std::string texts = R"re((opcode|mnemonic|qualifiers?)\b(\(\))?)re";
  static const std::vector<std::regex> questions = {
      std::regex(texts + R"re(\s*(==|!=)\s*(?!Mnemonic::|nullptr)["\w])re"),                        // opcode == "neg.f32"
      std::regex(R"re(["\w]\s*(==|!=)\s*([\w.>-]+(\.|->))?)re" + texts + R"re((?!\.size))re"),      // "neg.f32" == operation.opcode
      std::regex(texts + R"re(\.(starts_with|ends_with|find|rfind|contains|compare|substr)\()re"),  // opcode.starts_with("add.")
      std::regex(R"re(&\w+::)re" + texts),                                                          // find(rules, text, &Rule::mnemonic)
      std::regex(R"re(has\("\.)re"),                                                                // match.has(".ftz")
      std::regex(R"re(types?(\[\d\]|\.(front|back)\(\))?(\.|->)name\.(starts_with|ends_with)\()re"),
      std::regex(R"re(string_view (opcode|mnemonic|qualifier)s?[,;)])re"),  // a function of it, or a column
  };
  return has_any(line, questions);
}

/// Whether a line of code compares text: with a literal, or names of types, kernels or a row's operands with each other.
bool compares_text(const std::string& line) {
  static const std::string name_of_type = R"re(\b(types?|declared)(\[\d\]|\.(front|back)\(\))?(\.|->)name\b)re";
  static const std::string row_text = R"re(\b(pattern(\.|->)name|row(\.|->)kernel)\b)re";
  static const std::string before = R"re((==|!=)\s*([\w.>()-]+(\.|->))?)re";
  static const std::vector<std::regex> questions = {
      std::regex(R"re((==|!=)\s*")re"),                                        // row.kernel == "cvt.f16x2.pair"
      std::regex(R"re("\s*(==|!=)\s*[\w(])re"),                                // "f32" == type
      std::regex(name_of_type + R"re(\s*(==|!=))re"),                          // types.back()->name != row.type
      std::regex(before + name_of_type + R"re((?!\.size))re"),                 // row.type != type->name
      std::regex(row_text + R"re(\s*(==|!=)(?!\s*Name::))re"),                 // pattern.name == number_name
      std::regex(before + row_text),                                           // number_name == pattern.name
      std::regex(R"re(find_(data|ptx)_type\([\w.>()\[\]-]*(\.|->)name\))re"),  // find_data_type(type.name) != nullptr
      std::regex(R"re(\b(text|statement)\.(starts_with|ends_with)\("\w)re"),   // text.starts_with("tcgen05.")
  };
  return has_any(line, questions);
}

struct Line {
  std::string path, text;
};

/// Every line of the folders that asks for text as `asks` says.
std::vector<Line> lines_with_questions(const std::vector<std::string>& in_folders, bool (*asks)(const std::string&), std::size_t& files) {
  std::vector<Line> found;
  for (const auto& [path, text] : source_files(in_folders, {".cpp", ".h"})) {
    ++files;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
      if (asks(line)) found.push_back({path.substr(emulator.size()), line});
  }
  return found;
}

/// Checks that of the folders' files only those `allowed` have such lines, and that each of them has one.
void check_readers(const std::vector<std::string>& in_folders, bool (*asks)(const std::string&), const std::vector<Reader>& allowed) {
  std::size_t files = 0;
  std::set<std::string> read;
  std::vector<std::string> wrong;
  for (const Line& line : lines_with_questions(in_folders, asks, files)) {
    const Reader* const reader = reader_of(allowed, line.path);
    if (reader == nullptr)
      wrong.push_back(fmt::format("{}: {}", line.path, line.text));
    else
      read.insert(reader->name);
  }
  CHECK(files > 200);
  CHECK(fmt::format("{}", fmt::join(wrong, "\n")) == "");
  // Who reads no text any more leaves the table.
  for (const Reader& reader : allowed) {
    INFO(reader.name << " reads " << reader.reason);
    CHECK(read.contains(reader.name));
  }
}

}  // namespace

TEST_CASE("only what finds rows and resolves their statements reads the text of opcodes", "[structure]") {
  check_readers(folders, asks_for_text, readers);
}

TEST_CASE("once a row is found, no text is compared", "[structure]") {
  check_readers(folders_of_rows, compares_text, comparers);
}

TEST_CASE("a question for the text of an opcode is found", "[structure]") {
  for (const char* line :
       {R"(return opcode == "neg.f32" || opcode == "abs.f32";)", R"(if (operation.opcode != statement.opcode) return;)",
        R"(if (at(writer).opcode.starts_with("mov.")) continue;)", R"(const bool adds = event.opcode().starts_with("add");)",
        R"(std::ranges::find(rules, mnemonic, &Rule::mnemonic))", R"(match.pattern->mnemonic == "bfe")",
        R"(if (match.has(".ftz")) return;)", R"(type.name.ends_with("x2"))", R"(bool is_sign(std::string_view opcode) {)",
        R"(std::string_view mnemonic;)", R"(const bool wide = statement.opcode.ends_with(".u64");)",
        R"(if ("neg.f32" == operation.opcode) return;)"}) {
    INFO(line);
    CHECK(asks_for_text(line));
  }
  for (const char* line :
       {R"(return match.is(Name::neg) && is_number(*match.types[0], Format::f32);)", R"(if (match.has(Qualifier::ftz)) return;)",
        R"(draft_.make("mov.b32", {to}, {from}, like))", R"(fail(fmt::format("{} takes 2 operands", statement_->opcode));)",
        R"(if (form.mnemonic != Mnemonic::mma) return;)", R"(a = 1;  // opcode == "neg.f32")", R"(if (buffer.name == name) return;)"}) {
    INFO(line);
    CHECK_FALSE(asks_for_text(line));
  }
}

TEST_CASE("a comparison of text is found", "[structure]") {
  for (const char* line :
       {R"(if (kind.name == "kind::i8") return;)", R"(return match->types[0]->name == "f32";)",
        R"(const bool unpacks = match.pattern->row.kernel == "cvt.f16x2.pair";)", R"(if (pattern.name == "address") {)",
        R"(return pattern.name == number_name ? Role::number : Role::value;)", R"(if (number_name != pattern->name) return;)",
        R"([&](const code::Reduction& r) { return r.type->name == type; })", R"(if (type == "f32_ftz" || type == "tf32") type = "f32";)",
        R"((!row.type.empty() && match.types.back()->name != row.type))",
        R"(return match.has(r.operation) && match.types.back()->name == r.type;)", R"(if (row.type != match.types.back()->name) continue;)",
        R"(return declared.name == type.name;)", R"(if ("f32" == type) return;)", R"(if (own.row.kernel != other.row.kernel) return;)",
        R"(return find_data_type(type.name) != nullptr;)", R"(if (!match || !text.starts_with("tcgen05.")) {)"}) {
    INFO(line);
    CHECK(compares_text(line));
  }
  for (const char* line : {R"(if (pattern.role == Role::address) {)", R"(if (match.pattern->name == Name::cvt) return;)",
                           R"(if (match.types.back() != row.type) continue;)", R"(if (operand.name == OperandName::a) return;)",
                           R"(if (operation.kernel != nullptr) return;)", R"(return &declared == &type;)", R"(a = 1;  // type == "f32")",
                           R"(fail(fmt::format("'{}' == '{}'", a, b));)", R"(draft_.make("mov.b32", {to}, {from}, like))"}) {
    INFO(line);
    CHECK_FALSE(compares_text(line));
  }
}

}  // namespace warpmat::opcode_text_test
