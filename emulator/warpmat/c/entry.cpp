#include <warpmat/c/entry.h>

#include <algorithm>
#include <cstring>

namespace warpmat::inline v0_1::c {
namespace {

warpmat_status status_of(OperandTrap::Kind kind) {
  switch (kind) {
    case OperandTrap::Kind::undefined: return WARPMAT_UNDEFINED;
    case OperandTrap::Kind::misaligned: return WARPMAT_MISALIGNED;
    case OperandTrap::Kind::out_of_range: return WARPMAT_OUT_OF_RANGE;
    case OperandTrap::Kind::refused: return WARPMAT_REFUSED;
  }
  return WARPMAT_INTERNAL;
}

}  // namespace

warpmat_error plain_error(warpmat_status status, std::string_view message) {
  warpmat_error error{};
  error.status = status;
  error.lane = error.operand = -1;
  message.copy(error.message, sizeof error.message - 1);
  return error;
}

warpmat_error trap_error(const OperandTrap& trap) {
  warpmat_error error = plain_error(status_of(trap.kind), trap.what());
  error.lane = trap.lane;
  error.operand = static_cast<int>(trap.operand);
  error.warp = trap.warp;
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
  } catch (const OperandTrap& trap) {
    return report(to, trap_error(trap));
  } catch (const std::bad_alloc&) {
    return report(to, WARPMAT_NO_MEMORY, "out of memory");
  } catch (const std::exception& exception) {
    return report(to, WARPMAT_INTERNAL, exception.what());
  } catch (...) {
    return report(to, WARPMAT_INTERNAL, "an exception that is no std::exception, perhaps of a callback");
  }
}

}  // namespace warpmat::inline v0_1::c
