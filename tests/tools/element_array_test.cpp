#include "tools/report/element_array.h"

#include "command.h"
#include "test.h"
#include "tools/report/npy.h"

// The rule of docs and --help, written down once more by hand: unsigned integers of the format's width are bit patterns, floats are
// numbers, integers of other kinds are the numbers of an integer format and nothing else.

namespace warpmat::element_array_test {
namespace {

struct FormatFacts {
  const char* format;
  int storage_bits;  ///< of NumPy's integer that holds its bit patterns
  bool integer;
  std::uint64_t one;  ///< the bit pattern of the number 1
};

constexpr FormatFacts formats[] = {
    {"f64", 64, false, 0x3ff0000000000000},
    {"f32", 32, false, 0x3f800000},
    {"tf32", 32, false, 0x3f800000},
    {"bf16", 16, false, 0x3f80},
    {"f16", 16, false, 0x3c00},
    {"e4m3", 8, false, 0x38},
    {"e5m2", 8, false, 0x3c},
    {"e3m2", 8, false, 0x0c},
    {"e2m3", 8, false, 0x08},
    {"e2m1", 8, false, 0x2},
    {"ue8m0", 8, false, 127},
    {"ue4m3", 8, false, 0x38},
    {"s32", 32, true, 1},
    {"s8", 8, true, 1},
    {"u8", 8, true, 1},
    {"s4", 8, true, 1},
    {"u4", 8, true, 1},
    {"b1", 8, true, 1},
};

constexpr DType dtypes[] = {DType::uint8, DType::uint16, DType::uint32,  DType::uint64,  DType::int8,   DType::int16,
                            DType::int32, DType::int64,  DType::float16, DType::float32, DType::float64};

bool is_float(DType dtype) {
  return std::string(name(dtype)).starts_with("float");
}
bool is_unsigned(DType dtype) {
  return std::string(name(dtype)).starts_with("uint");
}

enum class Expected { bits, values, refused };

Expected expected(DType dtype, const FormatFacts& format) {
  if (is_float(dtype)) return Expected::values;
  if (is_unsigned(dtype) && static_cast<int>(8 * size_of(dtype)) == format.storage_bits) return Expected::bits;
  return format.integer ? Expected::values : Expected::refused;
}

/// An array of `dtype` all of whose elements are the number `number`; float16 only of 1.
NpyArray filled(DType dtype, std::vector<std::size_t> shape, std::uint64_t number) {
  NpyArray array = NpyArray::zeros(dtype, std::move(shape));
  for (std::size_t i = 0; i < array.bytes.size() / size_of(dtype); ++i) {
    std::uint64_t element = number;
    const float single = 1;
    const double twice = 1;
    if (dtype == DType::float16) element = 0x3c00;
    if (dtype == DType::float32) std::memcpy(&element, &single, sizeof single);
    if (dtype == DType::float64) std::memcpy(&element, &twice, sizeof twice);
    std::memcpy(array.bytes.data() + i * size_of(dtype), &element, size_of(dtype));
  }
  return array;
}

/// The number that an array must hold so that its elements are 1 of the format, if it is taken at all.
std::uint64_t number_for(DType dtype, const FormatFacts& format) {
  return expected(dtype, format) == Expected::bits ? format.one : 1;
}

TEST_CASE("every dtype is bit patterns, numbers, or refused for every format", "[tools]") {
  for (const FormatFacts& format : formats)
    for (const DType dtype : dtypes) {
      CAPTURE(format.format, name(dtype));
      const NpyArray array = filled(dtype, {1}, number_for(dtype, format));
      const auto read = [&](Reading said) {
        return ElementReader(dtype, find_element_type(format.format), said, "0.a").bits(array.bytes, 0);
      };
      if (expected(dtype, format) == Expected::refused) {
        std::string message;
        try {
          (void)read(Reading::by_dtype);
        } catch (const std::runtime_error& e) {
          message = e.what();
        }
        CHECK(contains(message, std::string(name(dtype)) + " could be numbers or bit patterns of " + format.format));
        CHECK(contains(message, "0.a:values"));
        CHECK(contains(message, "0.a:bits"));
      } else {
        CHECK(read(Reading::by_dtype) == format.one);
      }
      const NpyArray one = filled(dtype, {1}, 1), code = filled(dtype, {1}, format.one);
      CHECK(ElementReader(dtype, find_element_type(format.format), Reading::values, "0.a").bits(one.bytes, 0) == format.one);
      if (is_float(dtype))
        CHECK_THROWS(read(Reading::bits));
      else if (static_cast<int>(8 * size_of(dtype)) >= format.storage_bits)
        CHECK(ElementReader(dtype, find_element_type(format.format), Reading::bits, "0.a").bits(code.bytes, 0) == format.one);
    }
}

/// The codes of all elements, or the error, by `read`.
template <typename Read>
std::string codes_or_error(Read read) {
  try {
    const std::vector<std::byte> codes = read();
    return {reinterpret_cast<const char*>(codes.data()), codes.size()};
  } catch (const std::runtime_error& e) {
    return e.what();
  }
}

TEST_CASE("an array read at once has the codes of its elements read one by one", "[tools]") {
  std::mt19937_64 random(58);
  for (const FormatFacts& format : formats)
    for (const DType dtype : dtypes)
      for (const Reading said : {Reading::by_dtype, Reading::values, Reading::bits})
        for (const int kept : {4, 6, 64}) {  // bits of an element: few formats take all that 64 random ones make
          if (said == Reading::bits ? is_float(dtype) : said == Reading::by_dtype && expected(dtype, format) == Expected::refused) continue;
          CAPTURE(format.format, name(dtype), kept);
          const ElementType type = find_element_type(format.format);
          const ElementReader reader(dtype, type, said, "0.a");
          NpyArray array = NpyArray::zeros(dtype, {64});
          for (std::size_t i = 0; i < 64; ++i) {
            const std::uint64_t element = low_bits(random(), kept);
            std::memcpy(array.bytes.data() + i * size_of(dtype), &element, size_of(dtype));
          }
          std::vector<std::byte> scratch;
          const auto at_once = [&] {
            const auto codes = reader.codes(array.bytes, scratch);
            return std::vector<std::byte>(codes.begin(), codes.end());
          };
          const auto one_by_one = [&] {
            const std::size_t bytes = static_cast<std::size_t>(format.storage_bits) / 8;
            std::vector<std::byte> codes(64 * bytes);
            for (std::size_t i = 0; i < 64; ++i) {
              const std::uint64_t code = reader.bits(array.bytes, i);
              std::memcpy(codes.data() + i * bytes, &code, bytes);
            }
            return codes;
          };
          CHECK(codes_or_error(at_once) == codes_or_error(one_by_one));
        }
}

TEST_CASE("a NaN of a file is the format's own, in whatever place of the array", "[tools]") {
  NpyArray array = NpyArray::zeros(DType::float16, {40});
  constexpr std::uint16_t nan = 0xfe01, infinite = 0xfc00;
  std::memcpy(array.bytes.data() + 2 * 37, &nan, 2);
  std::memcpy(array.bytes.data() + 2 * 5, &infinite, 2);
  std::vector<std::byte> scratch;
  const auto codes = ElementReader(DType::float16, ElementType::of(Format::f16), Reading::by_dtype, "x").codes(array.bytes, scratch);
  std::uint16_t code = 0;
  std::memcpy(&code, codes.data() + 2 * 37, 2);
  CHECK(code == 0x7fff);
  std::memcpy(&code, codes.data() + 2 * 5, 2);
  CHECK(code == infinite);
}

TEST_CASE("numbers and codes that a format does not have are refused, not bent", "[tools]") {
  const auto read = [](DType dtype, const char* format, std::uint64_t number, Reading said = Reading::by_dtype) {
    NpyArray array = NpyArray::zeros(dtype, {1});
    std::memcpy(array.bytes.data(), &number, size_of(dtype));
    return ElementReader(dtype, find_element_type(format), said, "x").bits(array.bytes, 0);
  };
  CHECK_THROWS_WITH(read(DType::int64, "s8", 300), "300 is no number of s8, which holds whole numbers from -128 to 127");
  CHECK_THROWS_WITH(read(DType::uint8, "e2m1", 0x10), "16 is no bit pattern of e2m1, which has 4 bits: 0 to 0xf");
  CHECK_THROWS_WITH(read(DType::uint8, "s4", 200), "200 is no bit pattern of s4, which has 4 bits: 0 to 0xf");
  CHECK_THROWS_WITH(read(DType::int64, "ue8m0", 0, Reading::values), "0 is no number of ue8m0, which holds positive numbers");
  CHECK_THROWS_WITH(read(DType::int64, "e4m3", 500, Reading::values), "500 is no number of e4m3, which holds -448 to 448");
  CHECK_THROWS_WITH(read(DType::float64, "s8", 0x3ff8000000000000), "1.5 is no number of s8, which holds whole numbers from -128 to 127");
  CHECK(read(DType::int64, "s4", static_cast<std::uint64_t>(-3)) == 0xd);
  CHECK(read(DType::uint8, "s8", 0xfd) == 0xfd);
  CHECK(read(DType::int16, "f16", 0xbc00, Reading::bits) == 0xbc00);
}

/// An operand of an instruction: --in PLACE of `run`, --OPTION of `exec`.
struct OperandFacts {
  const char *opcode, *target, *operand;
  std::vector<std::size_t> shape;  ///< of the logical matrix
  FormatFacts format;
};

const FormatFacts& facts(const std::string& format) {
  return *std::ranges::find_if(formats, [&](const FormatFacts& f) { return format == f.format; });
}

/// One operand for each format.
std::vector<OperandFacts> operands() {
  const char* const f8 = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32";
  const char* const small = "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32";
  const char* const scaled = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e4m3.f32.ue8m0";
  const char* const f4 = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3";
  return {
      {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "sm_90", "a", {8, 4}, facts("f64")},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_90", "c", {16, 8}, facts("f32")},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "sm_90", "b", {8, 8}, facts("tf32")},
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "sm_90", "a", {16, 16}, facts("bf16")},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_90", "b", {16, 8}, facts("f16")},
      {f8, "sm_90", "a", {16, 32}, facts("e4m3")},
      {f8, "sm_90", "b", {32, 8}, facts("e5m2")},
      {small, "sm_120a", "a", {16, 32}, facts("e3m2")},
      {small, "sm_120a", "b", {32, 8}, facts("e2m3")},
      {scaled, "sm_120a", "a", {16, 32}, facts("e2m1")},
      {scaled, "sm_120a", "scale-a", {16, 1}, facts("ue8m0")},
      {scaled, "sm_120a", "scale-b", {1, 8}, facts("ue8m0")},
      {f4, "sm_120a", "scale-a", {16, 4}, facts("ue4m3")},
      {"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", "sm_90", "c", {16, 8}, facts("s32")},
      {"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", "sm_90", "a", {16, 32}, facts("s8")},
      {"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", "sm_90", "b", {32, 8}, facts("u8")},
      {"mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", "sm_90", "a", {16, 64}, facts("s4")},
      {"mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", "sm_90", "b", {64, 8}, facts("u4")},
      {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", "sm_90", "a", {16, 256}, facts("b1")},
  };
}

/// The statement of an opcode, its registers numbered: "mma... {d0, d1}, {a0}, ...;".
std::string statement_of(const std::string& opcode, const std::vector<std::pair<std::string, int>>& registers) {
  std::string text = opcode;
  for (const auto& [operand, count] : registers) {
    text += text == opcode ? " " : ", ";
    if (operand == "ids") {
      text += "{0, 0}";
      continue;
    }
    std::string list;
    for (int i = 0; i < count; ++i) list += fmt::format("{}{}{}", i == 0 ? "" : ", ", operand, i);
    text += operand.starts_with("scale") ? operand + "0" : "{" + list + "}";
  }
  return text + ";\n";
}

/// Registers of each operand, as PTX writes the statement.
std::string program_of(const OperandFacts& o) {
  const std::string opcode = o.opcode;
  if (contains(opcode, ".f64.")) return statement_of(opcode, {{"d", 2}, {"a", 1}, {"b", 1}, {"c", 2}});
  if (contains(opcode, "block_scale"))
    return statement_of(opcode, {{"d", 4}, {"a", 4}, {"b", 2}, {"c", 4}, {"scale_a", 1}, {"ids", 2}, {"scale_b", 1}, {"ids", 2}});
  return statement_of(opcode, {{"d", 4}, {"a", 4}, {"b", 2}, {"c", 4}});
}

TEST_CASE("run: --in takes or refuses every dtype for an operand of every format", "[tools]") {
  std::set<std::string> seen;
  for (const OperandFacts& o : operands()) {
    const TemporaryDirectory directory;
    write_text(directory.path("mma.ptx"), program_of(o));
    seen.insert(o.format.format);
    for (const DType dtype : dtypes) {
      CAPTURE(o.opcode, o.operand, name(dtype));
      const std::string file = directory.path("x.npy"), place = std::string("0.") + o.operand;
      write_npy(file, filled(dtype, o.shape, number_for(dtype, o.format)));
      const Outcome outcome = run_command({"run", directory.path("mma.ptx"), "--target", o.target, "--quiet", "--in", place + "=" + file,
                                           "--out", place + ":bits=" + directory.path("bits.npy")});
      if (expected(dtype, o.format) == Expected::refused) {
        CHECK(outcome.status == 1);
        CHECK(contains(outcome.err, place + ":values"));
        CHECK(contains(outcome.err, place + ":bits"));
        CHECK(std::ranges::count(outcome.err, '\n') == 1);
        continue;
      }
      CAPTURE(outcome.err);
      REQUIRE(outcome.status == 0);
      const NpyArray bits = read_npy(directory.path("bits.npy"));
      CHECK(bits.shape == o.shape);
      std::uint64_t first = 0;
      std::memcpy(&first, bits.bytes.data(), size_of(bits.dtype));
      CHECK(first == o.format.one);
    }
  }
  CHECK(seen.size() == std::size(formats));
}

TEST_CASE("exec takes or refuses every dtype for an operand of every format", "[tools]") {
  for (const OperandFacts& o : operands()) {
    const TemporaryDirectory directory;
    std::vector<std::size_t> shape{2};
    shape.insert(shape.end(), o.shape.begin(), o.shape.end());
    for (const DType dtype : dtypes) {
      CAPTURE(o.opcode, o.operand, name(dtype));
      const std::string file = directory.path("x.npy"), option = std::string("--") + o.operand;
      write_npy(file, filled(dtype, shape, number_for(dtype, o.format)));
      std::vector<std::string> arguments{"exec", o.opcode, "--target", o.target, "--quiet", "--d", directory.path("d.npy"), option, file};
      for (const char* other : {"a", "b", "c"})
        if (option != std::string("--") + other) arguments.insert(arguments.end(), {std::string("--") + other, "zeros"});
      if (contains(o.opcode, "block_scale"))
        for (const char* other : {"scale-a", "scale-b"})
          if (option != std::string("--") + other) arguments.insert(arguments.end(), {std::string("--") + other, "zeros"});
      const Outcome outcome = run_command(arguments);
      CAPTURE(outcome.err);
      if (expected(dtype, o.format) == Expected::refused) {
        CHECK(outcome.status == 1);
        CHECK(contains(outcome.err, file + ":values"));
        CHECK(contains(outcome.err, file + ":bits"));
        CHECK(std::ranges::count(outcome.err, '\n') == 1);
      } else {
        CHECK(outcome.status == 0);
      }
    }
  }
}

}  // namespace
}  // namespace warpmat::element_array_test
