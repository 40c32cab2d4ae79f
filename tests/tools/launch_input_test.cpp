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

TEST_CASE("launch.json: every unknown key is an error with its line, and the nearest key", "[tools][launch]") {
  const Folder folder;
  const std::string map = R"({"buffer": "a", "type": "f16", "dims": [8, 8], "strides": [16], "box": [8, 8],)";
  const std::vector<std::pair<std::string, std::string>> all{
      {"{\"ptx\": \"k.ptx\",\n \"buffer\": []}", "launch.json:2: buffer: no such key: the nearest is \"buffers\""},
      {"{\"ptx\": \"k.ptx\", \"gird\": 1}", "launch.json:1: gird: no such key: the nearest is \"grid\""},
      {"{\"ptx\": \"k.ptx\", \"zzz\": 1}",
       "zzz: no such key: there are ptx, kernel, assembler, assembler_options, decisions, grid, block,"},
      {"{\"ptx\": \"k.ptx\", \"buffers\": [\n{\"name\": \"a\", \"bytes\": 4},\n{\"name\": \"b\", \"bytes\": 4,\n\"dtpye\": \"f32\"}]}",
       "launch.json:4: buffers[1].dtpye: no such key: the nearest is \"dtype\""},
      {"{\"ptx\": \"k.ptx\", \"buffers\": [{\"name\": \"a\", \"bytes\": 4}],\n\"params\": [{\"tensormap\": " + map +
           "\n\"swizzel\": \"128B\"}}]}",
       "launch.json:3: params[0].tensormap.swizzel: no such key: the nearest is \"swizzle\""},
      {"{\"ptx\": \"k.ptx\", \"params\": [{\"fp32\": 1}]}", "params[0].fp32: no such key: the nearest is \"f32\""},
      {"{\"ptx\": \"k.ptx\", \"params\": [{\"bytes\": \"00\", \"pointer\": []}]}",
       "params[0].pointer: no such key: the nearest is \"pointers\""},
      {"{\"ptx\": \"k.ptx\", \"params\": [{\"s32\": 1,\n\"s32\": 2}]}",
       "launch.json:2: params[0].s32 is there twice: the first is in line 1"},
      {"{\"ptx\": \"k.ptx\",\n \"grid\": [1,]}", "launch.json:2:13: no JSON: syntax error"},
      {"{\"ptx\": \"k.ptx\",\n", "launch.json:2:1: no JSON: syntax error"},
      {"[1]", "launch.json is no JSON object"},
      {std::string("{\"ptx\": \"k.ptx\",\n \"grid\": 1}\0}]\"", 31), "launch.json:2: no JSON: a NUL byte"},
      {"{\"ptx\": \"k.ptx\", \"block\": [1, 2, 3, 4]}", "launch.json:1: block: a number from 1 on, or up to three of them"},
      {"{\"ptx\": \"k.ptx\", \"grid\": 0}", "launch.json:1: grid: a number from 1 on"},
      {"{\"ptx\": \"k.ptx\", \"buffers\": {}}", "launch.json:1: buffers: a list belongs here"},
      {"{\"ptx\": \"k.ptx\", \"buffers\": [3]}",
       "buffers[0]: an object with name, file, bytes, random, fill, dtype, shape, out, expect, address, variable, values belongs here"},
      {"{\"ptx\": \"k.ptx\", \"buffers\": [{\"name\": \"a\", \"random\": \"4\", \"fill\": 2}]}", "\"fill\" is the value of \"bytes\""},
      {"{\"ptx\": \"k.ptx\", \"params\": [{\"u32\": 1.5}]}", "launch.json:1: params[0]: parameter 'u32:1.5': '1.5' is no u32"},
      {"{\"ptx\": \"k.ptx\", \"params\": [{\"bytes\": \"00\", \"tensormaps\": [3]}]}", "params[0].tensormaps[0]: an object with at, map"},
  };
  for (const auto& [json, message] : all) {  // the description, and what is said of it
    const Outcome outcome = folder.with_json(json);
    CAPTURE(json, outcome.err);
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.err, message));
  }
}

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

TEST_CASE("launch: names as in C++, arguments by kind, the block that was not given", "[tools][launch]") {
  const Folder folder;
  const std::vector<std::string> buffer{"--kernel", "fill", "--buffer", "o=zeros:128", "--param", "o"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), buffer.begin(), buffer.end());
    return folder.launch(more).err;
  };
  CHECK(with({"--param", "u32:1", "--param", "f32:1", "--block", "32"}).empty());
  CHECK(with({"--param", "b32:0x3f800000", "--param", "b32:1", "--block", "32"}).empty());
  CHECK(contains(
      with({"--param", "f32:128", "--param", "f32:1"}),
      "parameter 1 of 'fill' (fill_param_1) is .u32, and 'f32:128' is a floating-point number: write u32:WHOLE, or its bits as b32:BITS"));
  CHECK(contains(with({"--param", "u32:1", "--param", "s32:1"}),
                 "parameter 2 of 'fill' (fill_param_2) is .f32, and 's32:1' is a whole number"));
  CHECK(contains(with({}),
                 "'fill' has 3 parameters: fill_param_0 (u64), fill_param_1 (u32), fill_param_2 (f32); 1 argument is given; "
                 "'warpmat launch "));
  CHECK(contains(with({"--param", "u32:1", "--param", "f32:1", "--block", "33"}), "(kernel fill, block (0,0,0), warp 1, lane 0)"));
  CHECK(contains(folder.launch({"--kernel", "file"}).err,
                 "k.ptx has no entry 'file'; it has: 'fill(float*, unsigned int, float)' (_Z4fillPfjf), 'other()' (_Z5otherv)"));
  CHECK(contains(folder.launch({}).err, "2 entries: choose one with --kernel: 'fill(float*, unsigned int, float)'"));
  std::string shuffled = fill_ptx;
  shuffled.replace(shuffled.find("  mov.u32 %r1"), 0, "  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [_ZZ4fillPfjfE4tile];\n");
  write_text(folder.directory.path("k.ptx"), shuffled);
  CHECK(contains(with({"--param", "u32:1", "--param", "f32:1"}),
                 "--block was not given (\"block\" in launch.json), so each block has one thread"));
  CHECK_FALSE(contains(with({"--param", "u32:1", "--param", "f32:1", "--block", "1"}), "--block was not given"));
}

TEST_CASE("launch --init writes a description that runs as it is", "[tools][launch]") {
  const Folder folder;
  const std::string json = folder.directory.path("new.json");
  const Outcome outcome = folder.launch({"--kernel", "fill", "--init", json});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.out, "new.json: the launch of 'fill'; fill in sizes and numbers, then: warpmat launch "));
  const std::string text = read_text(json);
  CHECK(contains(text, "\"ptx\": \"k.ptx\""));
  CHECK(contains(text, "\"kernel\": \"fill\""));
  CHECK(contains(text, "\"u32\": 0"));
  CHECK(contains(text, "\"f32\": 0"));
  CHECK(run_command({"launch", json, "--quiet"}).err == "");
  CHECK(std::filesystem::exists(folder.directory.path("p0.npy")));
  CHECK(contains(folder.launch({"--kernel", "fill", "--init", json}).err, "new.json: the file is there already"));
}

TEST_CASE("files that hold no PTX are told by their contents", "[tools][launch]") {
  const TemporaryDirectory directory;
  const std::string elf = std::string(
      "\x7f"
      "ELF\2\1\1\0\0\0\0\0\0\0\0\0",
      16);
  const auto of = [&](char type, char machine, const std::string& rest) {
    return elf + std::string{type, 0, machine, 0} + std::string(40, '\0') + rest;
  };
  const char x86 = 62, cuda = static_cast<char>(190);
  const std::vector<std::pair<std::string, std::string>> all{
      {of(2, cuda, ""), "is a cubin, machine code for a GPU, and holds no PTX"},
      {of(1, x86, ".nv_fatbin"), "is an object file: 'cuobjdump -xptx all "},
      {of(3, x86, "/lib64/ld-linux.so .nv_fatbin"), "is an executable: 'cuobjdump -xptx all "},
      {of(3, x86, ".nv_fatbin"), "is a shared library: 'cuobjdump -xptx all "},
      {of(2, x86, ""), "is an executable without CUDA code"},
      {std::string("\x50\xed\x55\xba\1\0\0\0", 8), "is a fatbin: 'cuobjdump -xptx all "},
      {"!<arch>\n", "is a static library"},
      {"\nFatbin ptx code:\n================\narch = sm_80\n\n.version 9.0\n.entry k() { ret; }\n", "is what cuobjdump -ptx prints"},
      {"\t.headerflags @\"EF_CUDA_SM80\"\n", "is machine code as text"},
      {"@triton.jit\ndef kernel(x):\n  pass\n", "is Python"},
      {"\x93NUMPY\1", "is a NumPy array"},
      {std::string("a\0b", 3), "is a binary file, and this command takes PTX, which is text"},
      {"{\n \"ptx\": \"k.ptx\"}", "is JSON: a launch description has a name that ends in .json"},
  };
  const std::string path = directory.path("file.bin");
  for (const auto& [contents, message] : all) {
    write_text(path, contents);
    for (const char* command : {"launch", "check", "banks", "run"}) {
      const Outcome outcome = run_command({command, path});
      CAPTURE(command, message, outcome.err);
      CHECK(outcome.status == 1);
      CHECK(contains(outcome.err, "file.bin " + message));
    }
  }
  for (const char* command : {"launch", "check", "banks", "run"}) {
    CHECK(contains(run_command({command, directory.path("")}).err, ": it is a directory"));
    CHECK(contains(run_command({command, directory.path("none.ptx")}).err,
                   "cannot read " + directory.path("none.ptx") + ": there is no such file"));
  }
  CHECK(contains(run_command({"launch", directory.path("none.json")}).err,
                 "cannot read " + directory.path("none.json") + ": there is no such file"));
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
