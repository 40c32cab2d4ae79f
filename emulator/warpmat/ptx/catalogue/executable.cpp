#include <warpmat/ptx/catalogue/executable.h>

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

#include <warpmat/formats.h>
#include <warpmat/ptx/catalogue/video_selectors.h>
#include <warpmat/scalar/small_float.h>
#include <warpmat/text.h>

namespace warpmat::catalogue {
namespace {

using scalar::Combine;
using scalar::Modifiers;
using enum scalar::Outcome;

/// What a qualifier means to kernels.
struct Meaning {
  Qualifier qualifier;
  void (*apply)(Modifiers&);
};

template <Rounding rounding, bool integral = false>
void round(Modifiers& m) {
  m.rounding = rounding;
  m.integral = integral;
}

template <int outcomes>
void compare(Modifiers& m) {
  m.outcomes = static_cast<std::uint8_t>(outcomes);
}

template <bool Modifiers::*flag>
void set(Modifiers& m) {
  m.*flag = true;
}

template <Combine combine>
void combine_by(Modifiers& m) {
  m.combine = combine;
}

constexpr int not_equal = is_less | is_greater;

// The meaning of each qualifier, at any place. Qualifiers that select a kernel or only a type are not here.
constexpr std::array meanings{
    Meaning{".rn", round<Rounding::nearest_even>},
    Meaning{".rz", round<Rounding::toward_zero>},
    Meaning{".rm", round<Rounding::down>},
    Meaning{".rp", round<Rounding::up>},
    Meaning{".rni", round<Rounding::nearest_even, true>},
    Meaning{".rzi", round<Rounding::toward_zero, true>},
    Meaning{".rmi", round<Rounding::down, true>},
    Meaning{".rpi", round<Rounding::up, true>},
    Meaning{".ftz", set<&Modifiers::ftz>},
    Meaning{".sat", set<&Modifiers::saturate>},
    Meaning{".satfinite", set<&Modifiers::finite>},
    Meaning{".relu", set<&Modifiers::relu>},
    Meaning{".NaN", set<&Modifiers::nan>},
    Meaning{".abs", set<&Modifiers::absolute>},
    Meaning{".xorsign", set<&Modifiers::xor_sign>},
    Meaning{".oob", set<&Modifiers::out_of_bounds>},
    Meaning{".cc", set<&Modifiers::carry_out>},
    Meaning{".wrap", set<&Modifiers::wrap>},
    Meaning{".and", combine_by<Combine::conjunction>},
    Meaning{".or", combine_by<Combine::disjunction>},
    Meaning{".xor", combine_by<Combine::exclusive>},
    Meaning{".eq", compare<is_equal>},
    Meaning{".ne", compare<not_equal>},
    Meaning{".lt", compare<is_less>},
    Meaning{".le", compare<is_less | is_equal>},
    Meaning{".gt", compare<is_greater>},
    Meaning{".ge", compare<is_greater | is_equal>},
    Meaning{".lo", compare<is_less>},
    Meaning{".ls", compare<is_less | is_equal>},
    Meaning{".hi", compare<is_greater>},
    Meaning{".hs", compare<is_greater | is_equal>},
    Meaning{".equ", compare<is_unordered | is_equal>},
    Meaning{".neu", compare<is_unordered | not_equal>},
    Meaning{".ltu", compare<is_unordered | is_less>},
    Meaning{".leu", compare<is_unordered | is_less | is_equal>},
    Meaning{".gtu", compare<is_unordered | is_greater>},
    Meaning{".geu", compare<is_unordered | is_greater | is_equal>},
    Meaning{".num", compare<not_equal | is_equal>},
    Meaning{".nan", compare<is_unordered>},
};

/// The value of one element of set's result if the comparison is true, by the result's type.
std::uint32_t true_value(const DataType& type) {
  if (type.format == Format::f32) return 0x3f800000;
  if (type.format == Format::f16) return 0x3c00;
  if (type.format == Format::bf16) return 0x3f80;
  return type.bits == 16 ? 0xffff : 0xffffffff;
}

/// The format of up to 19 bits of a conversion: the destination's, or the source's for packed formats converted to f16x2.
scalar::SmallFloat conversion_format(const Match& match) {
  for (const DataType* type : std::span(match.types).subspan(match.pattern->row.format_from)) {
    if (!type->format || *type->format == Format::ue8m0) continue;  // ue8m0 has its own kernels
    const FormatRow& format = row(*type->format);
    if (format.bits - format.ignored_low_bits <= 19) return scalar::small_float(format.format, type->bits / type->elements);
  }
  return {};
}

std::string kernel_name(const Match& match) {
  std::string name = match.pattern->row.kernel;
  for (const auto& [letter, i] : {std::pair{'T', 0}, std::pair{'U', 1}})
    for (std::size_t at = name.find('.'); at != std::string::npos; at = name.find('.', at + 1))
      if (at + 1 < name.size() && name[at + 1] == letter) name.replace(at + 1, 1, match.types.at(static_cast<std::size_t>(i))->name);
  return name;
}

}  // namespace

Executable executable(const Match& match) {
  const std::string name = kernel_name(match);
  Executable found{scalar::find_kernel(name), {}};
  if (found.function == nullptr)
    throw std::logic_error(format_text("row {} names the kernel {}, which does not exist", match.pattern->row.opcode, name));
  for (const Meaning& meaning : meanings)
    if (match.has(meaning.qualifier)) meaning.apply(found.modifiers);
  found.modifiers.carry_in = match.has_trait(trait::carries);
  if (is_video(match)) found.modifiers.video = video_modifiers(match);
  if (match.is(Name::set)) found.modifiers.true_value = true_value(*match.types.front());
  if (match.is(Name::cvt)) found.modifiers.format = conversion_format(match);
  return found;
}

}  // namespace warpmat::catalogue
