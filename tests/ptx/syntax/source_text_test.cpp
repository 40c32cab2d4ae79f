// The source lines of statements, with the calls that the compiler inlined: .loc ... inlined_at, as nvcc 13.0 -lineinfo writes it.

#include <warpmat/ptx/syntax/source_text.h>

#include "test.h"

namespace warpmat::syntax::source_text_test {

namespace {

/// The source of each statement of a module with these lines in an entry.
std::vector<std::string> sources_of(const std::string& body, const std::string& end = "") {
  const Module module = parse_module(".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n" + body + "}\n" + R"(
	.file	1 "/src/gemm.cu"
	.file	2 "/src/hopper.cuh"
)" + end);
  std::vector<std::string> texts;
  for (const Element& element : module.functions.front().body)
    if (const auto* const statement = std::get_if<Statement>(&element)) texts.push_back(source_text(module, *statement));
  return texts;
}

// "_Z5outerPKf" and "_Z5innerPKf".
constexpr const char* names = R"(	.section	.debug_str
	{
$L__info_string0:
.b8 95,90,53,111,117,116,101,114,80,75,102,0
$L__info_string1:
.b8 95,90,53,105,110,110,101,114,80,75,102,0

	}
)";

}  // namespace

TEST_CASE("a statement has its file and line, and none without .loc", "[syntax]") {
  CHECK(sources_of("bar.sync 0;\n.loc 1 12 5\nbar.sync 0;\n.loc 3 9 1\nret;\n") == std::vector<std::string>{"", "/src/gemm.cu:12", "?:9"});
}

TEST_CASE("a statement of inlined functions has the calls up to the kernel", "[syntax]") {
  const std::string body = R"(
	.loc	1 8 3
	.loc	1 3 3, function_name $L__info_string0, inlined_at 1 8 3
	bar.sync 0;
	.loc	2 145 73, function_name $L__info_string1, inlined_at 1 3 3
	bar.sync 0;
	.loc	1 20 3
	.loc	1 3 3, function_name $L__info_string0, inlined_at 1 20 3
	.loc	2 145 73, function_name $L__info_string1, inlined_at 1 3 3
	bar.sync 0;
	.loc	1 9 1
	ret;
)";
  CHECK(sources_of(body, names) ==
        std::vector<std::string>{"/src/gemm.cu:3 in outer, inlined at gemm.cu:8",
                                 "/src/hopper.cuh:145 in inner, inlined at /src/gemm.cu:3 in outer, inlined at /src/gemm.cu:8",
                                 "/src/hopper.cuh:145 in inner, inlined at /src/gemm.cu:3 in outer, inlined at /src/gemm.cu:20",
                                 "/src/gemm.cu:9"});
}

TEST_CASE("places that no .loc has, names that are missing, and circles are no harm", "[syntax]") {
  CHECK(sources_of(".loc 2 145 73, function_name $L__info_string9, inlined_at 1 45 7\nret;\n") ==
        std::vector<std::string>{"/src/hopper.cuh:145, inlined at /src/gemm.cu:45"});
  CHECK(sources_of(".loc 1 5 1, function_name $L__info_string0, inlined_at 1 5 1\nret;\n", names) ==
        std::vector<std::string>{"/src/gemm.cu:5 in outer, inlined at gemm.cu:5"});
  CHECK(sources_of(".loc 1 5 1, function_name\nret;\n") == std::vector<std::string>{"/src/gemm.cu:5"});
  std::string deep = ".loc 1 1 1\n";
  for (int i = 2; i < 40; ++i)
    deep += ".loc 1 " + std::to_string(i) + " 1, function_name $L__info_string0, inlined_at 1 " + std::to_string(i - 1) + " 1\n";
  const std::string text = sources_of(deep + "ret;\n", names).front();
  CHECK(text.starts_with("/src/gemm.cu:39 in outer, inlined at gemm.cu:38 in outer, "));
  CHECK(text.ends_with(", ... in outer, inlined at gemm.cu:1"));
  CHECK(text.size() < 400);
}

}  // namespace warpmat::syntax::source_text_test
