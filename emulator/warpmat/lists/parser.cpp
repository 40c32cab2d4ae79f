#include <warpmat/program.h>

#include <string>
#include <utility>

#include <warpmat/lower/resolve_list.h>

namespace warpmat {

Program parse(std::string_view text, std::string_view target_name) {
  const Target* const given = target_name.empty() ? nullptr : &target(target_name);
  return code::resolve_list(syntax::parse_list(std::string(text)), given);
}

}  // namespace warpmat
