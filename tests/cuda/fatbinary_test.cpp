#include <lz4.h>
#include <zstd.h>

#include <warpmat/cuda/fatbinary.h>

#include "test.h"

// Fatbinaries made here byte by byte, after what nvcc 13.0 writes.

namespace warpmat::cuda::fatbinary_test {

namespace {

constexpr std::uint64_t lz4 = 0x2000, zstd = 0x8000, architecture = 0x100000;

struct Entry {
  int kind = 1;  // PTX
  int target = 90;
  std::uint64_t flags = 0x11;
  std::string text;
  std::string options = "";  // of ptxas
};

template <typename T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string compressed(const Entry& entry) {
  std::string out;
  if ((entry.flags & zstd) != 0) {
    out.resize(ZSTD_compressBound(entry.text.size()));
    out.resize(ZSTD_compress(out.data(), out.size(), entry.text.data(), entry.text.size(), 3));
  } else if ((entry.flags & lz4) != 0) {
    out.resize(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(entry.text.size()))));
    out.resize(static_cast<std::size_t>(
        LZ4_compress_default(entry.text.data(), out.data(), static_cast<int>(entry.text.size()), static_cast<int>(out.size()))));
  }
  return out;
}

std::string entry_bytes(const Entry& entry) {
  const std::string packed = compressed(entry);
  std::string payload = packed.empty() ? entry.text : packed;
  payload.resize((payload.size() + 8) / 8 * 8, '\0');
  std::string out;
  append<std::uint16_t>(out, static_cast<std::uint16_t>(entry.kind));
  append<std::uint16_t>(out, 0x101);
  const std::uint32_t places = entry.options.empty() ? 0 : 8, words = static_cast<std::uint32_t>(entry.options.size() + 7) / 8 * 8;
  append<std::uint32_t>(out, 64 + places + words);
  append<std::uint64_t>(out, payload.size());
  append<std::uint32_t>(out, static_cast<std::uint32_t>(packed.size()));
  append<std::uint32_t>(out, entry.options.empty() ? 0 : 64);
  append<std::uint32_t>(out, 0);
  append<std::uint32_t>(out, static_cast<std::uint32_t>(entry.target));
  append<std::uint64_t>(out, 0);
  append<std::uint64_t>(out, entry.flags);
  append<std::uint64_t>(out, 0);
  append<std::uint64_t>(out, packed.empty() ? 0 : entry.text.size());
  if (!entry.options.empty()) {
    append<std::uint32_t>(out, 64 + places);
    append<std::uint32_t>(out, static_cast<std::uint32_t>(entry.options.size()));
    out += entry.options + std::string(words - entry.options.size(), '\0');
  }
  return out + payload;
}

std::string fatbinary(const std::vector<Entry>& entries) {
  std::string all, out;
  for (const Entry& entry : entries) all += entry_bytes(entry);
  append<std::uint32_t>(out, 0xba55ed50);
  append<std::uint16_t>(out, 1);
  append<std::uint16_t>(out, 16);
  append<std::uint64_t>(out, all.size());
  return out + all;
}

std::string chosen(const std::vector<Entry>& entries, const char* target_name) {
  const std::string bytes = fatbinary(entries);
  return choose_ptx(read_fatbinary(bytes.data()), target(target_name)).text();
}

}  // namespace

TEST_CASE("PTX is read from a fatbinary, plain and compressed", "[cuda]") {
  const std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n" + std::string(3000, ' ') + "// end";
  for (const std::uint64_t packing : {std::uint64_t{0}, lz4, zstd}) {
    INFO("flags " << packing);
    CHECK(chosen({{.flags = 0x11 | packing, .text = text}}, "sm_90") == text);
  }
}

TEST_CASE("the PTX of a fatbinary is the newest that the target runs", "[cuda]") {
  const std::vector<Entry> all = {{.kind = 2, .target = 90, .text = "machine code"},
                                  {.target = 80, .text = "80"},
                                  {.target = 90, .text = "90"},
                                  {.target = 90, .flags = architecture, .text = "90a"},
                                  {.target = 120, .text = "120"}};
  CHECK(chosen(all, "sm_80") == "80");
  CHECK(chosen(all, "sm_89") == "80");
  CHECK(chosen(all, "sm_90") == "90");
  CHECK(chosen(all, "sm_90a") == "90a");
  CHECK(chosen(all, "sm_100a") == "90");
}

TEST_CASE("a fatbinary without PTX for the target says how to compile", "[cuda]") {
  CHECK_THROWS_WITH(chosen({{.kind = 2, .text = "machine code"}}, "sm_90"), ContainsSubstring("arch=compute_90,code=[sm_90,compute_90]"));
  CHECK_THROWS_WITH(chosen({{.target = 120, .text = "120"}}, "sm_90"), ContainsSubstring("PTX of compute_120 alone"));
  CHECK_THROWS_WITH(chosen({{.flags = architecture, .text = "90a"}}, "sm_90"), ContainsSubstring("compute_90a alone"));
}

TEST_CASE("broken fatbinaries are refused", "[cuda]") {
  std::string bytes = fatbinary({{.flags = zstd, .text = std::string(100, 'x')}});
  const auto broken = [&](std::size_t at, char value) {
    std::string other = bytes;
    other[at] = value;
    return other;
  };
  CHECK_THROWS_WITH(read_fatbinary(broken(0, 'x').data()), ContainsSubstring("is no fatbinary"));
  CHECK_THROWS_WITH(read_fatbinary(broken(16 + 4, 1).data()), ContainsSubstring("larger than the rest"));   // bytes of the entry's header
  CHECK_THROWS_WITH(read_fatbinary(broken(16 + 10, 1).data()), ContainsSubstring("larger than the rest"));  // bytes of its payload
  CHECK_THROWS_WITH(read_fatbinary(broken(16 + 17, 1).data()), ContainsSubstring("larger than its place"));
  const std::string no_zstd = broken(16 + 64, 'x');
  CHECK_THROWS_WITH(read_fatbinary(no_zstd.data())[0].text(), ContainsSubstring("no zstd data"));
  const std::uint64_t wrapper[3] = {1, 0, 0};
  CHECK_THROWS_WITH(read_wrapper(wrapper), ContainsSubstring("data that is no fatbinary"));
}

TEST_CASE("the text of a fatbinary has the bytes that its data shows, not more than are asked for", "[cuda]") {
  const std::string text(100000, ' ');
  for (const std::uint64_t packing : {std::uint64_t{0}, lz4, zstd}) {
    INFO("flags " << packing);
    std::string bytes = fatbinary({{.flags = 0x11 | packing, .text = text}});
    const std::uint64_t claimed = std::uint64_t{1} << 40;
    if (packing != 0) std::memcpy(bytes.data() + 16 + 56, &claimed, sizeof claimed);
    const Image image = read_fatbinary(bytes.data()).front();
    CHECK(image.text() == text);
    CHECK_THROWS_WITH(image.text(1000), ContainsSubstring("1000 bytes"));
  }
}

TEST_CASE("the options of ptxas stand in the header of the PTX, and machine code beside it", "[cuda]") {
  const std::vector<Entry> entries{{.kind = 2, .target = 90, .text = "of sm_90"},
                                   {.kind = 2, .target = 90, .flags = architecture | zstd, .text = "of sm_90a"},
                                   {.kind = 2, .target = 80, .text = "of sm_80"},
                                   {.target = 80, .text = "80", .options = "-O0 "},
                                   {.target = 90, .text = "90", .options = " --fmad false "}};
  const std::string bytes = fatbinary(entries);
  const auto code = [&](const char* name) { return device_code(read_fatbinary(bytes.data()), target(name)); };
  CHECK(code("sm_90").text == "90");
  CHECK(code("sm_90").options == " --fmad false ");
  CHECK(code("sm_80").options == "-O0 ");
  const auto begins = [](const std::vector<std::string>& files) {
    std::vector<std::string> all;
    for (const std::string& file : files) all.push_back(file.substr(0, file.find('\0')));
    return all;
  };
  CHECK(begins(code("sm_90").machine_code) == std::vector<std::string>{"of sm_90"});
  CHECK(begins(code("sm_90a").machine_code) == std::vector<std::string>{"of sm_90", "of sm_90a"});
  CHECK(begins(code("sm_86").machine_code) == std::vector<std::string>{"of sm_80"});
  CHECK(code("sm_100a").machine_code.empty());
  // Of places outside of the header there are none.
  std::string outside = fatbinary({{.text = "90", .options = " --fmad false "}});
  for (const std::size_t at : {std::size_t{16 + 20}, std::size_t{16 + 64}, std::size_t{16 + 68}}) {
    std::string broken = outside;
    broken[at] = '\x7f';
    CHECK(read_fatbinary(broken.data())[0].options.empty());
  }
}

TEST_CASE("device code of several objects is linked, without those that have no PTX", "[cuda]") {
  const std::string one = fatbinary({{.text = ".visible .global .u32 one;"}}), two = fatbinary({{.text = ".visible .global .u32 two;"}});
  const std::string code = fatbinary({{.kind = 2, .text = "machine code"}}), again = fatbinary({{.text = ".visible .global .u32 one;"}});
  const void* objects[] = {one.data(), nullptr, nullptr, nullptr};
  const struct {
    std::uint32_t magic = 0x466243b1, version = 2;
    const void* data = nullptr;
    const void* const* extra;
  } wrapper{.extra = objects};
  const Target& sm_90 = target("sm_90");
  CHECK(wrapper_code(&wrapper, sm_90).text == ".visible .global .u32 one;");
  objects[1] = code.data();
  objects[2] = two.data();
  CHECK(read_wrapper(&wrapper).size() == 3);
  CHECK(wrapper_code(&wrapper, sm_90).text == ".visible .global .u32 one;\n.visible .global .u32 two;\n");
  objects[2] = again.data();
  CHECK_THROWS_WITH(wrapper_code(&wrapper, sm_90), "'one' is defined in object 1 and in object 2");
  objects[0] = nullptr;
  CHECK_THROWS_WITH(wrapper_code(&wrapper, sm_90), ContainsSubstring("no device code"));
}

}  // namespace warpmat::cuda::fatbinary_test
