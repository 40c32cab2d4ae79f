#include "tools/report/npy.h"

#include "command.h"
#include "test.h"
#include "tools/report/register_array.h"

namespace warpmat::npy_test {
namespace {

NpyArray counting(DType dtype, std::vector<std::size_t> shape) {
  NpyArray array = NpyArray::zeros(dtype, std::move(shape));
  for (std::size_t i = 0; i < array.bytes.size(); ++i) array.bytes[i] = static_cast<std::byte>(i * 37);
  return array;
}

NpyHeader parse(const std::string& bytes) {
  std::istringstream in(bytes);
  return read_npy_header(in, bytes.size());
}

/// Why `bytes` are refused; empty if they are read.
std::string refusal(const std::string& bytes) {
  try {
    parse(bytes);
    return "";
  } catch (const std::runtime_error& e) {
    return e.what();
  }
}

/// A file of format 1.0 with this header.
std::string with_header(const std::string& header, const std::string& elements = "") {
  const std::string size{static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return std::string("\x93NUMPY\x01\x00", 8) + size + header + elements;
}

TEST_CASE("npy: every dtype and shape that is written is read back", "[tools]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path("array.npy");
  for (const DType dtype : {DType::uint8, DType::uint16, DType::uint32, DType::uint64, DType::int8, DType::int16, DType::int32,
                            DType::int64, DType::float16, DType::float32, DType::float64})
    for (const std::vector<std::size_t>& shape :
         std::vector<std::vector<std::size_t>>{{}, {7}, {0}, {2, 3}, {3, 4, 32}, {0, 4, 32}, {5, 0}}) {
      const NpyArray array = counting(dtype, shape);
      write_npy(path, array);
      const NpyArray read = read_npy(path);
      CHECK(read.dtype == dtype);
      CHECK(read.shape == shape);
      CHECK(read.bytes == array.bytes);
    }
  CHECK(directory.files() == std::vector<std::string>{"array.npy"});
}

TEST_CASE("npy: an array is read and written in pieces, in any order", "[tools]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path("array.npy");
  const NpyArray array = counting(DType::uint32, {100, 3});
  const std::span<const std::byte> bytes = array.bytes;
  NpyWriter writer(path, array);
  for (const std::size_t offset : {800U, 0U, 400U}) writer.write(offset, bytes.subspan(offset, 400));
  CHECK(!std::filesystem::exists(path));
  writer.finish();
  CHECK(read_npy(path).bytes == array.bytes);

  NpyReader reader(path);
  CHECK(describe(reader.header()) == "uint32 [100][3]");
  std::vector<std::byte> piece(100);
  for (const std::size_t offset : {1100U, 0U, 7U}) {
    reader.read(offset, piece);
    CHECK(std::ranges::equal(piece, bytes.subspan(offset, 100)));
  }
  CHECK_THROWS_WITH(reader.read(1101, piece), "cannot read " + path + ": cannot read the array");
  CHECK(directory.files() == std::vector<std::string>{"array.npy"});
}

TEST_CASE("npy: a file that is not finished leaves nothing behind and the old one in place", "[tools]") {
  const TemporaryDirectory directory;
  const NpyArray old = counting(DType::uint8, {3});
  write_npy(directory.path("array.npy"), old);
  for (const char* file : {"array.npy", "new.npy"}) {
    NpyWriter writer(directory.path(file), NpyHeader{DType::uint8, {5}});
    writer.write(0, counting(DType::uint8, {5}).bytes);
  }
  CHECK(directory.files() == std::vector<std::string>{"array.npy"});
  CHECK(read_npy(directory.path("array.npy")).bytes == old.bytes);
}

TEST_CASE("npy: the header is the one that NumPy writes", "[tools]") {
  const TemporaryDirectory directory;
  write_npy(directory.path("array.npy"), counting(DType::uint32, {2, 3}));
  const std::string text = read_text(directory.path("array.npy"));
  std::string header = "{'descr': '<u4', 'fortran_order': False, 'shape': (2, 3), }";
  header += std::string(128 - 10 - header.size() - 1, ' ') + '\n';
  CHECK(text.substr(0, 128) == with_header(header));
  CHECK(text.size() == 128 + 24);
}

TEST_CASE("npy: other spellings of a header are read", "[tools]") {
  const std::string elements(24, 'x');
  for (const char* header : {
           "{'descr':'<u4','fortran_order':False,'shape':(2,3)}",
           "{\"shape\": (2, 3,), \"fortran_order\": False, \"descr\": \"=u4\"}\n",
           "  { 'fortran_order' : False , 'descr' : 'u4', 'shape' : ( 2 , 3 ) , }   \n",
       }) {
    const NpyHeader read = parse(with_header(header, elements));
    CHECK(read.dtype == DType::uint32);
    CHECK(read.shape == std::vector<std::size_t>{2, 3});
  }
  const std::string header = "{'descr': '<u4', 'fortran_order': False, 'shape': (2, 3), }";
  const std::string version2 =
      std::string("\x93NUMPY\x02\x00", 8) + static_cast<char>(header.size()) + std::string(3, '\0') + header + elements;
  CHECK(parse(version2).byte_count() == 24);
}

TEST_CASE("npy: what cannot be read is refused with the reason", "[tools]") {
  const auto refuses = [](const std::string& bytes, const std::string& reason) {
    CAPTURE(reason, refusal(bytes));
    CHECK(refusal(bytes).find(reason) != std::string::npos);
  };
  const auto header = [](const std::string& descr, const std::string& order, const std::string& shape) {
    return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  };
  refuses("", "not a .npy file");
  refuses("PK\x03\x04 a zip archive", "not a .npy file");
  refuses(std::string("\x93NUMPY\x03\x00", 8), "format 3.0");
  refuses(std::string("\x93NUMPY\x01\x00\x80\x00{'descr'", 18), "ends inside the header");
  refuses(with_header(header("'>u4'", "False", "(1,)"), "1234"), "big-endian");
  refuses(with_header(header("'<u4'", "True", "(1,)"), "1234"), "Fortran order");
  refuses(with_header(header("'<c8'", "False", "(1,)"), "12345678"), "'<c8'");
  refuses(with_header(header("'|b1'", "False", "(1,)"), "1"), "'|b1'");
  refuses(with_header(header("[('x', '<u4')]", "False", "(1,)"), "1234"), "structured");
  refuses(with_header(header("'<u4'", "False", "(2,)"), "1234"), "truncated");
  refuses(with_header(header("'<u4'", "False", "(1,)"), "12345"), "too long");
  refuses(with_header(header("'<u4'", "False", "(4611686018427387904, 4)")), "too large");
  refuses(with_header(header("'<u4'", "False", "(99999999999999999999999,)")), "too large");
  refuses(with_header(header("'<u4'", "False", "(1099511627776,)")), "truncated");  // nothing is allocated for it
  for (const char* const shape : {"(4)", "(04,)", "(1, 02)", "4", "[4]"})           // as numpy.load() refuses them
    refuses(with_header(header("'|u1'", "False", shape), "1234"), "malformed");
  refuses(with_header(header("'|u1'", "False", "(4,)") + std::string(10'000, ' '), "1234"), "10000");
  CHECK(parse(with_header(header("'|u1'", "False", "(00, 10)"))).shape == std::vector<std::size_t>{0, 10});
  for (const char* malformed :
       {"", "{", "{}", "{'descr': '<u4'}", "{'descr': '<u4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<u4', 'fortran_order': False, 'shape': (1 2)}", "{'descr': '<u4', 'fortran_order': 0, 'shape': ()}",
        "{'descr': '<u4', 'fortran_order': False, 'shape': ()} x", "{'descr': '<u4', 'descr': '<u4'}", "{'descr"})
    refuses(with_header(malformed), "malformed");
}

TEST_CASE("npy: arbitrary bytes are read or refused, and nothing else happens", "[tools]") {
  const TemporaryDirectory directory;
  write_npy(directory.path("array.npy"), counting(DType::uint32, {2, 3}));
  const std::string valid = read_text(directory.path("array.npy"));
  std::mt19937 random(1);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  const std::string interesting = "{}()[]'\",:0123456789<>=|ufi \n\xff\x01";
  int accepted = 0, refused = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string bytes = valid;
    for (std::size_t edits = 1 + below(4); edits > 0; --edits) {
      const std::size_t at = below(std::min<std::size_t>(bytes.size(), 80));
      switch (below(4)) {
        case 0: bytes[at] = static_cast<char>(random()); break;
        case 1: bytes[at] = interesting[below(interesting.size())]; break;
        case 2: bytes.erase(at, 1 + below(8)); break;
        default: bytes.insert(at, 1 + below(8), interesting[below(interesting.size())]);
      }
      if (bytes.empty()) bytes.push_back('?');
    }
    if (below(8) == 0) bytes.resize(below(bytes.size()));
    const std::string reason = refusal(bytes);
    if (reason.size() > 400 || reason.find('\n') != std::string::npos) FAIL(reason);
    ++(reason.empty() ? accepted : refused);
  }
  CHECK(accepted > 0);
  CHECK(refused > 10'000);
}

TEST_CASE("registers of 64 bits are split into halves and reassembled, in place", "[tools]") {
  std::vector<Register> registers(4);
  for (std::size_t i = 0; i < registers.size(); ++i)
    for (std::size_t lane = 0; lane < warp_size; ++lane) registers[i][lane] = static_cast<std::uint32_t>(100 * i + lane);
  const std::vector<Register> file = registers;
  split_registers(registers);
  CHECK(registers[0][5] == 10);  // the low half of number 5
  CHECK(registers[1][5] == 11);  // its high half
  CHECK(registers[2][31] == 330);
  CHECK(registers[3][31] == 331);
  join_registers(registers);
  CHECK(registers == file);
  CHECK(register_dtype(64) == DType::uint64);
  CHECK(register_dtype(32) == DType::uint32);
}

}  // namespace
}  // namespace warpmat::npy_test
