#include "gpu/cases/wgmma_cases.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "gpu/cases/operand_sites.h"
#include "gpu/cases/random_descriptor.h"
#include "gpu/runners/module_head.h"

namespace warpmat {
namespace {

using std::uint32_t;
using std::uint64_t;

constexpr uint32_t staged_bytes = 32768;  // twice the largest B
constexpr std::size_t max_a_registers = 4;

int selectors(const WgmmaForm& form) {
  return form.sparse() ? form.tile->operand(OperandName::e).fragment.matrices() : 1;
}

/// The number of majors: two for 16-bit types.
int majors(const WgmmaForm& form) {
  return form.transposes() ? 2 : 1;
}

/// The number of places of A: registers, or memory with each major.
int a_places(const WgmmaForm& form) {
  return 1 + majors(form);
}

// ---- The kernel ---------------------------------------------------------------------------------------------------------------------

/// "{%d0, %d1, %d2}"
std::string list(std::string_view prefix, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += fmt::format("{}{}{}", i == 0 ? "" : ", ", prefix, i);
  return text + "}";
}

/// A move of `count` registers from or to global memory: consecutive registers are 512 bytes apart.
std::string moves(std::string_view statement, int count) {
  constexpr std::size_t register_bytes = warpgroup_threads * sizeof(uint32_t);
  std::string text;
  for (int i = 0; i < count; ++i)
    text += fmt::format(fmt::runtime(statement), fmt::arg("i", i), fmt::arg("at", static_cast<std::size_t>(i) * register_bytes)) + "\n";
  return text;
}

constexpr const char* kernel_begin = R"(.extern .shared .align 1024 .b8 memory[];
.visible .entry cases(.param .u64 d, .param .u64 a, .param .u64 e, .param .u64 images, .param .u64 descriptors)
.maxntid 128, 1, 1
{{
.reg .pred %p, %scale;
.reg .b32 %thread, %case, %at, %word<4>, %local, %e, %d<{0}>, %a<{1}>;
.reg .b64 %d_at, %a_at, %e_at, %image, %descriptor, %offset, %base, %descriptor_a, %descriptor_b, %accumulates;
mov.u32 %thread, %tid.x;
mov.u32 %case, %ctaid.x;
ld.param.u64 %image, [images];
mul.wide.u32 %offset, %case, {2};
add.s64 %image, %image, %offset;
mov.u32 %local, memory;
shl.b32 %at, %thread, 4;
next_chunk:
cvt.u64.u32 %offset, %at;
add.s64 %offset, %image, %offset;
ld.global.v4.b32 {{%word0, %word1, %word2, %word3}}, [%offset];
add.u32 %e, %local, %at;
st.shared.v4.b32 [%e], {{%word0, %word1, %word2, %word3}};
add.u32 %at, %at, 2048;
setp.lt.u32 %p, %at, {2};
@%p bra next_chunk;
fence.proxy.async;
bar.sync 0;
ld.param.u64 %descriptor, [descriptors];
mul.wide.u32 %offset, %case, 32;
add.s64 %descriptor, %descriptor, %offset;
ld.global.v2.b64 {{%descriptor_a, %descriptor_b}}, [%descriptor];
ld.global.b64 %accumulates, [%descriptor+16];
shr.u32 %local, %local, 4;
cvt.u64.u32 %base, %local;
add.s64 %descriptor_a, %descriptor_a, %base;
add.s64 %descriptor_b, %descriptor_b, %base;
setp.ne.u64 %scale, %accumulates, 0;
ld.param.u64 %d_at, [d];
mad.lo.u32 %at, %case, {3}, %thread;
mul.wide.u32 %offset, %at, 4;
add.s64 %d_at, %d_at, %offset;
ld.param.u64 %a_at, [a];
mad.lo.u32 %at, %case, {4}, %thread;
mul.wide.u32 %offset, %at, 4;
add.s64 %a_at, %a_at, %offset;
ld.param.u64 %e_at, [e];
mad.lo.u32 %at, %case, 128, %thread;
mul.wide.u32 %offset, %at, 4;
add.s64 %e_at, %e_at, %offset;
ld.global.b32 %e, [%e_at];
)";

std::string kernel_text(const WgmmaForm& form, const WgmmaVariant& variant) {
  const int registers = form.d_registers();
  std::string text = module_head(form.ptx, "sm_90a");
  text += fmt::format(fmt::runtime(kernel_begin), registers, max_a_registers, staged_bytes, answer_words(form),
                      max_a_registers * warpgroup_threads);
  text += moves("ld.global.b32 %d{i}, [%d_at+{at}];", registers);
  if (variant.a_in_registers) text += moves("ld.global.b32 %a{i}, [%a_at+{at}];", form.a_registers());
  text += "wgmma.fence.sync.aligned;\n";
  text += wgmma_statement(form, variant, list("%d", registers), variant.a_in_registers ? list("%a", form.a_registers()) : "%descriptor_a",
                          "%descriptor_b", "%e", "%scale") +
          "\n";
  text += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  return text + moves("st.global.b32 [%d_at+{at}], %d{i};", registers) + "ret;\n}\n";
}

// ---- Operands -----------------------------------------------------------------------------------------------------------------------

/// Puts the low `bits` bits of `code` at bit `at` (0 to 7) of little-endian bytes.
void put_bits(std::uint8_t* bytes, int at, int bits, uint64_t code) {
  if (bits < 8) {
    const uint64_t mask = (uint64_t{1} << bits) - 1;
    *bytes = static_cast<std::uint8_t>((*bytes & ~(mask << at)) | (code & mask) << at);
    return;
  }
  for (int i = 0; i < bits / 8; ++i) bytes[i] = static_cast<std::uint8_t>(code >> 8 * i);
}

/// The buffers of a launch, and the beginning of a case's part of each.
struct CaseBuffers {
  std::span<uint32_t> d, a, e;
  std::span<std::uint8_t> memory;
  std::span<uint64_t> descriptors;  ///< of a and b, and scale-d
};

/// Fills the cases in order.
class CaseFiller {
 public:
  CaseFiller(const WgmmaForm& form, const OperandClass& operand_class, const WgmmaVariant& variant)
      : form_(form), tile_(*form.tile), class_(operand_class), variant_(variant), product_(*product_of(*form.tile)) {}

  void fill(const CaseBuffers& to, uint64_t key) const {
    for (std::size_t i = 0; i < to.memory.size(); i += 8) {
      const uint64_t bytes = Random(combine(combine(key, 20), i)).next();
      std::memcpy(to.memory.data() + i, &bytes, sizeof bytes);
    }
    Random random(combine(key, 21));
    to.descriptors[0] = random_descriptor(lines_of(OperandName::a), staged_bytes, random);
    to.descriptors[1] = random_descriptor(lines_of(OperandName::b), staged_bytes, random);
    to.descriptors[2] = random.one_in(4) ? 0 : 1;
    fill_accumulators(to.d, key);
    if (variant_.a_in_registers)
      fill_registers(to.a, key);
    else
      fill_memory(to.memory, to.descriptors[0], OperandName::a, key);
    fill_memory(to.memory, to.descriptors[1], OperandName::b, key);
    for (std::size_t thread = 0; thread < warpgroup_threads && form_.sparse(); ++thread)
      to.e[thread] = random_metadata(tile_, combine(key, 22 + thread / warp_size), static_cast<int>(thread % warp_size));
  }

 private:
  /// Rows and columns of a matrix; for a sparse A the stored ones.
  int rows(OperandName operand) const { return operand == OperandName::b ? form_.shape.k : form_.shape.m; }
  int columns(OperandName operand) const { return operand == OperandName::a ? tile_.stored_k() : form_.shape.n; }
  Major major(OperandName operand) const { return operand == OperandName::a ? variant_.immediates.major_a : variant_.immediates.major_b; }

  MatrixLines lines_of(OperandName operand) const { return matrix_lines(form_, operand, major(operand)); }

  /// Calls put(row, column, code) for every element of a matrix.
  template <typename Put>
  void draw(OperandName operand, uint64_t key, Put put) const {
    OperandSites sites(tile_, tile_.operand(operand), product_);
    ElementSite& site = sites.site();
    const uint64_t operand_key = combine(key, static_cast<uint64_t>(operand));
    const auto index = [&](int r, int c) {
      return static_cast<uint64_t>(r) * static_cast<uint64_t>(columns(operand)) + static_cast<uint64_t>(c);
    };
    site.warp_key = key;
    for (int r = 0; r < rows(operand); ++r)
      for (int c = 0; c < columns(operand); ++c) {
        sites.move_to(r, c);
        const int behind = sites.behind_first(r, c);
        site.key = combine(operand_key, index(r, c));
        site.neighbours_key = combine(operand_key, sites.along_rows() ? index(r - behind, c) : index(r, c - behind));
        put(r, c, class_.element(site));
      }
  }

  void fill_memory(std::span<std::uint8_t> memory, uint64_t bits, OperandName operand, uint64_t key) const {
    const MatrixDescriptor descriptor = MatrixDescriptor::decode(bits);
    const int bits_each = row(tile_.format(operand)).bits;
    draw(operand, key, [&](int r, int c, uint64_t code) {
      const MemoryPlace place = memory_place(form_, operand, major(operand), descriptor, r, c);
      put_bits(memory.data() + place.address, place.bit, bits_each, code);
    });
  }

  /// Writes an element to the registers of 128 threads. `tile` is the number of the tile for D and 0 for A.
  void put(std::span<uint32_t> words, const Fragment& fragment, int tile, int r, int c, uint64_t code) const {
    const Place place = fragment.place({r % tile_.shape.m, c, 0});
    const std::size_t reg = static_cast<std::size_t>(tile * fragment.registers() + place.reg);
    const std::size_t thread = static_cast<std::size_t>(r / tile_.shape.m * warp_size + place.lane);
    uint32_t& word = words[reg * warpgroup_threads + thread];
    const uint32_t mask = static_cast<uint32_t>((uint64_t{1} << fragment.element_bits()) - 1) << place.bit;
    word = (word & ~mask) | (static_cast<uint32_t>(code) << place.bit & mask);
  }

  void fill_accumulators(std::span<uint32_t> d, uint64_t key) const {
    draw(OperandName::c, key, [&](int r, int c, uint64_t code) {
      put(d, tile_.operand(OperandName::d).fragment, c / tile_.shape.n, r, c % tile_.shape.n, code);
    });
  }

  void fill_registers(std::span<uint32_t> a, uint64_t key) const {
    draw(OperandName::a, key, [&](int r, int c, uint64_t code) { put(a, tile_.operand(OperandName::a).fragment, 0, r, c, code); });
  }

  const WgmmaForm& form_;
  const Form& tile_;
  const OperandClass& class_;
  const WgmmaVariant& variant_;
  ProductFormats product_;
};

template <typename T>
std::span<T> part(KernelBuffer& buffer, std::size_t number, std::size_t size) {
  return std::span(reinterpret_cast<T*>(buffer.bytes.data()), buffer.bytes.size() / sizeof(T)).subspan(number * size, size);
}

}  // namespace

int variants(const WgmmaForm& form) {
  return a_places(form) * majors(form) * selectors(form);
}

WgmmaVariant wgmma_variant(const WgmmaForm& form, int number) {
  const auto choose = [&](int choices) {
    const int chosen = number % choices;
    number /= choices;
    return chosen;
  };
  Random random(combine(hash_name(form.opcode), static_cast<uint64_t>(number)));
  WgmmaVariant variant;
  WgmmaImmediates& immediates = variant.immediates;
  const int a = choose(a_places(form));
  variant.a_in_registers = a == 0;
  immediates.major_a = a == 2 ? Major::mn : Major::k;
  immediates.major_b = choose(majors(form)) == 1 ? Major::mn : Major::k;
  immediates.selector = choose(selectors(form));
  if (form.negates()) {
    immediates.negates_a = random.one_in(4);
    immediates.negates_b = random.one_in(4);
  }
  return variant;
}

bool applies(const OperandClass& operand_class, const WgmmaForm& form) {
  return operand_class.applies(*product_of(*form.tile));
}

KernelLaunch make_cases(const WgmmaForm& form, const OperandClass& operand_class, int variant, uint64_t seed, std::size_t first,
                        std::size_t count) {
  constexpr std::size_t descriptor_words = 4;
  const WgmmaVariant numbers = wgmma_variant(form, variant);
  KernelLaunch launch{.ptx = kernel_text(form, numbers), .entry = "cases", .config = {}, .buffers = {}, .parameters = {}};
  launch.config.grid.x = static_cast<uint32_t>(count);
  launch.config.block.x = warpgroup_threads;
  launch.config.shared_bytes = staged_bytes;
  const std::size_t d = answer_words(form), a = max_a_registers * warpgroup_threads;
  const std::pair<const char*, std::size_t> sizes[] = {
      {"d", 4 * d}, {"a", 4 * a}, {"e", 4 * warpgroup_threads}, {"images", staged_bytes}, {"descriptors", 8 * descriptor_words}};
  for (const auto& [name, size] : sizes) {
    launch.parameters.push_back({std::vector<std::uint8_t>(8), {{.buffer = launch.buffers.size()}}});
    launch.buffers.push_back({name, std::vector<std::uint8_t>(count * size)});
  }
  auto& buffers = launch.buffers;
  const CaseFiller filler(form, operand_class, numbers);
  const uint64_t key =
      combine(combine(combine(seed, hash_name(form.opcode)), hash_name(operand_class.name)), static_cast<uint64_t>(variant));
  for (std::size_t i = 0; i < count; ++i)
    filler.fill({part<uint32_t>(buffers[0], i, d), part<uint32_t>(buffers[1], i, a), part<uint32_t>(buffers[2], i, warpgroup_threads),
                 part<std::uint8_t>(buffers[3], i, staged_bytes), part<uint64_t>(buffers[4], i, descriptor_words)},
                combine(key, first + i));
  return launch;
}

std::size_t answer_words(const WgmmaForm& form) {
  return static_cast<std::size_t>(form.d_registers()) * warpgroup_threads;
}

std::string answer_place(const WgmmaForm& form, std::size_t word) {
  const Fragment& fragment = form.tile->operand(OperandName::d).fragment;
  const int reg = static_cast<int>(word / warpgroup_threads), thread = static_cast<int>(word % warpgroup_threads),
            tile = reg / fragment.registers();
  const Element e = fragment.element({thread % warp_size, reg % fragment.registers(), 0});
  const int column = e.column + tile * form.tile->shape.n, more = fragment.elements_per_register() - 1;
  const std::string columns = more == 0 ? fmt::format("column {}", column) : fmt::format("columns {} and {}", column, column + more);
  return fmt::format("row {}, {} (warp {}, lane {}, register {})", e.row + thread / warp_size * form.tile->shape.m, columns,
                     thread / warp_size, thread % warp_size, reg);
}

std::string wgmma_statement(const WgmmaForm& form, const WgmmaVariant& variant, const std::string& d, const std::string& a,
                            const std::string& b, const std::string& e, const std::string& scale) {
  const WgmmaImmediates& x = variant.immediates;
  std::string text = fmt::format("{} {}, {}, {}", form.opcode, d, a, b);
  if (form.sparse()) text += fmt::format(", {}, {}", e, x.selector);
  text += ", " + scale;
  if (form.negates()) text += fmt::format(", {}, {}", x.negates_a ? -1 : 1, x.negates_b ? -1 : 1);
  if (form.transposes()) {
    if (!variant.a_in_registers) text += fmt::format(", {}", x.major_a == Major::mn ? 1 : 0);
    text += fmt::format(", {}", x.major_b == Major::mn ? 1 : 0);
  }
  return text + ";";
}

}  // namespace warpmat
