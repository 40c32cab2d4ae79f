#include <warpmat/c/entry.h>

#include <algorithm>
#include <cstring>

namespace warpmat::c {

warpmat_status status_of(Trap::Kind kind) {
  switch (kind) {
    case Trap::Kind::misuse: return WARPMAT_MISUSE;
    case Trap::Kind::undefined: return WARPMAT_UNDEFINED;
    case Trap::Kind::misaligned: return WARPMAT_MISALIGNED;
    case Trap::Kind::out_of_range: return WARPMAT_OUT_OF_RANGE;
    case Trap::Kind::unwritten: return WARPMAT_UNWRITTEN;
    case Trap::Kind::unordered: return WARPMAT_UNORDERED;
    case Trap::Kind::deadlock: return WARPMAT_DEADLOCK;
    case Trap::Kind::limit: return WARPMAT_LIMIT;
    case Trap::Kind::stopped: return WARPMAT_STOPPED;
    case Trap::Kind::mispaired: return WARPMAT_MISPAIRED;
    case Trap::Kind::refused: return WARPMAT_REFUSED;
  }
  return WARPMAT_INTERNAL;
}

warpmat_error plain_error(warpmat_status status, std::string_view message) {
  warpmat_error error{};
  error.status = status;
  error.lane = error.operand = -1;
  message.copy(error.message, sizeof error.message - 1);
  return error;
}

warpmat_error trap_error(const Trap& trap) {
  warpmat_error error = plain_error(status_of(trap.kind), trap.what());
  const Trap::Site& site = trap.site;
  error.lane = site.lane;
  error.line = site.line;
  error.operand = site.operand ? static_cast<int>(*site.operand) : -1;
  error.warp = static_cast<std::size_t>(site.warp);
  error.block[0] = site.block.x;
  error.block[1] = site.block.y;
  error.block[2] = site.block.z;
  error.address = trap.address.value_or(0);
  return error;
}

warpmat_status report(warpmat_error* to, const warpmat_error& error) {
  if (to != nullptr && to->size > offsetof(warpmat_error, message)) {
    copy_out(error, to);
    const std::size_t available = std::min(to->size - offsetof(warpmat_error, message), sizeof to->message);
    to->message[available - 1] = '\0';
  }
  return error.status;
}

warpmat_status report_exception(warpmat_error* to) {
  try {
    throw;
  } catch (const Trap& trap) {
    return report(to, trap_error(trap));
  } catch (const std::bad_alloc&) {
    return report(to, WARPMAT_NO_MEMORY, "out of memory");
  } catch (const std::exception& exception) {
    return report(to, WARPMAT_INTERNAL, exception.what());
  } catch (...) {
    return report(to, WARPMAT_INTERNAL, "an exception that is no std::exception, perhaps of a callback");
  }
}

}  // namespace warpmat::c
