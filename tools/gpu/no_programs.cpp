// In place of recorded_program.cpp and compared_archive.cpp in a build without libzstd or liblz4.

#include <stdexcept>

#include "compared_archive.h"
#include "recorded_program.h"

namespace warpmat {
namespace {

[[noreturn]] void refuse() {
  throw std::runtime_error("this warpmat was built without libzstd or liblz4, which the launches of programs need");
}

}  // namespace

void add_recording_flags(Command, RecordedProgramOptions&) {}
int record_program(const RecordedProgramOptions&, const std::filesystem::path&) {
  refuse();
}
void add_comparing_flags(Command, CompareArchiveOptions&) {}
bool holds_launches(const std::filesystem::path&) {
  return false;
}
void compare_archive(const std::filesystem::path&, const CompareArchiveOptions&) {
  refuse();
}

}  // namespace warpmat
