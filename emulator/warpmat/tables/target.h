#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <warpmat/export.h>

namespace warpmat {

/// The chip generation. Targets that differ only in their suffix (sm_90, sm_90a) have the same hardware.
enum class Hardware : std::uint8_t {
  sm_70,
  sm_75,
  sm_80,
  sm_86,
  sm_87,
  sm_88,
  sm_89,
  sm_90,
  sm_100,
  sm_103,
  sm_110,
  sm_120,
  sm_121,
};

/// A version of the PTX language, as `.version` names it.
struct PtxVersion {
  int major = 0, minor = 0;
  friend constexpr auto operator<=>(const PtxVersion&, const PtxVersion&) = default;
};

/// The newest version whose rules the tables follow: PTX ISA 9.1.
WARPMAT_LOCAL inline constexpr PtxVersion newest_ptx{9, 1};

/// A `.target`: a hardware and the features that the program may use.
struct Target {
  /// Features beyond the baseline: none ("sm_100"), those of the family ("sm_100f"), or those of this architecture ("sm_100a").
  enum class Features : std::uint8_t { baseline, family, architecture };

  std::string_view name;  ///< "sm_90a"
  int number;             ///< 90: orders the baselines
  int family;             ///< of sm_Nf and sm_Na targets: the number of the oldest target of the family, else 0
  Hardware hardware;
  Features features;
  PtxVersion since;  ///< the first PTX version that knows the target (PTX ISA section 11.1.2)

  friend bool operator==(const Target&, const Target&) = default;
};

/// All targets, oldest first.
[[nodiscard]] WARPMAT_API std::span<const Target> targets();

/// The target of that name, or nullptr.
[[nodiscard]] WARPMAT_API const Target* find_target(std::string_view name);

/// The target of the table that equals `target`; its address is permanent. nullptr if `target` is not a copy of one.
[[nodiscard]] WARPMAT_API const Target* listed(const Target& target);

/// The target `name`. Throws std::invalid_argument for an unknown name; the message lists the targets.
[[nodiscard]] WARPMAT_API const Target& target(std::string_view name);

/// "sm_90".
[[nodiscard]] WARPMAT_API std::string_view name(Hardware hardware);

/// "7.8".
[[nodiscard]] WARPMAT_API std::string to_string(PtxVersion version);

/// The evidence for the bits of a form on a hardware.
enum class Evidence : std::uint8_t {
  assumed,    ///< deduced from neighbouring generations; no source says so
  published,  ///< literature only
  replayed,   ///< compared bit for bit with published outputs of that hardware
  measured,   ///< compared bit for bit with that hardware by this project
};

[[nodiscard]] WARPMAT_API std::string_view name(Evidence evidence);

}  // namespace warpmat
