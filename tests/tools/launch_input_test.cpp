// What people give to `warpmat launch`, check and banks besides PTX: slips in launch.json, CUDA C++, machine code, C++ names.

#include "command.h"
#include "test.h"
#include "tools/report/json_file.h"
#include "tools/report/launch_description.h"
#include "tools/report/nearest.h"
#include "tools/report/npy.h"

namespace warpmat::launch_input_test {
namespace {

/// fill(out, value, factor): out[tid] = value, as nvcc mangles its names; and another entry.
constexpr const char* fill_ptx = R"(.version 9.0
.target sm_80
.address_size 64
.visible .entry _Z4fillPfjf(.param .u64 _Z4fillPfjf_param_0, .param .u32 _Z4fillPfjf_param_1, .param .f32 _Z4fillPfjf_param_2)
.maxntid 64, 1, 1
{
  .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .b32 %p<2>;
  .shared .align 4 .b8 _ZZ4fillPfjfE4tile[256];
  ld.param.u64 %d0, [_Z4fillPfjf_param_0];
  ld.param.u32 %r0, [_Z4fillPfjf_param_1];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d1, %r1, 4;
  add.s64 %d0, %d0, %d1;
  st.global.u32 [%d0], %r0;
  ret;
}
.visible .entry _Z5otherv() { ret; }
)";

struct Folder {
  TemporaryDirectory directory;
  Folder() { write_text(directory.path("k.ptx"), fill_ptx); }

  Outcome with_json(const std::string& json) const {
    write_text(directory.path("launch.json"), json);
    return run_command({"launch", directory.path("launch.json"), "--quiet"});
  }
  Outcome launch(std::vector<std::string> more) const {
    more.insert(more.begin(), {"launch", directory.path("k.ptx"), "--quiet"});
    return run_command(more);
  }
};

TEST_CASE("sizes, shapes and dtypes are spelled alike in options and in launch.json", "[tools][launch]") {
  const Folder folder;
  const std::string start = R"({"ptx": "k.ptx", "kernel": "fill", "buffers": [{"name": "o", "bytes": 128, "out": )";
  const std::string end = R"(}], "params": [{"buffer": "o"}, {"u32": 1065353216}, {"f32": 1}], )";
  const std::string file = folder.directory.path("o.npy");
  for (const std::string out : {R"("o.npy:f32:4x8")", R"("o.npy:float32:4,8")", R"({"file": "o.npy", "type": "f32", "shape": [4, 8]})",
                                R"({"file": "o.npy", "type": "float32", "shape": "4x8"})"})
    for (const std::string block : {"32", "[32]", "[32, 1]", "[32, 1, 1]", "\"32\"", "\"32,1\"", "\"32x1x1\""}) {
      std::filesystem::remove(file);
      const Outcome outcome = folder.with_json(start + out + end + "\"block\": " + block + "}");
      CAPTURE(out, block, outcome.err);
      REQUIRE(outcome.status == 0);
      const NpyArray array = read_npy(file);
      CHECK(array.shape == std::vector<std::size_t>{4, 8});
      CHECK(array.dtype == DType::float32);
      CHECK(array.as<float>()[31] == 1.0f);
    }
  for (const std::string block : {"32", "32,1", "32x1", "32x1x1", "[32, 1]"}) {
    std::filesystem::remove(file);
    const Outcome outcome = folder.launch({"--kernel", "fill", "--buffer", "o=zeros:128", "--param", "o", "--param", "u32:5", "--param",
                                           "f32:1", "--out", "o=" + file + ":u32:4,8", "--block", block});
    CAPTURE(block, outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(read_npy(file).dtype == DType::uint32);
  }
}

TEST_CASE("CUDA C++ is compiled by nvcc, or answered by what to type", "[tools][launch]") {
  const TemporaryDirectory directory;
  // In place of nvcc a script, which writes down its arguments and copies k.ptx.
  const std::string nvcc = directory.path("my nvcc"), source = directory.path("a kernel.cu"), arguments = directory.path("arguments");
  write_text(directory.path("k.ptx"), fill_ptx);
  write_text(nvcc, "#!/bin/sh\nprintf '%s\\n' \"$@\" > '" + arguments + "'\necho from nvcc\ncp '" + directory.path("k.ptx") + "' \"$5\"\n");
  std::filesystem::permissions(nvcc, std::filesystem::perms::owner_all);
  write_text(source, "// .version 9.0\n#include <cuda_fp16.h>\n__global__ void fill(float*, unsigned, float);\n");
  const auto run = [&](std::vector<std::string> command) { return run_command(command, {"CUDACXX=" + nvcc}); };
  const Outcome launched = run({"launch", source, "--kernel", "fill", "--target", "sm_89", "--buffer", "o=zeros:4", "--param", "o",
                                "--param", "u32:1", "--param", "f32:1", "--quiet"});
  CAPTURE(launched.err);
  REQUIRE(launched.status == 0);
  CHECK(launched.out == "");
  CHECK(contains(launched.err, "warpmat: '" + nvcc + "' -ptx -lineinfo -arch=sm_89 -o "));
  CHECK(contains(launched.err, "from nvcc"));
  CHECK(read_text(arguments).starts_with("-ptx\n-lineinfo\n-arch=sm_89\n-o\n"));
  CHECK(read_text(arguments).ends_with("\n" + source + "\n"));
  const Outcome checked = run({"check", source, "--quiet"});
  CHECK(checked.status == 0);
  CHECK(contains(checked.out, "PTX of " + source + ": 2 entries, no errors"));
  CHECK(contains(checked.err, "-arch=sm_90a"));
  CHECK(contains(run({"banks", source, "--kernel", "other"}).err, "-ptx -lineinfo"));
  CHECK(contains(run({"run", source}).err, "holds CUDA C++, and this command takes a list of statements: 'warpmat launch "));
  write_text(nvcc, "#!/bin/sh\necho 'error: no' >&2\nexit 2\n");
  const Outcome failed = run({"launch", source});
  CHECK(failed.status == 1);
  CHECK(contains(failed.err, "a kernel.cu: nvcc ended with status 2, its messages are above"));
  const Outcome without = run_command({"launch", source}, {"CUDACXX=" + directory.path("none")});
  CHECK(without.status == 1);
  CHECK(contains(without.err, "a kernel.cu is CUDA C++: type 'nvcc -ptx -lineinfo -arch=sm_90a "));
}

TEST_CASE("the nearest word is one that a slip leads to", "[tools]") {
  CHECK(edit_distance("swizzel", "swizzle") == 1);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  constexpr std::string_view words[] = {"launch", "layout", "list", "run"};
  CHECK(nearest("luanch", words) == "launch");
  CHECK(nearest("lauch", words) == "launch");
  CHECK(nearest("lay", words) == "layout");
  CHECK(nearest("zebra", words).empty());
  CHECK(nearest("x", words).empty());
}

}  // namespace
TEST_CASE("tolerances are units, a part of the number, and an absolute difference", "[tools]") {
  CHECK(parse_tolerance("2ulp")->units == 2);
  CHECK(parse_tolerance("1e-3")->relative == 1e-3);
  CHECK(parse_tolerance("1e-3+1e-6")->absolute == 1e-6);
  CHECK(parse_tolerance("1e+2+1e+3")->relative == 1e2);
  CHECK(parse_tolerance("1e+2")->relative == 100);
  for (const char* const wrong : {"", "ulp", "-1", "1e-3x", "nan", "+", "1+"}) CHECK_FALSE(parse_tolerance(wrong));
}

TEST_CASE("the least and the greatest whole numbers are parameters of their types alone", "[tools]") {
  const auto bytes = [](const char* type, const char* value) { return number_bytes(type, value); };
  CHECK(bytes("s64", "-9223372036854775808") == std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 0, 0x80});
  CHECK(bytes("s32", "-2147483648") == std::vector<std::uint8_t>{0, 0, 0, 0x80});
  CHECK(bytes("u64", "18446744073709551615") == std::vector<std::uint8_t>(8, 0xff));
  CHECK(bytes("s8", "-0") == std::vector<std::uint8_t>{0});
  for (const auto& [type, value] : {std::pair("s32", "-9223372036854775808"),
                                    {"s64", "-9223372036854775809"},
                                    {"s64", "9223372036854775808"},
                                    {"s32", "-2147483649"},
                                    {"u64", "-1"},
                                    {"u64", "18446744073709551616"},
                                    {"s64", "-18446744073709551615"}})
    CHECK_THROWS_WITH(bytes(type, value), ContainsSubstring("is no"));
}

}  // namespace warpmat::launch_input_test
