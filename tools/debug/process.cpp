#include "tools/debug/process.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include <fmt/core.h>

namespace warpmat::debug {
namespace {

bool write_all(int file, const void* from, std::size_t bytes) {
  const char* at = static_cast<const char*>(from);
  while (bytes != 0) {
    const ssize_t written = ::send(file, at, bytes, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written, bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

bool read_all(int file, void* to, std::size_t bytes) {
  char* at = static_cast<char*>(to);
  while (bytes != 0) {
    const ssize_t read = ::recv(file, at, bytes, 0);
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) return false;
    at += read, bytes -= static_cast<std::size_t>(read);
  }
  return true;
}

}  // namespace

void Channel::send(const Json& message) const {
  const std::string text = message.dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto bytes = static_cast<std::uint32_t>(text.size());
  if (write_all(file_, &bytes, sizeof bytes)) static_cast<void>(write_all(file_, text.data(), text.size()));
}

std::optional<Json> Channel::receive() const {
  std::uint32_t bytes = 0;
  if (!read_all(file_, &bytes, sizeof bytes)) return std::nullopt;
  std::string text(bytes, '\0');
  if (!read_all(file_, text.data(), bytes)) return std::nullopt;
  return Json::parse(text);
}

Connections::Connections() {
  void* const memory = mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw std::runtime_error(fmt::format("cannot share memory with the debugged process: {}", std::strerror(errno)));
  shared_ = new (memory) SharedState;
  for (std::size_t i = 0; i <= grid_checkpoints + near_checkpoints; ++i) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw std::runtime_error(fmt::format("cannot connect to the debugged process: {}", std::strerror(errno)));
    debuggers_.push_back(ends[0]);
    debuggees_.push_back(ends[1]);
  }
}

Connections::~Connections() {
  close_debuggers();
  for (const int file : debuggees_) close(file);
  munmap(shared_, sizeof(SharedState));
}

void Connections::close_debuggers() {
  for (const int file : debuggers_) close(file);
  debuggers_.clear();
}

}  // namespace warpmat::debug
