// Observed on fatbinaries of nvcc 13.0; the wrapper is declared in the toolkit's fatbinary_section.h.

#include <warpmat/cuda/fatbinary.h>

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <warpmat/cuda/mapped.h>
#include <warpmat/ptx/syntax/link.h>

namespace warpmat::cuda {
namespace {

constexpr std::uint32_t wrapper_magic = 0x466243b1, header_magic = 0xba55ed50;
constexpr std::uint64_t flag_lz4 = 0x2000, flag_zstd = 0x8000, flag_architecture = 0x100000;

struct Wrapper {
  std::uint32_t magic, version;
  const void* data;
  const void* const* objects;  ///< version 2, of -rdc=true: the fatbinary of each object, then nullptr
};

struct Header {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;  ///< of all that follows the header
};

struct Entry {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t padded_bytes;
  std::uint32_t compressed_bytes;  ///< 0: the payload is not compressed
  std::uint32_t options;  ///< where in the header two numbers say where the options of ptxas begin, and how long they are; 0: nowhere
  std::uint32_t unknown;
  std::uint32_t target;
  std::uint32_t unknown_too[2];
  std::uint64_t flags;
  std::uint64_t reserved;
  std::uint64_t bytes;  ///< when it is decompressed
};
static_assert(sizeof(Header) == fatbinary_header_bytes && sizeof(Entry) == 64);

template <typename T>
T read(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// The options of an entry, whose header is `header`. Of those that do not lie in it, none.
std::string options_of(const Entry& entry, std::span<const std::uint8_t> header) {
  struct Place {
    std::uint32_t at, bytes;
  };
  if (entry.kind != static_cast<std::uint16_t>(Image::Kind::ptx) || entry.options < sizeof(Entry) || header.size() < sizeof(Place) ||
      entry.options > header.size() - sizeof(Place))
    return "";
  const auto place = read<Place>(header.data() + entry.options);
  if (place.at > header.size() || place.bytes > header.size() - place.at) return "";
  return {reinterpret_cast<const char*>(header.data()) + place.at, place.bytes};
}

Image image_of(const Entry& entry, const std::uint8_t* at) {
  const std::uint8_t* const payload = at + entry.header_bytes;
  const std::uint64_t stored = entry.compressed_bytes != 0 ? entry.compressed_bytes : entry.padded_bytes;
  if (stored > entry.padded_bytes) throw FatbinaryError("a fatbinary has an image that is larger than its place");
  return {.kind = static_cast<Image::Kind>(entry.kind),
          .target = static_cast<int>(entry.target),
          .architecture = (entry.flags & flag_architecture) != 0,
          .flags = entry.flags,
          .options = options_of(entry, {at, entry.header_bytes}),
          .payload = {payload, stored},
          .bytes = entry.compressed_bytes != 0 ? entry.bytes : stored};
}

[[noreturn]] void refuse_size(std::uint64_t most) {
  throw FatbinaryError(fmt::format("the PTX of a fatbinary has more than {} bytes, which is the most that is read", most));
}

/// The text grows as its data shows it: what a header claims costs nothing.
std::string decompress_zstd(const Image& image, std::uint64_t most) {
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  if (stream == nullptr) throw std::bad_alloc();
  std::string text;
  std::vector<char> part(ZSTD_DStreamOutSize());
  ZSTD_inBuffer from{image.payload.data(), image.payload.size(), 0};
  for (std::size_t left = 1; left != 0;) {
    ZSTD_outBuffer to{part.data(), part.size(), 0};
    left = ZSTD_decompressStream(stream.get(), &to, &from);
    if (ZSTD_isError(left) != 0) throw FatbinaryError(fmt::format("a fatbinary's image is no zstd data: {}", ZSTD_getErrorName(left)));
    if (to.pos > most - text.size()) refuse_size(most);
    text.append(part.data(), to.pos);
    if (left != 0 && from.pos == from.size && to.pos < part.size()) throw FatbinaryError("a fatbinary's image of zstd data is cut off");
  }
  return text;
}

/// LZ4 makes at most 255 bytes of one.
std::string decompress_lz4(const Image& image, std::uint64_t most) {
  const std::uint64_t bytes = std::min<std::uint64_t>(image.bytes, 255 * std::uint64_t{image.payload.size()});
  if (bytes > most || image.payload.size() > INT32_MAX || bytes > INT32_MAX) refuse_size(most);
  std::string text(bytes, '\0');
  const auto* const from = reinterpret_cast<const char*>(image.payload.data());
  const int got = LZ4_decompress_safe(from, text.data(), static_cast<int>(image.payload.size()), static_cast<int>(bytes));
  if (got < 0) throw FatbinaryError("a fatbinary's image is no LZ4 data");
  text.resize(static_cast<std::size_t>(got));
  return text;
}

std::string decompress(const Image& image, std::uint64_t most) {
  if ((image.flags & flag_zstd) != 0) return decompress_zstd(image, most);
  if ((image.flags & flag_lz4) != 0) return decompress_lz4(image, most);
  if (image.payload.size() > most) refuse_size(most);
  return {reinterpret_cast<const char*>(image.payload.data()), image.payload.size()};
}

/// A function of NVIDIA's device runtime, which has no PTX: it stores the number to the handle, an address (graph_condition.cpp).
constexpr std::string_view set_conditional = R"(.version 7.0
.target sm_70
.address_size 64
.visible .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value) {
  .reg .b64 %handle; .reg .b32 %value;
  ld.param.b64 %handle, [handle];
  ld.param.b32 %value, [value];
  st.volatile.u32 [%handle], %value;
  ret;
}
)";

bool uses_conditional(const std::string& text) {
  return text.find(".extern .func cudaGraphSetConditional") != std::string::npos;
}

}  // namespace

std::string Image::machine_code(std::uint64_t most) const {
  return decompress(*this, most);
}

std::string Image::text(std::uint64_t most) const {
  std::string text = decompress(*this, most);
  text.resize(std::min(text.find('\0'), text.size()));  // PTX ends with NUL and padding
  return text;
}

ImageKind image_kind(const void* image) {
  std::uint32_t magic = 0;
  std::memcpy(&magic, image, sizeof magic);
  if (magic == wrapper_magic) return ImageKind::wrapper;
  if (magic == header_magic) return ImageKind::fatbinary;
  return std::memcmp(image, "\177ELF", 4) == 0 ? ImageKind::machine_code : ImageKind::ptx;
}

std::uint64_t fatbinary_bytes(const void* header) {
  const auto said = read<Header>(static_cast<const std::uint8_t*>(header));
  return said.bytes > UINT64_MAX - said.header_bytes ? UINT64_MAX : said.header_bytes + said.bytes;
}

std::vector<Image> read_fatbinary(const void* fatbinary) {
  const auto* at = static_cast<const std::uint8_t*>(fatbinary);
  const std::uint64_t mapped = mapped_bytes(fatbinary);
  if (mapped < sizeof(Header)) throw FatbinaryError("a fatbinary lies where the program has no memory");
  const auto header = read<Header>(at);
  if (header.magic != header_magic || header.header_bytes < sizeof(Header))
    throw FatbinaryError("the data is no fatbinary: it does not begin with 0xba55ed50");
  if (header.header_bytes > mapped || header.bytes > mapped - header.header_bytes)
    throw FatbinaryError(fmt::format("a fatbinary says that {} bytes follow its header of {}: the program has {} there", header.bytes,
                                     header.header_bytes, mapped));
  at += header.header_bytes;
  std::vector<Image> images;
  for (std::uint64_t left = header.bytes; left != 0;) {
    if (left < sizeof(Entry)) throw FatbinaryError("a fatbinary ends within an entry");
    const auto entry = read<Entry>(at);
    if (entry.header_bytes < sizeof(Entry) || entry.header_bytes > left || entry.padded_bytes > left - entry.header_bytes)
      throw FatbinaryError("a fatbinary has an entry that is larger than the rest");
    images.push_back(image_of(entry, at));
    at += entry.header_bytes + entry.padded_bytes;
    left -= entry.header_bytes + entry.padded_bytes;
  }
  return images;
}

std::vector<std::vector<Image>> read_wrapper(const void* wrapper) {
  if (mapped_bytes(wrapper) < sizeof(Wrapper)) throw FatbinaryError("the program registers data where it has no memory");
  const auto head = read<Wrapper>(static_cast<const std::uint8_t*>(wrapper));
  if (head.magic != wrapper_magic) throw FatbinaryError("the program registers data that is no fatbinary");
  if (head.version < 2) return {read_fatbinary(head.data)};
  std::vector<std::vector<Image>> objects;
  std::uint64_t left = mapped_bytes(head.objects) / sizeof(const void*);
  for (const void* const* object = head.objects; left != 0 && *object != nullptr; ++object, --left)
    objects.push_back(read_fatbinary(*object));
  return objects;
}

/// Whether the target executes the machine code of an image.
bool runs_on(const Image& image, const Target& target) {
  constexpr int generation = 10;
  if (image.kind != Image::Kind::elf) return false;
  if (image.architecture) return target.features == Target::Features::architecture && image.target == target.number;
  return image.target / generation == target.number / generation && image.target <= target.number;
}

/// Of all images together at most `most_text_bytes`. What cannot be read decides nothing.
void add_machine_code(std::span<const Image> images, const Target& target, DeviceCode& code) {
  std::uint64_t left = most_text_bytes;
  for (const std::string& file : code.machine_code) left -= file.size();
  for (const Image& image : images) try {
      if (!runs_on(image, target)) continue;
      code.machine_code.push_back(image.machine_code(left));
      left -= code.machine_code.back().size();
    } catch (const FatbinaryError&) {
    }
}

DeviceCode device_code(std::span<const Image> images, const Target& target) {
  const Image& ptx = choose_ptx(images, target);
  DeviceCode code{.text = ptx.text(), .options = ptx.options};
  add_machine_code(images, target, code);
  return code;
}

DeviceCode wrapper_code(const void* wrapper, const Target& target) {
  const std::vector<std::vector<Image>> objects = read_wrapper(wrapper);
  std::vector<std::string> texts;
  DeviceCode code;
  std::optional<FatbinaryError> refused;
  std::uint64_t left = most_text_bytes;
  for (const std::vector<Image>& images : objects) {
    try {
      const Image& ptx = choose_ptx(images, target);
      texts.push_back(ptx.text(left));
      left -= texts.back().size();
      code.options += ' ' + ptx.options;
    } catch (const FatbinaryError& e) {
      if (!refused) refused = e;
    }
  }
  if (texts.empty()) throw refused ? *refused : FatbinaryError("the program registers no device code");
  if (std::ranges::any_of(texts, uses_conditional)) texts.emplace_back(set_conditional);
  try {
    for (const std::vector<Image>& images : objects) add_machine_code(images, target, code);
    code.text = syntax::link_modules(texts);
    return code;
  } catch (const syntax::LinkError& e) {
    throw FatbinaryError(e.what());
  }
}

namespace {

/// "90a" of machine code for sm_90a: the architecture for which the program was compiled, "90" where it has none.
std::string architecture_of(std::span<const Image> images) {
  const auto code = std::ranges::find_if(images, [](const Image& image) { return image.kind != Image::Kind::ptx; });
  return code == images.end() ? "90" : fmt::format("{}{}", code->target, code->architecture ? "a" : "");
}

}  // namespace

const Image& choose_ptx(std::span<const Image> images, const Target& target) {
  const Image* best = nullptr;
  std::set<std::string> others;
  for (const Image& image : images) {
    if (image.kind != Image::Kind::ptx) continue;
    const bool own = target.features == Target::Features::architecture && image.target == target.number;
    if (image.architecture ? !own : image.target > target.number) {
      others.insert(fmt::format("compute_{}{}", image.target, image.architecture ? "a" : ""));
    } else if (best == nullptr || image.target > best->target || (image.target == best->target && image.architecture)) {
      best = &image;
    }
  }
  if (best != nullptr) return *best;
  if (!others.empty())
    throw FatbinaryError(fmt::format("the program has PTX of {} alone, which {} does not run: choose another --target",
                                     fmt::join(others, ", "), target.name));
  const std::string number = architecture_of(images);
  throw FatbinaryError(
      fmt::format("the program has no PTX: compile it with nvcc -gencode 'arch=compute_{0},code=[sm_{0},compute_{0}]' (CMake: "
                  "CMAKE_CUDA_ARCHITECTURES={0})",
                  number));
}

}  // namespace warpmat::cuda
