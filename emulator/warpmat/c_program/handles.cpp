#include <warpmat/c_program/handles.h>

#include <fmt/core.h>

#include <warpmat/tables/unknown_target.h>

namespace warpmat::c {

warpmat_status report_any(warpmat_error* to) {
  try {
    throw;
  } catch (const Trap& trap) {
    return report(to, trap_error(trap));
  } catch (const SyntaxError& syntax) {
    return report(to, syntax_error(syntax));
  } catch (const UnknownTarget& unknown) {
    return report(to, WARPMAT_UNKNOWN_TARGET, unknown.what());
  } catch (const std::invalid_argument& wrong) {
    return report(to, WARPMAT_BAD_ARGUMENT, wrong.what());
  } catch (const std::out_of_range& wrong) {
    return report(to, WARPMAT_OUT_OF_RANGE, wrong.what());
  } catch (const MemoryLimit& limit) {
    return report(to, WARPMAT_NO_MEMORY, limit.what());
  } catch (const std::length_error&) {
    return report(to, WARPMAT_NO_MEMORY, "out of memory");
  } catch (...) {
    return report_exception(to);
  }
}

void need(const void* pointer, const char* what) {
  if (pointer == nullptr) throw std::invalid_argument(fmt::format("{} is null", what));
}

void bad_size(const char* what) {
  throw std::invalid_argument(fmt::format("the size of {} is not that of its struct", what));
}

void need_known_flags(unsigned flags, unsigned known) {
  if ((flags & ~known) != 0) throw std::invalid_argument(fmt::format("flags {:#x} are not known", flags & ~known));
}

}  // namespace warpmat::c
