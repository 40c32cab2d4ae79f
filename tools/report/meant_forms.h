#pragma once

#include <warpmat/forms.h>
#include <warpmat/wgmma.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warpmat {

/// The forms that a spelling may mean, in the tables' order.
struct MeantForms {
  std::vector<const Form*> warp;            ///< of one warp
  std::vector<const WgmmaForm*> warpgroup;  ///< wgmma

  std::size_t size() const { return warp.size() + warpgroup.size(); }
  std::string opcode() const { return warp.empty() ? warpgroup.front()->opcode : warp.front()->opcode; }  ///< of the first
};

/// How SASS names the machine instructions that `form` becomes, on `only` or on all targets that have it.
std::set<std::string> machine_names(const Form& form, const Target* only);

/// An opcode of PTX means one form. The name of a machine instruction (HMMA.16816.F32, any GPU's, also without its last parts) means those
/// that become it. Some qualifiers in any order (mma.m16n8k32.e4m3) mean all forms that have them, dense ones where .sp is not among them.
MeantForms forms_meant(std::string_view spelling);

/// Throws std::invalid_argument for a slip in the name of a machine instruction, which has capitals, with the nearest name.
void refuse_machine_name(std::string_view spelling);

/// The opcode that a spelling means where one is asked for. Of forms that differ in their accumulators alone, the one with the widest is
/// meant, which `note` says. A spelling without a form comes back as it is. Throws std::invalid_argument that lists forms, where several
/// are left.
std::string opcode_meant(const std::string& spelling, std::string& note);

/// The same with the note on standard error.
std::string opcode_meant(const std::string& spelling);

}  // namespace warpmat
