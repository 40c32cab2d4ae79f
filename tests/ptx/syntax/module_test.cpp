
#include <warpmat/ptx/syntax/module.h>

#include "test.h"

namespace warpmat::syntax::module_test {

namespace {

template <typename T>
std::vector<const T*> all(const Function& function) {
  std::vector<const T*> found;
  for (const Element& element : function.body)
    if (const T* one = std::get_if<T>(&element)) found.push_back(one);
  return found;
}

}  // namespace

TEST_CASE("a module as nvcc writes it", "[syntax]") {
  const Module module = parse_module(R"(
.version 9.0
.target sm_90a
.address_size 64
.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0,
	.param .b64 vprintf_param_1
)
;
.global .align 1 .b8 $str[4] = {37, 100, 10};
.const .align 8 .u64 table[2] = {$str, generic($str)+2};
.extern .shared .align 16 .b8 dynamic[];
.visible .entry kernel(
	.param .u64 .ptr .global .align 16 kernel_param_0,
	.param .align 8 .b8 kernel_param_1[24]
)
.maxntid 128, 1, 1
.minnctapersm 2
{
	.local .align 8 .b8 	__local_depot0[24];
	.reg .pred 	%p<4>;
	.reg .b32 	%r<65>;
	.loc	1 12 5, function_name $L__info_string0, inlined_at 1 20 3
	ld.param.u64 	%rd1, [kernel_param_1+8];
	@!%p1 bra 	$L__BB0_4;
	{ // callseq 0, 0
	.reg .b32 temp_param_reg;
	.param .b64 param0;
	st.param.b64 	[param0+0], %rd1;
	call.uni (retval0),
	vprintf,
	(
	param0,
	param1
	);
	}
$L__BB0_4:
	.pragma "nounroll";
	shfl.sync.idx.b32 	%r1|%p2, %r2, 0, 31, -1;
	mov.b32 	{%rs1, %rs2}, %r3;
	ld.global.v2.u32 {%r5, %r6}, [%rd2+-44];
	ts: .branchtargets $L__BB0_4, $L__BB0_4;
	brx.idx %r1, ts;
	mov.u32 %r7, %tid.x;
	ret;
}
.file	1 "a.cu"
.section	.debug_str
{
$L__info_string0:
.b8 95
}
)");
  CHECK(module.version == PtxVersion{9, 0});
  CHECK(module.target == "sm_90a");
  REQUIRE(module.variables.size() == 3);
  CHECK(module.variables[0].extents == std::vector<std::int64_t>{4});
  CHECK(module.variables[0].values.size() == 3);
  CHECK(module.variables[1].values[1].generic);
  CHECK(module.variables[1].values[1].offset == 2);
  CHECK(module.variables[2].external);
  CHECK(module.variables[2].extents == std::vector<std::int64_t>{-1});
  CHECK(module.files.at(1) == "a.cu");

  REQUIRE(module.functions.size() == 2);
  CHECK_FALSE(module.functions[0].defined);
  CHECK(module.functions[0].returns.size() == 1);
  const Function& kernel = module.functions[1];
  CHECK(kernel.entry);
  REQUIRE(kernel.parameters.size() == 2);
  CHECK(kernel.parameters[0].pointer);
  CHECK(kernel.parameters[0].pointer_space == "global");
  CHECK(kernel.parameters[0].pointer_alignment == 16);
  CHECK(kernel.parameters[0].alignment == 0);
  CHECK(kernel.find_directive(".maxntid")->numbers == std::vector<std::int64_t>{128, 1, 1});

  const auto statements = all<Statement>(kernel);
  REQUIRE(statements.size() == 10);
  CHECK(statements[0]->operands[1].offset == 8);
  CHECK(module.source_lines.at(static_cast<std::size_t>(statements[0]->source_line)).line == 12);
  CHECK(statements[1]->guard->predicate == "%p1");
  CHECK(statements[1]->guard->inverted);
  CHECK(statements[3]->opcode == "call.uni");
  CHECK(statements[3]->operands[2].items.size() == 2);
  CHECK(statements[4]->operands[0].kind == Operand::Kind::pair);
  CHECK(statements[4]->operands.back().negative);
  CHECK(statements[5]->operands[0].kind == Operand::Kind::vector);
  CHECK(statements[6]->operands[1].offset == -44);
  CHECK(statements[8]->operands[1].text == "%tid.x");
  CHECK(all<TargetList>(kernel).front()->targets.size() == 2);
  CHECK(all<ScopeBegin>(kernel).size() == 1);
  CHECK(all<ScopeEnd>(kernel).size() == 1);
}

TEST_CASE("every wrong place is reported, with its line", "[syntax]") {
  const std::string text = ".version 9.0\n.entry k() {\n  mov.u32 %r1;;\n  add.s32 %r1, , 2;\n  .bogus 3;\n  ret;\n}\n";
  try {
    parse_module(text);
    FAIL("no error");
  } catch (const SyntaxError& error) {
    REQUIRE(error.errors.size() == 2);
    CHECK(error.errors[0].location.line == 4);
    CHECK(error.errors[1].location.line == 5);
    CHECK(error.errors[0].message.find("expected") != std::string::npos);
  }
}

TEST_CASE("directives of a function take the numbers that ptxas takes", "[syntax]") {
  const auto message_of = [](const std::string& directive) -> std::string {
    try {
      parse_module(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n" + directive + "\n{ ret; }\n");
    } catch (const SyntaxError& error) {
      return error.errors[0].message;
    }
    return "nothing";
  };
  for (const char* directive : {".maxntid 1025", ".maxntid 4294967295, 1, 4294967295", ".reqntid 1, 2", ".maxnreg 300", ".minnctapersm 1",
                                ".reqnctapercluster 0", ".maxclusterrank 0", ".explicitcluster"}) {
    CAPTURE(directive);
    CHECK(message_of(directive) == "nothing");
  }
  for (const std::string name : {".maxntid", ".reqntid", ".maxnreg", ".minnctapersm"}) {
    CHECK(message_of(name + " 0") == name + " takes numbers from 1 to 2^32 - 1");
    CHECK(message_of(name + " 4294967296") == name + " takes numbers from 1 to 2^32 - 1");
  }
  CHECK(message_of(".maxntid -1") == ".maxntid takes numbers from 1 to 2^32 - 1");
  CHECK(message_of(".maxntid 32, -1") == ".maxntid takes numbers from 1 to 2^32 - 1");
  CHECK(message_of(".maxclusterrank -1") == ".maxclusterrank takes numbers from 0 to 2^32 - 1");
  CHECK(message_of(".maxntid 32, 0") == ".maxntid takes numbers from 1 to 2^32 - 1");
  CHECK(message_of(".maxntid 32, 1, 1, 1") == ".maxntid takes one to three numbers, not 4");
  CHECK(message_of(".reqntid") == ".reqntid takes one to three numbers, not 0");
  CHECK(message_of(".maxnreg 32, 1") == ".maxnreg takes one number, not 2");
  CHECK(message_of(".maxclusterrank") == ".maxclusterrank takes one number, not 0");
}

TEST_CASE("a text that ends too early is an error, not a crash", "[syntax]") {
  const std::string text =
      ".version 9.0 .target sm_80 .visible .entry k(.param .u64 p) { .reg .b32 %r<3>; @%p ld.v2.u32 {%r1, %r2}, [p+4]; L: ret; }";
  for (std::size_t length = 0; length < text.size(); ++length) {
    try {
      parse_module(text.substr(0, length));
    } catch (const SyntaxError&) {
    }
  }
  CHECK(parse_module(text).functions.size() == 1);
}

}  // namespace warpmat::syntax::module_test
