#pragma once

// What accesses of all kinds have in common: where their lanes' bytes are, whether these are good, and stores lane by lane.

#include <cstddef>
#include <cstdint>

#include <warpmat/machine_code/writer.h>

namespace warpmat::machine_code {

using code::Access;
using code::KnownMemory;
constexpr int vector_bytes = 64;
constexpr std::int64_t largest_shared = 1 << 24;  // offsets of addresses

inline x86::Mem field(const x86::Gp& base, std::size_t offset, std::uint32_t size) {
  return x86::Mem(base, static_cast<std::int32_t>(offset), size);
}

inline RegisterClass address_class(const Access& access) {
  return access.narrow_address ? RegisterClass::word : RegisterClass::wide;
}

inline bool is_load(const Writer& w) {
  return w.operation().semantics == catalogue::Semantics::load;
}

inline void note_store(Writer& w) {
  w.a().mov(field(context, offsetof(CodeContext, stored), 4), 1);
}

/// The bytes of a lane: a power of two.
inline std::int32_t lane_bytes(const Access& access) {
  return access.bytes * access.vector;
}

/// Of what is known of the memory that the operation accesses (KnownMemory), the member at `offset`.
x86::Mem known_memory(Writer& w, std::size_t offset);
/// zmm0 to zmm3: the lanes' offsets in the buffer at rcx, or in local memory from there on, where all that execute are inside and aligned.
void find_wide_offsets(Writer& w, const Access& access, const Rows& addresses, const asmjit::Label& otherwise);
/// The element of the source in lane edx.
x86::Mem element_of(Writer& w, int source, std::uint32_t register_bits, std::uint32_t bytes);
/// Stores lane by lane at rcx + the offsets of zmm0 to zmm3. Lanes may have one place.
void store_each_global(Writer& w, const Access& access);
/// zmm0, zmm1: each lane's offset in shared memory. edx: the largest that is inside.
void find_shared_offsets(Writer& w, const Access& access, const Rows& addresses, const asmjit::Label& otherwise);
/// Jumps where an offset of a lane that executes is beyond edx or not aligned, and to `fresh` where its bytes may not be accessed without
/// telling.
void check_lanes(Writer& w, const Access& access, const asmjit::Label& otherwise, const asmjit::Label& fresh);
/// The same where all lanes execute, and their bytes lie one lane's behind another's from offset ecx on. Stores initialise bytes that are
/// not, where the block lets them. Clobbers eax, edx, zmm2 and zmm3.
void check_consecutive(Writer& w, const Access& access, const asmjit::Label& otherwise);
/// Stores lane by lane at the offsets of zmm0 and zmm1, which check_lanes() has found good. At `fresh` come those whose bytes the map does
/// not have yet: the stores enter them where the block is one of those that let them.
void store_each_shared(Writer& w, const Access& access, const asmjit::Label& fresh, const asmjit::Label& otherwise);

}  // namespace warpmat::machine_code
