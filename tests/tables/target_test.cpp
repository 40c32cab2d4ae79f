#include <warpmat/forms.h>
#include <warpmat/tables/hardware.h>

#include "test.h"

namespace warpmat::target_test {

TEST_CASE("targets are found by name, and their names say what they are") {
  std::set<std::string_view> names;
  for (const Target& t : targets()) {
    CAPTURE(t.name);
    CHECK(names.insert(t.name).second);
    CHECK(find_target(t.name) == &t);
    CHECK(&target(t.name) == &t);
    const char* suffix = t.features == Target::Features::architecture ? "a" : t.features == Target::Features::family ? "f" : "";
    CHECK(t.name == "sm_" + std::to_string(t.number) + suffix);
    CHECK(name(t.hardware) == "sm_" + std::to_string(t.number));
    CHECK(t.since <= newest_ptx);
  }
  CHECK(std::ranges::is_sorted(targets(), {}, &Target::number));
  for (const char* unknown : {"", "sm_", "sm_99", "SM_90", "sm_90b", "sm_80a", "90"}) {
    CHECK(find_target(unknown) == nullptr);
    CHECK_THROWS_AS(target(unknown), std::invalid_argument);
  }
}

TEST_CASE("a card's name is that of its target with all features") {
  for (const auto& [card, name] : {std::pair("H100", "sm_90a"), std::pair("NVIDIA GeForce RTX 4090", "sm_89"),
                                   std::pair("rtx4070ti", "sm_89"), std::pair("3080", "sm_86"), std::pair("a100", "sm_80"),
                                   std::pair("B200", "sm_100a"), std::pair("rtx 40", "sm_89"), std::pair("Jetson Thor", "sm_110a")}) {
    CAPTURE(card);
    REQUIRE(find_target_or_card(card) != nullptr);
    CHECK(find_target_or_card(card)->name == name);
    CHECK(find_target(card) == nullptr);  // PTX's .target is no card
    CHECK(target(card).name == name);
  }
  for (const Target& t : targets()) {
    CHECK(find_target_or_card(t.name) == &t);
    CHECK(!card_names(t.hardware).empty());
  }
  for (const char* none : {"", "rtx", "40", "h", "x100", "hopper", "sm_91", "rtx 99999"}) {
    CAPTURE(none);
    CHECK(find_target_or_card(none) == nullptr);
    CHECK_THROWS_AS(target(none), std::invalid_argument);
  }
}

TEST_CASE("launches differ by hardware as the Programming Guide says, and as an H200 places shared memory", "[tables]") {
  for (const Target& target : targets()) {
    INFO(target.name);
    const HardwareTraits traits = hardware_traits(target.number);
    CHECK(traits.clusters == (target.number >= 90));
    CHECK(traits.reserved_shared == (target.number >= 80 ? 1024 : 0));
    CHECK(traits.shared_base == (target.number >= 90 ? 1024 : 0));
  }
}

TEST_CASE("PTX versions are ordered by their parts") {
  CHECK(PtxVersion{7, 8} < PtxVersion{8, 0});
  CHECK(PtxVersion{7, 8} < PtxVersion{7, 10});
  CHECK(to_string(PtxVersion{7, 10}) == "7.10");
}

}  // namespace warpmat::target_test
