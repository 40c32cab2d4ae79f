#include "device/comparison.h"

#include <warpmat/execute/reference/execute.h>
#include <warpmat/forms.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "gpu/cases/cases.h"

namespace warpmat {
namespace {

std::vector<DeviceForm> all_device_forms() {
  std::vector<DeviceForm> all;
  for (const Form& form : forms())
    if (multiplies(form.mnemonic)) all.push_back({&form, nullptr});
  const std::size_t of_warps = all.size();
  for (const WgmmaForm& form : wgmma_forms())
    if (std::none_of(all.begin() + static_cast<std::ptrdiff_t>(of_warps), all.end(),
                     [&](const DeviceForm& f) { return f.form == form.tile; }))
      all.push_back({form.tile, &form});
  return all;
}

/// A target of `hardware` that has `form`. A product of a warpgroup may consist of tiles that sm_90 has not as instructions: any target
/// that has the tile.
const Target& target_with(const DeviceForm& of, Hardware hardware) {
  return *std::ranges::find_if(
      targets(), [&](const Target& t) { return (t.hardware == hardware || of.wgmma != nullptr) && !unavailable(*of.form, t); });
}

/// The registers of one warp's operands, as PTX lists them.
class Case {
 public:
  Case(const Program& program, const Form& form, WarpStates& states, std::size_t warp) {
    for (std::size_t i = 0; i < form.operands.size(); ++i) {
      const auto operand = static_cast<std::size_t>(form.operands[i].name);
      for (const Item& item : program.statements().front().operands()[i].items)
        for (int word = 0; word < (item.kind == Item::Kind::named ? item.words : 1); ++word)
          if (item.kind == Item::Kind::named)
            registers_[operand].push_back(states.registers_of(warp)[static_cast<std::size_t>(item.slot + word)].data());
          else
            registers_[operand].push_back(
                numbers_.emplace_back(std::vector<std::uint32_t>(warp_size, static_cast<std::uint32_t>(item.bits))).data());
    }
    for (std::size_t i = 0; i < registers_.size(); ++i) batch_.sources[i] = registers_[i];
    batch_.destination = registers_[static_cast<std::size_t>(OperandName::d)];
  }
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  const Batch& batch() const { return batch_; }

  /// All words of an operand, or none.
  std::vector<device::u32> words(OperandName operand) const {
    std::vector<device::u32> words;
    for (const std::uint32_t* const reg : registers_[static_cast<std::size_t>(operand)]) words.insert(words.end(), reg, reg + warp_size);
    return words;
  }

 private:
  std::array<std::vector<std::uint32_t*>, operand_name_count> registers_;
  std::vector<std::vector<std::uint32_t>> numbers_;
  Batch batch_;
};

/// The header's answer.
std::vector<device::u32> answer(const Form& form, const Case& from, DeviceProduct product) {
  const auto pointer = [](const std::vector<device::u32>& words) { return words.empty() ? nullptr : words.data(); };
  const auto a = from.words(OperandName::a), b = from.words(OperandName::b), c = from.words(OperandName::c), e = from.words(OperandName::e),
             scale_a = from.words(OperandName::scale_a), scale_b = from.words(OperandName::scale_b),
             selector = from.words(OperandName::selector), ids_a = from.words(OperandName::ids_a), ids_b = from.words(OperandName::ids_b);
  device::HostOperands operands{a.data(), b.data(), c.data(), pointer(e), pointer(scale_a), pointer(scale_b)};
  if (!selector.empty()) operands.selector = selector.front();
  const auto matrix = [&](OperandName ids_name, const std::vector<device::u32>& ids) {
    return static_cast<device::u32>(scale_matrix(form, ids_name, {ids.front(), ids.back()}));
  };
  if (!ids_a.empty()) operands.scales_a = matrix(OperandName::ids_a, ids_a);
  if (!ids_b.empty()) operands.scales_b = matrix(OperandName::ids_b, ids_b);
  std::vector<device::u32> d(static_cast<std::size_t>(form.operand(OperandName::d).words()) * warp_size);
  product(d.data(), operands);
  return d;
}

}  // namespace

DeviceForm device_form(int number) {
  static const std::vector<DeviceForm> all = all_device_forms();
  return all.at(static_cast<std::size_t>(number));
}

void compare_with_reference(int number, Hardware hardware, DeviceProduct product, std::size_t warps, DeviceComparison& comparison) {
  const DeviceForm of = device_form(number);
  const Form* const form = of.form;
  const WgmmaForm* const wgmma = of.wgmma;
  const Target& target = target_with(of, hardware);
  const Lowering& lowering = wgmma != nullptr ? lowering_of(*wgmma) : *find_lowering(*form, hardware);
  ++comparison.forms;
  for (const OperandClass& operand_class : operand_classes()) {
    if (!applies(operand_class, *form)) continue;
    for (int variant = 0; variant < variants(*form); ++variant) {
      const Program program = program_for(*form, target, operand_class, variant);
      WarpStates states = make_case(program, *form, operand_class, 1000 + static_cast<std::uint64_t>(number), 0, warps, 0);
      for (std::size_t warp = 0; warp < warps; ++warp) {
        const Case one(program, *form, states, warp);
        const std::vector<device::u32> found = answer(*form, one, product);
        execute(*form, lowering, one.batch(), {});
        const std::vector<device::u32> expected = one.words(OperandName::d);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          ++comparison.words;
          if (found[i] == expected[i]) continue;
          if (comparison.different++ == 0)
            comparison.first = fmt::format("{}{} as {}, class {}, warp {}, word {}, lane {}: {:#x} is expected, {:#x} found",
                                           wgmma != nullptr ? "tile of wgmma: " : "", form->opcode, name(hardware), operand_class.name,
                                           warp, i / warp_size, i % warp_size, expected[i], found[i]);
        }
      }
    }
  }
}

}  // namespace warpmat
