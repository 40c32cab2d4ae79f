#pragma once

#include <exception>
#include <string>

namespace warpmat {

/// What `action` throws, or "nothing".
template <typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace warpmat
