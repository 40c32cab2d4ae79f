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
// is read where a statement is parsed and where its row or form is found; what then makes its payload asks the row, too.

namespace {

const std::string emulator = "emulator/warpmat/";

/// The folders that execute programs.
const std::vector<std::string> folders = {emulator + "ptx",     emulator + "machine", emulator + "checks", emulator + "execute",
                                          emulator + "profile", emulator + "launch",  emulator + "lists",  emulator + "c_program"};

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

const Reader* reader_of(const std::string& path) {
  const auto found = std::ranges::find_if(readers, [&](const Reader& reader) { return path.starts_with(reader.name); });
  return found == readers.end() ? nullptr : &*found;
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
      std::regex(R"re((types?(\[\d\]|\.(front|back)\(\))?|kind)(\.|->)name\s*(==|!=)\s*")re"),      // type.name == "f32"
      std::regex(R"re(types?(\[\d\]|\.(front|back)\(\))?(\.|->)name\.(starts_with|ends_with)\()re"),
      std::regex(R"re(string_view (opcode|mnemonic|qualifier)s?[,;)])re"),  // a function of it, or a column
  };
  const std::string code = line.substr(0, line.find("//"));
  return std::ranges::any_of(questions, [&](const std::regex& question) { return std::regex_search(code, question); });
}

struct Line {
  std::string path, text;
};

/// Every line of the folders that asks for text.
std::vector<Line> lines_with_questions(std::size_t& files) {
  std::vector<Line> found;
  for (const auto& [path, text] : source_files(folders, {".cpp", ".h"})) {
    ++files;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
      if (asks_for_text(line)) found.push_back({path.substr(emulator.size()), line});
  }
  return found;
}

}  // namespace

TEST_CASE("only what finds rows and resolves their statements reads the text of opcodes", "[structure]") {
  std::size_t files = 0;
  std::set<std::string> read;
  std::vector<std::string> wrong;
  for (const Line& line : lines_with_questions(files)) {
    const Reader* const reader = reader_of(line.path);
    if (reader == nullptr)
      wrong.push_back(fmt::format("{}: {}", line.path, line.text));
    else
      read.insert(reader->name);
  }
  CHECK(files > 200);
  CHECK(fmt::format("{}", fmt::join(wrong, "\n")) == "");
  // Who reads no text any more leaves the table.
  for (const Reader& reader : readers) {
    INFO(reader.name << " reads " << reader.reason);
    CHECK(read.contains(reader.name));
  }
}

TEST_CASE("a question for the text of an opcode is found", "[structure]") {
  for (const char* line :
       {R"(return opcode == "neg.f32" || opcode == "abs.f32";)", R"(if (operation.opcode != statement.opcode) return;)",
        R"(if (at(writer).opcode.starts_with("mov.")) continue;)", R"(const bool adds = event.opcode().starts_with("add");)",
        R"(std::ranges::find(rules, mnemonic, &Rule::mnemonic))", R"(match.pattern->mnemonic == "bfe")",
        R"(if (match.has(".ftz")) return;)", R"(if (kind.name == "kind::i8") return;)", R"(return match->types[0]->name == "f32";)",
        R"(type.name.ends_with("x2"))", R"(bool is_sign(std::string_view opcode) {)", R"(std::string_view mnemonic;)",
        R"(const bool wide = statement.opcode.ends_with(".u64");)", R"(if ("neg.f32" == operation.opcode) return;)"}) {
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

}  // namespace warpmat::opcode_text_test
