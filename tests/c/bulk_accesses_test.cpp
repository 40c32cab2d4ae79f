// What warpmat_bulk_accesses lists, against what a launched kernel's copies read and write: bytes of both memories, and the events of
// observers.

#include <warpmat/c_program.h>
#include <warpmat/c_program/observer.h>

#include <warpmat/launch.h>
#include <warpmat/observer.h>

#include "c/calls.h"
#include "machine/kernel.h"
#include "test.h"

namespace warpmat::bulk_accesses_test {
namespace {

constexpr std::uint32_t shared_bytes = 16384;
constexpr std::uint64_t global_bytes = 1 << 16;

/// Notes the shared memory that copies write.
class Written : public machine::Observer {
 public:
  Written() : Observer(machine::EventKinds::copies) {}
  void bulk_issues(const machine::Event&, const machine::BulkEvent& e) override { ++issued, read = e.reads; }
  void bulk_completes(const machine::BulkEvent& e) override { parts.assign(e.written.begin(), e.written.end()); }

  int issued = 0;
  std::optional<machine::SharedRange> read;
  std::vector<machine::SharedRange> parts;
};

/// What an observer in C is told of the one copy that the kernel issues.
struct Told {
  int issued = 0;
  warpmat_bulk_copy copy{};
  std::vector<std::uint8_t> map;
};

int note_copy(void* user, const warpmat_event* event, const warpmat_bulk_copy* copy) {
  Told& told = *static_cast<Told*>(user);
  ++told.issued;
  told.copy = *copy;
  if (copy->map != nullptr) told.map.assign(copy->map, copy->map + WARPMAT_TENSOR_MAP_BYTES);
  CHECK((event->lanes == 1 && std::string(event->opcode).find(".bulk") != std::string::npos && copy->size == sizeof *copy));
  return 0;
}

/// Of an observer that ends launches.
int refuse_copy(void*, const warpmat_event*, const warpmat_bulk_copy*) {
  return 1;
}

/// One thread copies between global memory and the dynamic shared memory: `issue` with the tensor map %map, the arguments %c0 to %c4,
/// %global, %bytes, the shared address %tile and %bar. A load's shared memory is copied to `out` afterwards; before a store it is filled
/// from there.
Module copying(const std::string& issue, bool stores) {
  const std::string move =
      fmt::format(R"(
    mov.u32 %i, 0;
  {0}_loop:
    add.u32 %s, %tile, %i; cvt.u64.u32 %wide, %i; add.u64 %a, %out, %wide;
    {1}
    add.u32 %i, %i, 4; setp.lt.u32 %p, %i, {2}; @%p bra {0}_loop;
)",
                  "words", stores ? "ld.global.u32 %w, [%a]; st.shared.u32 [%s], %w;" : "ld.shared.u32 %w, [%s]; st.global.u32 [%a], %w;",
                  shared_bytes);
  return Module(fmt::format(
      R"(
.version 8.6
.target sm_100
.address_size 64
.extern .shared .align 1024 .b8 tile[];
.visible .entry k(.param .align 64 .b8 m[128], .param .u64 out, .param .u64 global, .param .u32 bytes, .param .u32 first, .param .align 4 .b8 at[32]) {{
  .shared .align 8 .b64 bar;
  .reg .b64 %map, %out, %global, %a, %wide, %state; .reg .b32 %tile, %bar, %bytes, %i, %s, %w, %c<5>; .reg .b16 %o<3>; .reg .pred %p;
  mov.b64 %map, m; cvta.param.u64 %map, %map;
  ld.param.u64 %out, [out]; ld.param.u64 %global, [global]; ld.param.u32 %bytes, [bytes]; ld.param.u32 %i, [first];
  ld.param.u32 %c0, [at]; ld.param.u32 %c1, [at+4]; ld.param.u32 %c2, [at+8]; ld.param.u32 %c3, [at+12]; ld.param.u32 %c4, [at+16];
  ld.param.u16 %o0, [at+20]; ld.param.u16 %o1, [at+22]; ld.param.u16 %o2, [at+24];
  mov.u32 %tile, tile; mov.u32 %bar, bar;
  mbarrier.init.shared.b64 [%bar], 1;
  {}
  add.u32 %tile, %tile, %i;
  {}
  sub.u32 %tile, %tile, %i;
  {}
  ret;
}}
)",
      stores ? move + "    ld.param.u32 %i, [first]; fence.proxy.async;" : "mbarrier.arrive.expect_tx.shared.b64 %state, [%bar], %bytes;",
      issue,
      stores ? "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
             : "wait: mbarrier.try_wait.parity.shared.b64 %p, [%bar], 0; @!%p bra wait;" + move));
}

struct Copy {
  std::optional<TensorMap::Arguments> map;
  std::string issue;
  warpmat_bulk_copy described;  ///< shared and global are offsets
};

std::vector<warpmat_memory_access> listed(const warpmat_bulk_copy& copy) {
  auto error = sized<warpmat_error>();
  std::size_t count = 0;
  const warpmat_status status = warpmat_bulk_accesses(&copy, nullptr, 0, &count, &error);
  INFO(error.message);
  REQUIRE(status == WARPMAT_OK);
  std::vector<warpmat_memory_access> all(count);
  REQUIRE(warpmat_bulk_accesses(&copy, all.data(), all.size(), &count, &error) == WARPMAT_OK);
  REQUIRE(count == all.size());
  return all;
}

/// Launches the copy, and compares with its list.
void compare(const Copy& copy, std::mt19937_64& random) {
  const bool stores = copy.described.stores != 0;
  DeviceMemory memory;
  const std::uint64_t tensor = memory.allocate(global_bytes, "tensor"), out = memory.allocate(shared_bytes, "out");
  std::vector<std::uint8_t> global(global_bytes), shared(shared_bytes, 0);
  for (std::uint8_t& byte : global) byte = static_cast<std::uint8_t>(random());
  if (stores)
    for (std::uint8_t& byte : shared) byte = static_cast<std::uint8_t>(random());
  std::ranges::copy(global, memory.bytes(tensor, global_bytes).begin());
  std::ranges::copy(shared, memory.bytes(out, shared_bytes).begin());
  std::optional<TensorMap> map;
  if (copy.map) {
    TensorMap::Arguments placed = *copy.map;
    placed.address = tensor;
    map.emplace(placed);
  }
  const TensorMap::Encoded encoded = map ? map->encode() : TensorMap::Encoded{};
  std::array<std::uint8_t, 32> at{};
  std::memcpy(at.data(), copy.described.coordinates, 20);
  std::memcpy(at.data() + 20, copy.described.offsets, 6);
  const std::uint32_t bytes = static_cast<std::uint32_t>(map ? map->box_bytes() : copy.described.bytes);
  const Kernel kernel(copying(copy.issue, stores), "k");
  Written written;
  Told told;
  auto callbacks = sized<warpmat_observer>();
  callbacks.user = &told;
  callbacks.bulk = note_copy;
  c::CallbackObserver in_c(callbacks);
  auto before_bulk = sized<warpmat_observer>();
  before_bulk.size = offsetof(warpmat_observer, bulk);  // of an older program
  before_bulk.bulk = refuse_copy;
  c::CallbackObserver older(before_bulk);
  LaunchOptions options;
  options.observers = {&written, &in_c, &older};
  options.checks = {.uninitialised = false, .copies = false};  // words are copied out that no copy has written
  launch(kernel, {.shared_bytes = shared_bytes}, memory,
         {Argument(encoded), out, tensor + copy.described.global, bytes, copy.described.shared, Argument(at)}, options);
  REQUIRE(written.issued == 1);

  warpmat_bulk_copy described = copy.described;
  described.size = sizeof described;
  described.map = copy.map ? encoded.data() : nullptr;
  described.global += tensor;
  CHECK((told.issued == 1 && told.copy.stores == described.stores && told.copy.rank == 0));
  CHECK(std::ranges::equal(told.copy.coordinates, described.coordinates));
  CHECK(std::ranges::equal(told.copy.offsets, described.offsets));
  CHECK(std::ranges::equal(told.map, copy.map ? std::vector(encoded.begin(), encoded.end()) : std::vector<std::uint8_t>{}));
  if (!copy.map) CHECK((told.copy.global == described.global && told.copy.bytes == described.bytes));
  if (stores) CHECK((written.read && told.copy.shared == written.read->offset));
  std::vector<std::uint64_t> expected;  // bytes of shared memory
  std::optional<warpmat_memory_access> read;
  for (const warpmat_memory_access& access : listed(described)) {
    CHECK(access.place.lane == -1);
    if (access.write == 0) {
      CHECK((access.space == WARPMAT_SPACE_SHARED) == stores);
      read = access;
      continue;
    }
    if (read)
      CHECK((read->bytes == access.bytes && read->element.row == access.element.row && read->element.column == access.element.column));
    if (stores) {
      REQUIRE(read);
      std::memcpy(global.data() + (access.address - tensor), shared.data() + read->address, access.bytes);
    } else {
      CHECK(access.space == WARPMAT_SPACE_SHARED);
      if (read) std::memcpy(shared.data() + access.address, global.data() + (read->address - tensor), access.bytes);
      for (std::uint32_t i = 0; i < access.bytes; ++i) expected.push_back(access.address + i);
    }
    read.reset();
  }
  // The memories after the launch, and the bytes of shared memory that the machine has written, each once. It tells a swizzled line as one.
  std::vector<std::uint8_t> after(global_bytes), tile(shared_bytes);
  std::ranges::copy(memory.bytes(tensor, global_bytes), after.begin());
  std::ranges::copy(memory.bytes(out, shared_bytes), tile.begin());
  CHECK((after == global));
  CHECK((tile == shared));
  if (stores) return;
  const std::uint64_t origin = told.copy.shared - described.shared;
  std::vector<std::uint64_t> bytes_written;
  for (const machine::SharedRange& part : written.parts)
    for (std::uint64_t i = 0; i < part.bytes; ++i) bytes_written.push_back(part.offset + i - origin);
  std::ranges::sort(bytes_written);
  std::ranges::sort(expected);
  CHECK((bytes_written == expected));
}

std::string tensor_issue(std::uint32_t rank, bool stores, bool im2col) {
  std::string at, offsets;
  for (std::uint32_t i = 0; i < rank; ++i) at += fmt::format("{}%c{}", i == 0 ? "" : ", ", i);
  for (std::uint32_t i = 0; im2col && i + 2 < rank; ++i) offsets += fmt::format("{}%o{}", i == 0 ? "" : ", ", i);
  const std::string mode = im2col ? stores ? ".im2col_no_offs" : ".im2col" : ".tile";
  if (stores) return fmt::format("cp.async.bulk.tensor.{}d.global.shared::cta{}.bulk_group [%map, {{{}}}], [%tile];", rank, mode, at);
  return fmt::format("cp.async.bulk.tensor.{}d.shared::cluster.global{}.mbarrier::complete_tx::bytes [%tile], [%map, {{{}}}], [%bar]{};",
                     rank, mode, at, im2col ? ", {" + offsets + "}" : "");
}

/// A map as a program might make it, of any type, rank, interleave, swizzle and element strides; not all are valid. It fills with zeros,
/// as the shared memory is before the copy.
TensorMap::Arguments random_map(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  TensorMap::Arguments map;
  using enum TensorMap::Type;
  map.type = std::array{u8, u16, u32, s64, f16, f32, f64, bf16, u4x16, u4x16_p64, u6x16_p32}[below(11)];  // whose bits a copy keeps
  map.rank = 1 + below(5);
  const bool padded = map.type == u4x16_p64 || map.type == u6x16_p32;  // these take 128 elements, and no slices
  if (!padded) map.interleave = static_cast<TensorMap::Interleave>(below(3));
  map.set_swizzle(static_cast<int>(below(TensorMap::swizzle_numbers)));
  std::uint64_t stride = 32 * (1 + below(4));
  for (std::size_t i = 0; i < map.rank; ++i) {
    map.dims[i] = i > 0 ? 1 + below(6) : padded ? 128 * (1 + below(2)) : 8 * (1 + below(16));
    map.box[i] = i > 0 ? 1 + below(4) : padded ? 128 : 8 * (1 + below(16));
    if (i > 0) map.element_strides[i] = 1 + below(3);
    if (i + 1 < map.rank) map.strides[i] = stride;
    stride *= 1 + below(6);
  }
  if (below(3) != 0 || map.rank < 3) return map;
  map.mode = TensorMap::Mode::im2col;
  map.box = {};
  map.channels = 8 * (1 + below(8));
  map.pixels = 1 + below(20);
  for (std::size_t i = 0; i + 2 < map.rank; ++i) {
    map.lower_corner[i] = -static_cast<std::int32_t>(below(3));
    map.upper_corner[i] = -static_cast<std::int32_t>(below(3));
  }
  return map;
}

/// The bytes that a map's tensor occupies.
std::uint64_t tensor_bytes(const TensorMap& map) {
  std::uint64_t bytes = map.dims()[0] * map.unit_bits() / 8 + 32;
  for (std::size_t i = 0; i + 1 < map.rank(); ++i) bytes += (map.dims()[i + 1] - 1) * map.strides()[i];
  return bytes;
}

TEST_CASE("C: the accesses of random tensor copies are those of the machine", "[c][accesses]") {
  std::mt19937_64 random(38);
  int compared = 0, im2col = 0, interleaved = 0, strided = 0, packed = 0;
  for (int i = 0; i < 100000 && compared < 1000; ++i) {
    const TensorMap::Arguments arguments = random_map(random);
    if (TensorMap::problem(arguments)) continue;
    const TensorMap map(arguments);
    if (tensor_bytes(map) > global_bytes || map.shared_bytes() > shared_bytes - 1024) continue;
    Copy copy{arguments, {}, {}};
    const bool is_im2col = map.mode() == TensorMap::Mode::im2col, stores = random() % 2 != 0;
    copy.described.stores = stores;
    copy.described.shared = 1024;
    for (std::size_t d = 0; d < map.rank(); ++d)
      copy.described.coordinates[d] = static_cast<std::int32_t>(random() % 8) * (d == 0 ? 16 : 1) - (stores ? 0 : 2) * (d == 0 ? 16 : 1);
    for (std::size_t d = 0; is_im2col && !stores && d + 2 < map.rank(); ++d)
      copy.described.offsets[d] = static_cast<std::uint16_t>(random() % 3);
    const TensorMap::Encoded encoded = map.encode();
    warpmat_bulk_copy tried = copy.described;
    tried.size = sizeof tried;
    tried.map = encoded.data();
    std::size_t count = 0;
    if (warpmat_bulk_accesses(&tried, nullptr, 0, &count, nullptr) != WARPMAT_OK) continue;
    copy.issue = tensor_issue(map.rank(), stores, is_im2col);
    CAPTURE(copy.issue, name(map.type()), arguments.swizzle_number(), static_cast<int>(map.interleave()), map.dims(), map.box(),
            map.element_strides());
    compare(copy, random);
    ++compared;
    im2col += is_im2col;
    interleaved += map.interleave() != TensorMap::Interleave::none;
    strided += std::ranges::any_of(map.element_strides(), [](std::uint32_t s) { return s > 1; });
    packed += map.chunk_bytes() < 16;
  }
  CAPTURE(compared, im2col, interleaved, strided, packed);
  CHECK((compared == 1000 && im2col > 10 && interleaved > 10 && strided > 10 && packed > 10));
}

TEST_CASE("C: the accesses of a linear bulk copy are one read and one write", "[c][accesses]") {
  std::mt19937_64 random(37);
  for (const bool stores : {false, true}) {
    Copy copy{std::nullopt,
              stores ? "cp.async.bulk.global.shared::cta.bulk_group [%global], [%tile], %bytes;"
                     : "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%global], %bytes, [%bar];",
              {}};
    copy.described.stores = stores;
    copy.described.global = 480;
    copy.described.shared = 64;
    copy.described.bytes = 4096;
    compare(copy, random);
  }
}

TEST_CASE("C: bulk accesses that the hardware refuses are refused with the reason", "[c][accesses]") {
  auto error = sized<warpmat_error>();
  std::size_t count = 0;
  warpmat_bulk_copy copy{};
  const auto message = [&] {
    CHECK(warpmat_bulk_accesses(&copy, nullptr, 0, &count, &error) == WARPMAT_BAD_ARGUMENT);
    return std::string(error.message);
  };
  CHECK(message() == "copy->size is not that of a warpmat_bulk_copy");
  copy.size = sizeof copy;
  copy.bytes = 8;
  CHECK(message() == "8 bytes are copied: a multiple of 16");
  copy.bytes = 32;
  copy.shared = 8;
  CHECK(message() == "both addresses are multiples of 16");
  TensorMap::Encoded encoded =
      TensorMap({.type = TensorMap::Type::u16, .rank = 2, .address = 4096, .dims = {40, 9}, .strides = {96}, .box = {16, 4}}).encode();
  copy.map = encoded.data();
  CHECK(message() == "the address in shared memory is a multiple of 128");
  copy.shared = 128;
  copy.coordinates[0] = 3;
  CHECK(message() == "coordinate 3 of dimension 0: elements of 16 bits are copied from multiples of 16 bytes on");
  copy.coordinates[0] = -8;
  copy.stores = 1;
  CHECK(message() == "coordinate -8 of dimension 0: stores take none below 0");
  encoded.fill(0);
  CHECK(message() == "the 128 bytes are no tensor map of warpmat; a GPU's are others: warpmat_tensor_map_encode");
  CHECK(warpmat_bulk_accesses(nullptr, nullptr, 0, &count, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_bulk_accesses(&copy, nullptr, 0, nullptr, &error) == WARPMAT_BAD_ARGUMENT);
}

}  // namespace
}  // namespace warpmat::bulk_accesses_test
