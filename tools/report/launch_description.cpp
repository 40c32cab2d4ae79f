#include "tools/report/launch_description.h"

#include <fmt/core.h>
#include <warpmat/files/output_file.h>
#include <warpmat/formats.h>
#include <warpmat/ir/code.h>
#include <warpmat/lower/parameter_text.h>
#include <warpmat/ptx/text/readable_name.h>
#include <warpmat/words/words.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "gpu/cases/random.h"
#include "tools/report/ptx_file.h"

namespace warpmat {
namespace {

[[noreturn]] void fail(const std::string& message) {
  throw std::runtime_error(message);
}

std::vector<std::uint8_t> little_endian(std::uint64_t bits, std::size_t bytes) {
  std::vector<std::uint8_t> out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::uint8_t>(bits >> (8 * i));
  return out;
}

/// 32 of s32, u32 and b32; nothing of another type.
std::optional<int> integer_width(std::string_view type) {
  if (type.size() < 2 || std::string_view("sub").find(type[0]) == std::string_view::npos) return std::nullopt;
  const auto bits = number_of<int>(type.substr(1));
  return bits && (*bits == 8 || *bits == 16 || *bits == 32 || *bits == 64) ? bits : std::nullopt;
}

/// The row of f16, bf16, f32 and the other formats of whole bytes; null of another type.
const FormatRow* floating_format(std::string_view type) {
  const FormatRow* const format = find_format(type);
  return format == nullptr || is_integer(*format) || format->bits < 8 || format->bits % 8 != 0 ? nullptr : format;
}

/// The bits of a number of a type with a letter and a width: s8 to s64, u8 to u64, b8 to b64.
std::optional<std::uint64_t> integer_bits(char letter, int bits, const std::string& value) {
  const bool is_signed = letter == 's' || value.starts_with('-');
  if (is_signed) {
    const auto number = number_of<std::int64_t>(value);
    const std::int64_t limit = bits == 64 ? INT64_MAX : (std::int64_t{1} << (bits - 1)) - 1;
    if (!number || *number > limit || *number < -limit - 1 || letter == 'u') return std::nullopt;
    return static_cast<std::uint64_t>(*number);
  }
  const auto number = number_of<std::uint64_t>(value);
  if (!number || (bits < 64 && *number >> bits != 0)) return std::nullopt;
  return number;
}

std::optional<double> real(const std::string& value) {
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  return value.empty() || *end != '\0' ? std::nullopt : std::optional(number);
}

const LaunchBuffer* find(const std::vector<LaunchBuffer>& buffers, std::string_view name) {
  const auto found = std::ranges::find(buffers, name, &LaunchBuffer::name);
  return found == buffers.end() ? nullptr : &*found;
}

std::string names_of(const std::vector<LaunchBuffer>& buffers) {
  std::string names;
  for (const LaunchBuffer& buffer : buffers) names += (names.empty() ? "" : ", ") + buffer.name;
  return names.empty() ? "there are none" : "there are " + names;
}

std::vector<std::uint8_t> random_bytes(std::uint64_t count, std::uint64_t seed) {
  Random random(combine(seed, hash_name("bytes")));
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(random.next() >> 56);
  return bytes;
}

/// `count` elements of `width` bits, one behind the other; `next` gives the bits of each.
template <typename Next>
std::vector<std::uint8_t> packed(int width, std::uint64_t count, Next next) {
  std::vector<std::uint8_t> bytes((count * static_cast<std::uint64_t>(width) + 7) / 8);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = next(i);
    for (int bit = 0; bit < width; ++bit) {
      const std::uint64_t place = i * static_cast<std::uint64_t>(width) + static_cast<std::uint64_t>(bit);
      bytes[place / 8] = static_cast<std::uint8_t>(bytes[place / 8] | (bits >> bit & 1) << place % 8);
    }
  }
  return bytes;
}

/// `count` numbers of `format`: in [-1, 1), integers over their whole range.
std::vector<std::uint8_t> random_numbers(const FormatRow& format, std::uint64_t count, std::uint64_t seed) {
  Random random(combine(seed, hash_name(format.name)));
  return packed(format.bits, count, [&](std::uint64_t) {
    const std::uint64_t draw = random.next();
    return is_integer(format) ? draw >> (64 - format.bits)
                              : from_double(format.format, std::ldexp(static_cast<double>(draw >> 11), -52) - 1);
  });
}

/// The numbers of a buffer, rounded to its type; of plain bits the whole numbers.
std::vector<std::uint8_t> given_numbers(const ElementType& type, const std::vector<double>& values) {
  return packed(type.bits, values.size(), [&](std::uint64_t i) {
    if (type.format) return from_double(*type.format, values[i]);
    if (!(values[i] >= 0 && values[i] < std::ldexp(1, type.bits))) fail(fmt::format("{} is no number of {} bits", values[i], type.bits));
    return static_cast<std::uint64_t>(values[i]);
  });
}

std::uint64_t size_in(const LaunchBuffer& buffer, std::string_view text) {
  const auto size = number_of<std::uint64_t>(text);
  if (!size || *size > std::uint64_t{1} << 40) fail(fmt::format("buffer {}: '{}' is no number of bytes or elements", buffer.name, text));
  return *size;
}

std::vector<std::uint8_t> random_contents(const LaunchBuffer& buffer, const std::vector<std::string_view>& parts) {
  const FormatRow* format = find_format(parts[1]);
  const std::size_t count_at = format == nullptr ? 1 : 2;
  if (parts.size() < count_at + 1 || parts.size() > count_at + 2)
    fail(fmt::format("buffer {}: '{}' is no source: it would be random:BYTES[:SEED] or random:FORMAT:COUNT[:SEED]", buffer.name,
                     buffer.source));
  if (format == nullptr && !number_of<std::uint64_t>(parts[1]))
    fail(fmt::format("buffer {}: '{}' is no format, such as f16, and no number of bytes", buffer.name, parts[1]));
  const std::uint64_t count = size_in(buffer, parts[count_at]);
  const std::uint64_t seed = parts.size() == count_at + 2 ? size_in(buffer, parts[count_at + 1]) : 0;
  return format == nullptr ? random_bytes(count, seed) : random_numbers(*format, count, seed);
}

}  // namespace

std::vector<std::uint8_t> number_bytes(std::string_view type, const std::string& value) {
  if (const auto bits = integer_width(type)) {
    const auto number = integer_bits(type[0], *bits, value);
    if (!number) fail(fmt::format("parameter '{0}:{1}': '{1}' is no {0}", type, value));
    return little_endian(*number, static_cast<std::size_t>(*bits / 8));
  }
  const FormatRow* format = floating_format(type);
  if (format == nullptr)
    fail(fmt::format("'{}' is no type of a parameter: there are s8 to s64, u8 to u64, b8 to b64, f16, bf16, f32, f64", type));
  const auto number = real(value);
  if (!number) fail(fmt::format("parameter '{0}:{1}': '{1}' is no {0}", type, value));
  const std::uint64_t code = type == "f64" ? std::bit_cast<std::uint64_t>(*number) : from_double(format->format, *number);
  return little_endian(code, static_cast<std::size_t>(format->bits / 8));
}

KernelParameter parse_parameter(const std::string& text, const std::vector<LaunchBuffer>& buffers) {
  const std::string right =
      fmt::format("write a buffer's name ({}), with +OFFSET or without, TYPE:VALUE such as s32:128, or bytes:HEX", names_of(buffers));
  WordReader words(text, "parameter", right);
  if (text.find(':') != std::string::npos) {
    const std::string_view type = words.until(':'), value = words.rest();
    if (type != "bytes") return {number_bytes(type, std::string(value)), {}, {}, text};
    KernelParameter parameter;
    for (std::size_t i = 0; i < value.size(); i += 2) {
      const auto byte = number_of<std::uint8_t>(fmt::format("0x{}", value.substr(i, 2)));
      if (!byte || i + 1 == value.size()) words.refuse(value.substr(i), "bytes are pairs of hexadecimal digits");
      parameter.bytes.push_back(*byte);
    }
    return parameter;
  }
  const std::string_view name = words.until('+');
  const LaunchBuffer* const buffer = find(buffers, name);
  if (buffer == nullptr) words.refuse(text, fmt::format("there is no buffer '{}'", name));
  const auto offset = words.ended() ? 0 : words.number<std::int64_t>(words.rest(), INT64_MIN, INT64_MAX, "number of bytes");
  return {std::vector<std::uint8_t>(8), {{0, static_cast<std::size_t>(buffer - buffers.data()), offset}}};
}

LaunchBuffer parse_buffer(const std::string& text) {
  WordReader words(text, "buffer", "write NAME=SOURCE, such as A=a.npy or C=zeros:4096");
  LaunchBuffer buffer;
  buffer.name = words.before('=');
  buffer.source = words.rest();
  if (buffer.name.empty() || buffer.source.empty()) words.refuse(text, "one of the two is empty");
  return buffer;
}

DType output_type(std::string_view text) {
  if (const auto type = find_dtype(text)) return *type;
  constexpr std::pair<std::string_view, std::string_view> by_letter[] = {{"u", "uint"}, {"b", "uint"}, {"s", "int"}, {"f", "float"}};
  for (const auto& [letter, word] : by_letter)
    if (text.starts_with(letter))
      if (const auto type = find_dtype(fmt::format("{}{}", word, text.substr(1)))) return *type;
  fail(fmt::format(
      "'{}' is no dtype: there are uint8 to uint64, int8 to int64, float16, float32, float64, and as PTX has them u8, s32, f16, "
      "...; of bf16 write uint16",
      text));
}

void set_output(const std::string& text, LaunchBuffer& buffer) {
  WordReader words(text, "output", "write FILE.npy[:TYPE[:SHAPE]]");
  const std::string_view file = words.until(':');
  if (!file.ends_with(".npy")) words.refuse(file, "the file is no .npy");
  buffer.out = file;
  if (!words.ended()) buffer.out_type = output_type(words.until(':'));
  if (words.ended()) return;
  const std::string_view sizes = words.rest();
  const auto shape = parse_sizes(sizes);
  if (!shape) words.refuse(sizes, "a shape is whole numbers, such as 128x64 or 128,64");
  buffer.out_shape.assign(shape->begin(), shape->end());
}

namespace {

/// The buffer of NAME=WHAT; WHAT is left.
LaunchBuffer& named_buffer(WordReader& words, std::vector<LaunchBuffer>& buffers) {
  const std::string_view name = words.before('=');
  const auto found = std::ranges::find(buffers, name, &LaunchBuffer::name);
  if (found == buffers.end()) words.refuse(name, fmt::format("there is no buffer '{}'; {}", name, names_of(buffers)));
  return *found;
}

}  // namespace

void parse_output(const std::string& text, std::vector<LaunchBuffer>& buffers) {
  WordReader words(text, "output", "write NAME=FILE.npy[:TYPE[:SHAPE]]");
  LaunchBuffer& buffer = named_buffer(words, buffers);
  set_output(std::string(words.rest()), buffer);
  check_output_place(buffer.out);
}

void parse_expectation(const std::string& text, std::vector<LaunchBuffer>& buffers) {
  WordReader words(text, "expectation", "write NAME=FILE[:TYPE][:SHAPE][:TOLERANCE]");
  LaunchBuffer& buffer = named_buffer(words, buffers);
  buffer.expected = parse_expected(std::string(words.rest()));
}

std::optional<std::vector<std::uint64_t>> parse_sizes(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::string commas(text);
  std::ranges::replace(commas, 'x', ',');
  std::erase(commas, ' ');
  std::vector<std::uint64_t> sizes;
  for (const std::string_view part : split(commas, ',')) {
    const auto size = number_of<std::uint64_t>(part);
    if (!size) return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

std::optional<Dim3> dim3_of(const std::vector<std::uint64_t>& sizes, std::uint32_t least) {
  const auto right = [&](std::uint64_t size) { return size >= least && size <= UINT32_MAX; };
  if (sizes.empty() || sizes.size() > 3 || !std::ranges::all_of(sizes, right)) return std::nullopt;
  const auto at = [&](std::size_t i) { return i < sizes.size() ? static_cast<std::uint32_t>(sizes[i]) : least; };
  return Dim3{at(0), at(1), at(2)};
}

Dim3 parse_dim3(const std::string& text, std::string_view what) {
  const auto size = dim3_of(parse_sizes(text).value_or(std::vector<std::uint64_t>{}));
  if (!size) fail(fmt::format("--{} {}: it would be X, X,Y or X,Y,Z, each at least 1", what, text));
  return *size;
}

bool is_parameter_type(std::string_view type) {
  return integer_width(type) || floating_format(type) != nullptr;
}

void check_arguments(const LaunchDescription& description, const code::Program& program) {
  const std::size_t given = description.parameters.size(), wanted = program.parameters.size();
  if (given != wanted)
    fail(fmt::format("'{}' has {} {}{}; {} {} given; 'warpmat launch {} --init launch.json' writes a description to begin with",
                     readable_name(program.entry), wanted, wanted == 1 ? "parameter" : "parameters", code::parameter_text(program), given,
                     given == 1 ? "argument is" : "arguments are", description.ptx.string()));
  for (std::size_t i = 0; i < given; ++i) {
    const std::string& number = description.parameters[i].number;
    const code::Parameter& parameter = program.parameters[i];
    const std::string type = number.substr(0, number.find(':'));
    const bool floating_given = floating_format(type) != nullptr, floating_wanted = parameter.type.starts_with('f');
    const bool integer_wanted = parameter.type.starts_with('u') || parameter.type.starts_with('s');
    const bool address_given = !description.parameters[i].pointers.empty() && description.parameters[i].bytes.size() == 8;
    const bool wrong = number.empty() ? address_given && floating_wanted
                                      : (floating_given && integer_wanted) || (!floating_given && floating_wanted && type[0] != 'b');
    if (wrong)
      fail(fmt::format("parameter {} of '{}' ({}) is .{}, and '{}' is {}: write {}:{}, or its bits as b{}:BITS", i,
                       readable_name(program.entry), readable_name(parameter.name), parameter.type, number.empty() ? "a buffer" : number,
                       number.empty()   ? "an address"
                       : floating_given ? "a floating-point number"
                                        : "a whole number",
                       parameter.type, floating_wanted ? "NUMBER" : "WHOLE", 8 * parameter.bytes));
  }
}

std::vector<std::uint8_t> initial_contents(const LaunchBuffer& buffer) {
  if (buffer.values) return given_numbers(*buffer.type, *buffer.values);
  const std::vector<std::string_view> parts = split(buffer.source, ':');
  if (parts[0] == "zeros" && parts.size() == 2) return std::vector<std::uint8_t>(size_in(buffer, parts[1]));
  if (parts[0] == "fill" && parts.size() == 3) {
    const auto value = number_of<std::uint8_t>(parts[2]);
    if (!value) fail(fmt::format("buffer {}: '{}' is no byte", buffer.name, parts[2]));
    return std::vector<std::uint8_t>(size_in(buffer, parts[1]), *value);
  }
  if (parts[0] == "random" && parts.size() > 1) return random_contents(buffer, parts);
  if (!buffer.source.ends_with(".npy"))
    fail(
        fmt::format("buffer {}: '{}' is no source: there are FILE.npy, zeros:BYTES, fill:BYTES:VALUE, random:BYTES[:SEED] and "
                    "random:FORMAT:COUNT[:SEED]",
                    buffer.name, buffer.source));
  const NpyArray array = read_npy(buffer.source);
  std::vector<std::uint8_t> bytes(array.bytes.size());
  std::memcpy(bytes.data(), array.bytes.data(), bytes.size());
  return bytes;
}

namespace {

/// initial_contents(); where there is no memory for them, the error names the buffer.
std::vector<std::uint8_t> contents_of(const LaunchBuffer& buffer) try { return initial_contents(buffer); } catch (const std::bad_alloc&) {
  throw MemoryLimit(fmt::format("buffer '{}', {}: there is not so much memory", buffer.name, buffer.source));
}

}  // namespace

PreparedLaunch prepare(const LaunchDescription& description, const Kernel& kernel) {
  PreparedLaunch prepared;
  if (description.most_bytes != 0) prepared.memory.set_most_bytes(description.most_bytes);
  std::map<std::string, std::uint64_t> variables;
  for (const LaunchBuffer& buffer : description.buffers) {
    const std::vector<std::uint8_t> contents = contents_of(buffer);
    if (prepared.addresses.contains(buffer.name)) fail(fmt::format("two buffers are called '{}'", buffer.name));
    if (buffer.address != 0) prepared.memory.place(buffer.address, contents, buffer.name);
    prepared.addresses[buffer.name] = buffer.address != 0 ? buffer.address : prepared.memory.allocate(contents, buffer.name);
    prepared.sizes[buffer.name] = contents.size();
    if (buffer.variable) variables[buffer.name] = buffer.address;
  }
  if (!variables.empty()) place_variables(kernel, prepared.memory, variables);
  std::vector<std::uint64_t> addresses;
  for (const LaunchBuffer& buffer : description.buffers) addresses.push_back(prepared.addresses.at(buffer.name));
  for (const KernelParameter& parameter : description.parameters)
    prepared.arguments.push_back(parameter.placed_in(prepared.memory, addresses));
  return prepared;
}

std::string entry_name(const Module& module, const std::string& wanted, const std::filesystem::path& path) {
  const std::vector<std::string> entries = module.entries();
  const std::vector<std::string_view> names(entries.begin(), entries.end());
  if (entries.empty()) fail(fmt::format("{} has no .entry", path.string()));
  if (wanted.empty() && entries.size() > 1)
    fail(fmt::format("{} has {} entries: choose one with --kernel: {}", path.string(), entries.size(), quoted_names(names)));
  const std::string_view found = wanted.empty() ? names.front() : find_name(names, wanted);
  if (found.empty()) fail(fmt::format("{} has no entry '{}'; it has: {}", path.string(), wanted, quoted_names(names)));
  return std::string(found);
}

KernelLaunch kernel_launch(const LaunchDescription& description) {
  KernelLaunch launch{.ptx = read_ptx(description.ptx, "").text,
                      .entry = "",
                      .config = description.config,
                      .buffers = {},
                      .parameters = description.parameters,
                      .assembler_options = description.assembler_options,
                      .decisions = description.decisions};
  launch.entry = entry_name(Module(launch.ptx), description.kernel, description.ptx);
  for (const LaunchBuffer& buffer : description.buffers)
    launch.buffers.push_back({buffer.name, initial_contents(buffer), buffer.address, buffer.variable});
  return launch;
}

namespace {

/// The dtype whose bytes are those of a buffer of that type; uint8 where it is not known, or its elements are no whole bytes.
DType dtype_in_memory(const std::optional<ElementType>& type) {
  if (!type || type->bits % 8 != 0) return DType::uint8;
  const DType values = written_dtype(*type, Reading::by_dtype);
  return 8 * size_of(values) == static_cast<std::size_t>(type->bits) && type->format != Format::tf32 ? values
                                                                                                     : written_dtype(*type, Reading::bits);
}

}  // namespace

void write_outputs(const LaunchDescription& description, const PreparedLaunch& prepared) {
  for (const LaunchBuffer& buffer : description.buffers) {
    if (buffer.out.empty()) continue;
    const std::uint64_t size = prepared.sizes.at(buffer.name);
    const DType type = buffer.out_type ? *buffer.out_type : dtype_in_memory(buffer.type);
    std::vector<std::size_t> shape = buffer.out_shape.empty() ? buffer.shape : buffer.out_shape;
    if (shape.empty()) shape = {static_cast<std::size_t>(size) / size_of(type)};
    NpyArray array = NpyArray::zeros(type, shape);
    if (array.bytes.size() != size)
      fail(fmt::format("buffer {} has {} bytes, {} has {}", buffer.name, size, describe(array), array.bytes.size()));
    const auto bytes = prepared.memory.bytes(prepared.addresses.at(buffer.name), size);
    std::memcpy(array.bytes.data(), bytes.data(), size);
    write_npy(buffer.out, array);
  }
}

std::vector<BufferExpectation> read_expectations(const LaunchDescription& description, const PreparedLaunch& prepared) {
  std::vector<BufferExpectation> all;
  for (const LaunchBuffer& buffer : description.buffers)
    if (buffer.expected)
      all.push_back({&buffer, read_expected(*buffer.expected, buffer.name, prepared.sizes.at(buffer.name), buffer.type, buffer.shape)});
  return all;
}

MatrixDifference compare(const BufferExpectation& expectation, const PreparedLaunch& prepared) {
  const LaunchBuffer& buffer = *expectation.buffer;
  const ReadExpectation& expected = expectation.expected;
  const auto held = prepared.memory.bytes(prepared.addresses.at(buffer.name), prepared.sizes.at(buffer.name));
  const std::vector<std::uint8_t> before = initial_contents(buffer);
  return difference({held, expected.bytes, expected.shape, expected.type.format, expected.type.bits, before, buffer.name},
                    buffer.expected->tolerance);
}

}  // namespace warpmat
