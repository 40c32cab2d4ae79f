#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace warpmat::catalogue {

/// The instructions that something tells from others, by their mnemonics: names.inc. All others are `other`.
enum class Name : std::uint8_t {
  other,
#define WARPMAT_INSTRUCTION(name, mnemonic, traits) name,
#include <warpmat/ptx/catalogue/names.inc>
#undef WARPMAT_INSTRUCTION
};

/// The qualifiers that something asks for once the row is found. The compiler refuses others, and a test those that no row spells.
inline constexpr std::string_view asked_qualifiers = R"(
.1d .2d .3d .4d .5d .L2::cache_hint .NaN .a .a1d .a2d .abs .acc::f32 .acq_rel .acquire .acube .add .aligned .all .alloc .and .any .approx
.array_size .arrive .arrive_drop .ashift .async .b .b4x16_p64 .b6x16_p32 .b8x16 .ballot .bfly .block16 .box_dim .bulk .bulk_group .ca .cas .cc
.clamp .cluster .collector::a::fill .collector::a::use .commit .const .cp .cp_mask .cta .cta_group::2 .cube .cv .dealloc .dec .depth .down
.element_stride .elemtype .eq .equ .exch .expect_tx .fence::after_thread_sync .fence::before_thread_sync .fill_mode .fractional .ftz .full .g .ge
.geu .gl .global .global_address .global_dim .global_stride .gpu .grad .gt .gtu .height .hi .hs .idx .im2col .im2col::w .im2col::w::128
.im2col_no_offs .inc .init .interleave_layout .inval .kind::f16 .kind::f8f6f4 .kind::i8 .kind::mxf4 .kind::mxf8f6f4 .kind::tf32 .launch_dependents
.ld .ld_reduce .le .leu .level .lo .local .ls .lt .ltu .mask .max .min .mma .mmio .multicast::cluster .multicast::cluster::all .nan .ne .neu
.noComplete .noinc .normalized_coords .num .num_mipmap_levels .oob .or .pack::16b .param .param::entry .param::func .parity .po .popc .prefetch
.proxy .r .range .rank .read .red .reduce .relaxed .release .relinquish_alloc_permit .relu .replace .rm .rmi .rn .rni .rp .rpi .rz .rzi .sat
.satfinite .scale_vec::1X .scale_vec::2X .scale_vec::4X .shared .shared::cluster .shared::cta .shift .shr15 .shr7 .sp .st .swizzle_atomicity
.swizzle_mode .sync .sys .tensor .tensormap .tensormap::generic .test_wait .tile::gather4 .tile::scatter4 .to .try_wait .uni .unpack::16b .up .v2
.v4 .v8 .volatile .wait .wait::ld .wait::st .wait_all .width .wrap .ws .xor .xorsign .zero
)";

/// A number for the text of a qualifier. A test compares those of the rows' qualifiers with each other.
constexpr std::uint32_t qualifier_number(std::string_view text) {
  std::uint32_t number = 0x811c9dc5;
  for (const char c : text) number = (number ^ static_cast<std::uint8_t>(c)) * 0x01000193;
  return number;
}

/// A qualifier by its text with the dot. It stands for the number of the text.
class Qualifier {
 public:
  constexpr Qualifier() = default;
  consteval Qualifier(const char* text) : number_(qualifier_number(text)) {  // NOLINT: has(".ftz")
    if (!is_asked(text)) throw "asked_qualifiers lacks this one";
  }
  static constexpr Qualifier of(std::string_view text) {
    Qualifier qualifier;
    qualifier.number_ = qualifier_number(text);
    return qualifier;
  }
  constexpr std::uint32_t number() const { return number_; }
  friend constexpr auto operator<=>(const Qualifier&, const Qualifier&) = default;

 private:
  static consteval bool is_asked(std::string_view text) {
    constexpr std::string_view all = asked_qualifiers, spaces = " \n";
    for (std::size_t at = all.find(text); at != all.npos; at = all.find(text, at + 1))
      if (spaces.find(all[at - 1]) != spaces.npos && spaces.find(all[at + text.size()]) != spaces.npos) return true;
    return false;
  }

  std::uint32_t number_ = 0;
};

/// The qualifiers of an opcode.
class Qualifiers {
 public:
  static constexpr std::size_t most = 16;

  void add(Qualifier qualifier) {
    assert(count_ < most);
    all_[count_++] = qualifier;
    some_ |= bit(qualifier);
  }
  bool has(Qualifier qualifier) const {
    if ((some_ & bit(qualifier)) == 0) return false;  // most often
    return std::find(all_.begin(), all_.begin() + count_, qualifier) != all_.begin() + count_;
  }
  bool has_any(std::initializer_list<Qualifier> some) const {
    return std::ranges::any_of(some, [&](Qualifier each) { return has(each); });
  }

 private:
  static constexpr std::uint64_t bit(Qualifier qualifier) { return std::uint64_t{1} << qualifier.number() % 64; }

  std::uint64_t some_ = 0;  ///< a bit for each, which others may share
  std::array<Qualifier, most> all_{};
  std::uint32_t count_ = 0;
};

/// What passes and checks ask of an instruction as a whole: a set of bits.
using Traits = std::uint8_t;
namespace trait {
inline constexpr Traits none = 0;
inline constexpr Traits places_bytes = 1;     ///< where bytes come from depends on values: masks, amounts, selectors
inline constexpr Traits adds = 2;             ///< the result is a sum
inline constexpr Traits carries = 4;          ///< reads the carry that .cc left
inline constexpr Traits takes_addresses = 8;  ///< a variable as an operand means its address
}  // namespace trait

struct NameRow {
  Name name = Name::other;
  std::string_view mnemonic{};
  Traits traits = trait::none;

  bool has(Traits wanted) const { return (traits & wanted) != 0; }
};

/// The name with that mnemonic, or `other`.
Name find_name(std::string_view mnemonic);

/// What something asks for of an opcode: its instruction and its qualifiers.
struct Spelling {
  Name name = Name::other;
  Qualifiers qualifiers{};
};

/// Its row of names.inc; a row without traits for `other`.
const NameRow& row_of(Name name);

}  // namespace warpmat::catalogue
