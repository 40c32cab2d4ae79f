#include <warpmat/program.h>

#include "golden.h"
#include "lists/diagnostics.h"

namespace warpmat::parser_errors_test {
namespace {

/// Line `number`, counted from 1, of `text`, without its line break.
std::string line_of(const std::string& text, int number) {
  std::size_t begin = 0;
  for (int i = 1; i < number; ++i) begin = text.find('\n', begin) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::vector<int> error_lines(std::string_view text) {
  std::vector<int> lines;
  for (const Diagnostic& d : diagnostics(text)) lines.push_back(d.location.line);
  return lines;
}

using Lines = std::vector<int>;

TEST_CASE("parser: every error, with its place and what would be right") {
  const auto said = [](const std::string& input) {
    const std::size_t bar = input.find('|');
    const std::string source = input.substr(bar + 1);
    const std::vector<Diagnostic> found = diagnostics(source, input.substr(0, bar));
    REQUIRE(found.size() == 1);
    const auto [line, column] = found[0].location;
    std::string caret = line_of(source, line).substr(0, static_cast<std::size_t>(column - 1));
    std::ranges::replace_if(
        caret, [](char byte) { return byte != '\t'; }, ' ');
    caret.resize(static_cast<std::size_t>(column - 1), ' ');
    CHECK(found[0].excerpt == line_of(source, line) + '\n' + caret + '^');
    return fmt::format("{}:{}: {}", line, column, found[0].message);
  };
  CHECK(check_golden("parser_errors.txt", said) > 100);
}

TEST_CASE("parser: a diagnostic prints as compilers do, its caret under the place") {
  const std::vector<Diagnostic> found = diagnostics("// one\r\n\tmov.u32\ta, 09;\r\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].format("file.ptx") == "file.ptx:2:13: error: '09' is not a number that fits .u32\n\tmov.u32\ta, 09;\n\t       \t   ^");
  try {
    static_cast<void>(parse("bad;\nworse;", "sm_80"));
    FAIL("no error");
  } catch (const SyntaxError& error) {
    const std::string what = error.what();
    CHECK(what.starts_with("ptx:1:1: error: 'bad' is not an instruction"));
    CHECK(what.find("\nptx:2:1: error: 'worse' is not an instruction") != std::string::npos);
  }
}

TEST_CASE("parser: an excerpt shows control bytes and what is no UTF-8 escaped, the caret still under the place") {
  struct Case {
    std::string before, shown;
  };
  const Case cases[] = {
      {"/*\x1b[31m*/ ", "/*\\x1b[31m*/ "},                                                           // would colour a terminal
      {std::string("/*\0*/", 5), "/*\\x00*/"},                                                       // ends a C string
      {"/*\r\b\x7f*/", "/*\\x0d\\x08\\x7f*/"},                                                       // would overwrite what stands before
      {"/*\xff\xfe*/", "/*\\xff\\xfe*/"},                                                            // no UTF-8
      {"/*\xc3*/", "/*\\xc3*/"},                                                                     // a character cut short
      {"/*\xc0\x80*/", "/*\\xc0\\x80*/"},                                                            // a code that is longer than need be
      {"/*\xed\xa0\x80*/", "/*\\xed\\xa0\\x80*/"},                                                   // a surrogate
      {"/*\xf4\x90\x80\x80*/", "/*\\xf4\\x90\\x80\\x80*/"},                                          // beyond the last code
      {"/*\xe2\x80\xae*/", "/*\\xe2\\x80\\xae*/"},                                                   // would reverse the line
      {"/*\xc2\x9b*/", "/*\\xc2\\x9b*/"},                                                            // a control sequence of one character
      {"/*\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80*/\t", "/*\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80*/\t"},  // letters stay
  };
  for (const Case& c : cases) {
    CAPTURE(c.shown);
    const std::vector<Diagnostic> found = diagnostics(c.before + "bad a;");
    REQUIRE(found.size() == 1);
    std::string caret;  // a column a character
    for (const char byte : c.shown)
      if ((static_cast<unsigned char>(byte) & 0xc0) != 0x80) caret += byte == '\t' ? '\t' : ' ';
    CHECK(found[0].excerpt == c.shown + "bad a;\n" + caret + "^");
    CHECK(found[0].location.column == static_cast<int>(c.before.size()) + 1);
  }
}

TEST_CASE("parser: of a very long line the excerpt is the part around the place") {
  for (const std::size_t before : {0u, 50u, 500u, 100000u}) {
    const std::string source = std::string(before, ' ') + "bad a;" + std::string(1000, ' ');
    const std::vector<Diagnostic> found = diagnostics(source);
    INFO(before);
    REQUIRE(found.size() == 1);
    CHECK(found[0].location.column == static_cast<int>(before) + 1);
    const std::string& excerpt = found[0].excerpt;
    const std::size_t line_end = excerpt.find('\n');
    CHECK(line_end == 200);
    CHECK(excerpt.substr(excerpt.find('^') - line_end - 1, 3) == "bad");
  }
}

TEST_CASE("parser: every wrong statement is reported") {
  static_assert(std::is_const_v<decltype(SyntaxError::errors)>);  // never empty
  CHECK(error_lines("mov.u32 a, 1;\nbad a;\nmov.u32 b, 09;\nmov.u32 c, d;\nadd.u32 a;\n}\nmov.u32 a, 1") == Lines{2, 3, 5, 6, 7});
  CHECK(error_lines("bad a; bad b; mov.u32 a, 1; bad c;") == Lines{1, 1, 1});
  CHECK(error_lines(".reg .b8 x;\n.shared .b32 v[0];\n.version 1\nbad.x;") == Lines{1, 2, 3, 4});
}

TEST_CASE("parser: a statement without its semicolon does not swallow the next line") {
  const std::string endings[] = {"mov.u32 a, 1",   "mov.u32 a",   "ld.shared.b32 a, [b", "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {a, b}",
                                 "bad a, b",       ".reg .b32 a", ".shared .b32 v[4]",   "mov.u32 a, #",
                                 "@p mov.u32 a, 1"};
  for (const std::string& ending : endings)
    for (const char* next : {"add.u32 a, 09, 1;", ".reg .b8 c;", ".shared .b32 w[0];", ".version 1"}) {
      INFO(ending << " / " << next);
      CHECK(error_lines(ending + "\n" + next) == Lines{1, 2});
    }
}

TEST_CASE("parser: of a statement that is no PTX, the place is told from which on it is none") {
  const std::string mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3},\n {a0, a1, a2, a3},\n {b0 b1},\n c;";
  CHECK(error_lines(mma) == Lines{3});
  CHECK(error_lines("@p " + mma) == Lines{3});
  CHECK(error_lines(".reg .b32 a;\n@q\nadd.u32 a,\n a a;") == Lines{4});
  CHECK(error_lines("wgmma.fence.sync.aligned\n a b;\nmov.u32 a, 09;") == Lines{2, 3});
  try {
    (void)parse("add.u32 a, b,\n c d;\nmov.u32 a, 1;");
    FAIL("no error");
  } catch (const SyntaxError& error) {
    REQUIRE(error.errors.size() == 2);
    CHECK(error.errors[0].location == Location{2, 3});
    CHECK(error.errors[0].message == "expected ';' after the statement, found 'd'");
    CHECK(error.errors[1].location == Location{3, 1});  // the target is missing
  }
}

}  // namespace
}  // namespace warpmat::parser_errors_test
