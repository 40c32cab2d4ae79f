#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/assembler.h>
#include <warpmat/launch.h>
#include <warpmat/provenance.h>

#include "gpu/runners/kernel_runner.h"
#include "tools/report/expected_contents.h"
#include "tools/report/npy.h"

namespace warpmat {

// The description of a launch, from a file launch.json or the options of `warpmat launch`: the kernel, the buffers with their contents, and
// the parameters. docs/use/launch.md describes the file.

/// A buffer in global memory: its initial contents, and its output file.
struct LaunchBuffer {
  std::string name;
  std::string source;         ///< FILE.npy, zeros:BYTES, fill:BYTES:VALUE, random:BYTES[:SEED], random:FORMAT:COUNT[:SEED]
  std::filesystem::path out;  ///< empty: it is not written
  std::optional<DType> out_type{};
  std::vector<std::size_t> out_shape{};         ///< empty: one dimension
  std::optional<ElementType> type{};            ///< of its elements, where that is said: what is expected and written has it, too
  std::vector<std::size_t> shape{};             ///< the same of its shape
  std::optional<ExpectedContents> expected{};   ///< after the launch
  std::uint64_t address = 0;                    ///< where it lies, because memory has its address; 0: anywhere
  std::optional<std::vector<double>> values{};  ///< numbers of `type` in place of a source
  bool variable = false;                        ///< a .global or .const variable of the module, at `address`; `name` is that in PTX
};

struct LaunchDescription {
  std::filesystem::path ptx;
  std::string kernel;  ///< empty: the only entry
  LaunchConfig config;
  std::optional<Dim3> block;  ///< what was given; else config.block is one thread, or what the entry is compiled for
  /// "ptxas": which sums are fused is read from machine code; "rule": by the rule; empty: by `decisions`, where there are any.
  std::string assembler;
  std::string assembler_options{};                ///< KernelOptions::assembler_options
  std::optional<AssemblerDecisions> decisions{};  ///< that a saved launch had
  std::vector<LaunchBuffer> buffers;
  std::vector<KernelParameter> parameters;  ///< with numbers of `buffers`
  std::vector<MatrixProduct> products{};    ///< "gemm": what the kernel computes
  std::uint64_t most_bytes = 0;             ///< of all buffers together; 0: no limit
};

/// Reads a launch.json; paths in it are relative to the file. Throws std::runtime_error naming the file, the place in it and what would be
/// right.
LaunchDescription read_launch(const std::filesystem::path& path);

/// The same of the text of a launch.json, which messages call `name`. It needs no "ptx".
LaunchDescription parse_launch(const std::string& name, const std::string& text);

/// One --param: NAME[+OFFSET], TYPE:VALUE or bytes:HEX. `buffers` are those that exist. Throws std::runtime_error.
KernelParameter parse_parameter(const std::string& text, const std::vector<LaunchBuffer>& buffers);

/// One --buffer NAME=SOURCE. Throws std::runtime_error.
LaunchBuffer parse_buffer(const std::string& text);

/// One --out NAME=FILE.npy[:TYPE[:SHAPE]], for one of `buffers`. Throws std::runtime_error.
void parse_output(const std::string& text, std::vector<LaunchBuffer>& buffers);

/// One --expect NAME=FILE[:TYPE][:SHAPE][:TOLERANCE], for one of `buffers`. Throws std::runtime_error.
void parse_expectation(const std::string& text, std::vector<LaunchBuffer>& buffers);

/// "16,8", "16x8" or "[16, 8]": whole numbers. Nothing where the text is another.
std::optional<std::vector<std::uint64_t>> parse_sizes(std::string_view text);

/// Up to three sizes, each at least 1, or with `least` 0 the indices of a block. Those that are not given are `least`. Nothing where they
/// are others.
std::optional<Dim3> dim3_of(const std::vector<std::uint64_t>& sizes, std::uint32_t least = 1);

/// X, X,Y or X,Y,Z, or the same with x. Throws std::runtime_error.
Dim3 parse_dim3(const std::string& text, std::string_view what);

/// FILE.npy[:TYPE[:SHAPE]]: where `buffer` goes. Throws std::runtime_error.
void set_output(const std::string& text, LaunchBuffer& buffer);

/// The dtype that an output has: "float32", or as PTX calls it "f32". Throws std::runtime_error.
DType output_type(std::string_view text);

/// Whether numbers may have this type: s32, u64, f16, f32, ...
bool is_parameter_type(std::string_view type);

/// Sets the kernel's name, 32 * num_warps threads and dynamic shared memory from Triton's .json. Existing values of `description` are kept.
void fill_from_triton(const std::filesystem::path& json, LaunchDescription& description);

/// The bytes of number `value` of a PTX type: s32, u64, f16, f32, ... Throws std::runtime_error.
std::vector<std::uint8_t> number_bytes(std::string_view type, const std::string& value);

/// The initial contents of a buffer. Throws std::runtime_error.
std::vector<std::uint8_t> initial_contents(const LaunchBuffer& buffer);

/// The buffers of a description in a memory, and the parameters with their addresses.
struct PreparedLaunch {
  DeviceMemory memory;
  std::map<std::string, std::uint64_t> addresses;  ///< of the buffers, by name
  std::map<std::string, std::uint64_t> sizes;      ///< in bytes
  std::vector<Argument> arguments;
};

PreparedLaunch prepare(const LaunchDescription& description, const Kernel& kernel);

/// The same for any runner: the text of the module, the buffers' contents and the places of their addresses. Throws std::runtime_error.
KernelLaunch kernel_launch(const LaunchDescription& description);

/// The full name of the entry `wanted`, or of the module's only one where that is empty. Throws std::runtime_error that names them.
std::string entry_name(const Module& module, const std::string& wanted, const std::filesystem::path& path);

/// Throws std::runtime_error where the arguments are too few or too many, or a number is of another kind than its parameter: f32 for .u32.
void check_arguments(const LaunchDescription& description, const code::Program& program);

/// Writes the buffers that have an `out`, each whole or not at all. Throws std::runtime_error.
void write_outputs(const LaunchDescription& description, const PreparedLaunch& prepared);

/// A buffer that should hold something, and what: read before the launch, so that wrong files end the command early.
struct BufferExpectation {
  const LaunchBuffer* buffer;
  ReadExpectation expected;
};
std::vector<BufferExpectation> read_expectations(const LaunchDescription& description, const PreparedLaunch& prepared);

/// How the buffer, after the launch, differs from what it should hold.
MatrixDifference compare(const BufferExpectation& expectation, const PreparedLaunch& prepared);

}  // namespace warpmat
