// Compiles a kernel with the header as a program does at run time: nvrtc KERNEL INCLUDE_FOLDER ARCHITECTURE.

#include <nvrtc.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

int main(int, char** arguments) {
  std::ifstream in(arguments[1]);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const std::string include = std::string("-I") + arguments[2], architecture = std::string("-arch=") + arguments[3];
  const char* const options[] = {"-std=c++17", include.c_str(), architecture.c_str()};
  nvrtcProgram program = nullptr;
  if (nvrtcCreateProgram(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS) return 1;
  const nvrtcResult result = nvrtcCompileProgram(program, 3, options);
  std::size_t size = 0;
  nvrtcGetProgramLogSize(program, &size);
  std::string log(size, '\0');
  nvrtcGetProgramLog(program, log.data());
  std::printf("%s: %s\n%s\n", arguments[3], nvrtcGetErrorString(result), log.c_str());
  return result == NVRTC_SUCCESS && !text.empty() ? 0 : 1;
}
