#include <warpmat/assembler/numbered_module.h>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

#include <warpmat/ptx/text/lexer.h>

namespace warpmat {
namespace {

/// Where each line of a text begins.
std::vector<std::size_t> line_begins(std::string_view text) {
  std::vector<std::size_t> begins{0};
  for (std::size_t at = 0; at < text.size(); ++at)
    if (text[at] == '\n') begins.push_back(at + 1);
  return begins;
}

/// A part of the text that something else replaces.
struct Edit {
  std::size_t at, length;
  std::string with;
};

class Numbering {
 public:
  Numbering(const syntax::Module& module, bool (*probed)(const syntax::Statement&))
      : module_(module), probed_(probed), text_(*module.text), begins_(line_begins(text_)) {}

  NumberedModule run() {
    drop_lines();
    if (probed_ != nullptr) declare_probe();
    for (const syntax::Function& function : module_.functions)
      for (const syntax::Element& element : function.body)
        if (const auto* statement = std::get_if<syntax::Statement>(&element)) number(*statement, function);
    std::ranges::stable_sort(edits_, {}, &Edit::at);
    std::size_t from = 0;
    for (const Edit& edit : edits_) {
      result_.text += text_.substr(from, edit.at - from);
      result_.text += edit.with;
      from = edit.at + edit.length;
    }
    result_.text += text_.substr(from);
    result_.text += "\n.file 1 \"statements\"\n";
    return std::move(result_);
  }

 private:
  std::size_t offset(Location location) const {
    return begins_[static_cast<std::size_t>(location.line) - 1] + static_cast<std::size_t>(location.column) - 1;
  }

  void number(const syntax::Statement& statement, const syntax::Function& function) {
    std::size_t at = offset(statement.location);
    if (statement.guard) at = text_.rfind('@', at);
    result_.lines.push_back({&statement, &function});
    edits_.push_back({at, 0, fmt::format("\n.loc 1 {} 1\n", result_.lines.size())});
    if (probed_ != nullptr && probed_(statement)) probe(statement, function);
  }

  void probe(const syntax::Statement& statement, const syntax::Function& function) {
    result_.lines.push_back({&statement, &function, true});
    const std::size_t end = text_.find(';', offset(statement.location)) + 1;
    edits_.push_back(
        {end, 0,
         fmt::format("\n.loc 1 {} 1\nst.volatile.global.b32 [warpmat_probe], {};\n", result_.lines.size(), statement.operands[0].text)});
  }

  /// In front of the first variable or function.
  void declare_probe() {
    constexpr std::array<std::string_view, 9> beginnings{".visible", ".weak",   ".extern", ".common", ".entry",
                                                         ".func",    ".global", ".const",  ".shared"};
    for (const Token& token : tokenize(text_)) {
      if (std::ranges::find(beginnings, token.text) == beginnings.end()) continue;
      edits_.push_back({offset(token.location), 0, "\n.global .align 4 .b32 warpmat_probe;\n"});
      return;
    }
  }

  /// The directives .loc and .file end where the next token is on another line.
  void drop_lines() {
    const std::vector<Token> tokens = tokenize(text_);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].text != ".loc" && tokens[i].text != ".file") continue;
      const std::size_t first = i;
      while (i + 1 < tokens.size() && tokens[i + 1].location.line == tokens[first].location.line) ++i;
      const std::size_t begin = offset(tokens[first].location), end = offset(tokens[i].location) + tokens[i].text.size();
      edits_.push_back({begin, end - begin, ""});
    }
  }

  const syntax::Module& module_;
  bool (*probed_)(const syntax::Statement&);
  std::string_view text_;
  std::vector<std::size_t> begins_;
  std::vector<Edit> edits_;
  NumberedModule result_;
};

}  // namespace

NumberedModule number_statements(const syntax::Module& module, bool (*probed)(const syntax::Statement&)) {
  return Numbering(module, probed).run();
}

}  // namespace warpmat
