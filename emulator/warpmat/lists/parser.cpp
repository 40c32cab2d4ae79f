#include <warpmat/program.h>

#include <string>
#include <utility>

#include <warpmat/lower/list_refusal.h>
#include <warpmat/lower/resolve_list.h>
#include <warpmat/ptx/syntax/list_parser.h>

namespace warpmat {

Program parse(std::string_view text, std::string_view target_name) {
  const Target* const given = target_name.empty() ? nullptr : &target(target_name);
  const auto is_known = [](std::string_view opcode) {
    if (find_form(opcode) != nullptr) return true;
    const auto match = catalogue::find_row(opcode);
    return match && code::list_refusal(*match).empty();
  };
  return code::resolve_list(syntax::parse_list(std::string(text), is_known), given);
}

}  // namespace warpmat
