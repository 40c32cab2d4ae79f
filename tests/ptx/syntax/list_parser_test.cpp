#include <warpmat/ptx/syntax/module.h>

#include "test.h"

namespace warpmat::list_parser_test {
namespace {

/// What the elements of a list are, one after the other.
std::string kinds(const std::string& text) {
  struct Kind {
    std::string operator()(const syntax::Statement& s) const { return s.opcode; }
    std::string operator()(const syntax::Label& l) const { return std::string(l.name) + ":"; }
    std::string operator()(const syntax::Variable& v) const { return std::string(v.follows ? "," : "") + std::string(v.name); }
    std::string operator()(const syntax::Directive& d) const { return std::string(d.name); }
    std::string operator()(const syntax::Fault&) const { return "fault"; }
    std::string operator()(const syntax::ScopeBegin&) const { return "{"; }
    std::string operator()(const syntax::ScopeEnd&) const { return "}"; }
    std::string operator()(const syntax::TargetList&) const { return "targets"; }
    std::string operator()(const syntax::Prototype&) const { return "prototype"; }
  };
  syntax::List list = syntax::parse_list(text);
  std::string out;
  for (const syntax::Element& element : list.body()) out += (out.empty() ? "" : " ") + std::visit(Kind{}, element);
  return out;
}

TEST_CASE("a list is the body of one entry, its directives among its statements", "[ptx][syntax]") {
  CHECK(kinds(".version 9.0 .target sm_90a .address_size 64 .reg .b32 a, b; .shared .b32 v; L: @!p mov.u32 a, b; add.u32 a, a, b;") ==
        ".version .target a ,b v L: mov.u32 add.u32");
  CHECK(kinds("") == "");
  CHECK(kinds(";;") == "");
  syntax::List list = syntax::parse_list(".version 7.8 .target sm_86 @!p mov.u32 a, 1;");
  CHECK(list.module.version == PtxVersion{7, 8});
  CHECK(list.module.target == "sm_86");
  CHECK_FALSE(list.declares_registers);
  const auto& statement = std::get<syntax::Statement>(list.body().back());
  REQUIRE(statement.guard.has_value());
  CHECK(statement.guard->inverted);
  CHECK(statement.guard->predicate == "p");
  CHECK(statement.guard->location == Location{1, 29});
  CHECK(statement.location == Location{1, 32});
  CHECK(statement.end == Location{1, 44});
  CHECK(syntax::parse_list(".reg .b32 a").declares_registers);
}

TEST_CASE("a fault of a list stands in its place", "[ptx][syntax]") {
  CHECK(kinds("mov.u32 a, 1; bad = 3; mov.u32 b, 2;") == "mov.u32 fault mov.u32");
  CHECK(kinds("@p = 3; mov.u32 b, 2;") == "fault mov.u32");
  CHECK(kinds("mov.u32 a, 1\nadd.u32 b, 2, 3;") == "fault add.u32");
  CHECK(kinds("bad a,\nadd.u32 b, 1, 2;") == "fault");
  CHECK(kinds("mov.u32 a,\nadd.u32 b, 1, 2;") == "fault");
  CHECK(kinds(".version x\nadd.u32 b, 2, 3;") == "fault add.u32");
  CHECK(kinds(".version 6.0 ld.shared::cta.b32 a, [b]; mov.u32 a, 1;") == ".version fault mov.u32");
  CHECK(kinds("L: mov.u32 a, 1; L: mov.u32 a, 1;") == "L: mov.u32 fault");
  CHECK(kinds(".entry k { ret; }") == "fault fault");
}

}  // namespace
}  // namespace warpmat::list_parser_test
