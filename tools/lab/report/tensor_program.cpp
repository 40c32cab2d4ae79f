#include "tools/lab/report/tensor_program.h"

#include <algorithm>
#include <cstddef>

#include <fmt/core.h>

namespace warpmat {
namespace {

// What asks, in the program. The tables of questions and PTX stand before it.
constexpr const char* host_text = R"host(
static bool failed(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return false;
  const char* text = "an unknown error";
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what, text);
  return true;
}

static std::vector<unsigned> image(size_t words, bool numbered, const Word* list, size_t count) {
  std::vector<unsigned> all(words);
  for (size_t i = 0; numbered && i < words; ++i) all[i] = (unsigned(i) + 1) * 0x9e3779b1u;
  for (size_t i = 0; i < count; ++i) all[list[i].index] = list[i].word;
  return all;
}

static void change(std::vector<unsigned>& words, const Word* list, size_t count) {
  for (size_t i = 0; i < count; ++i) words[list[i].index] = list[i].word;
}

struct Buffers {
  CUdeviceptr tiles, before, after;
};

// All words of tensor memory after the question's kernel; none after an error.
static std::vector<unsigned> ask(CUmodule module, const Question& q, const Buffers& buffers) {
  char name[32];
  std::snprintf(name, sizeof name, "ask_%d", q.entry);
  CUfunction function;
  if (failed(cuModuleGetFunction(&function, module, name), name)) return {};
  const std::vector<unsigned> tiles = image(size_t(q.blocks) * tile_words, q.numbered, q.tile, q.tile_count);
  std::vector<unsigned> words = image(size_t(q.blocks) * memory_words, q.numbered, q.before, q.before_count);
  Buffers b = buffers;
  unsigned long long a_descriptor = q.a, b_descriptor = q.b;
  unsigned product = q.product;
  void* arguments[] = {&b.tiles, &b.before, &b.after, &a_descriptor, &b_descriptor, &product};
  if (failed(cuMemcpyHtoD(b.tiles, tiles.data(), tiles.size() * 4), "cuMemcpyHtoD") ||
      failed(cuMemcpyHtoD(b.before, words.data(), words.size() * 4), "cuMemcpyHtoD") ||
      failed(cuLaunchKernel(function, q.blocks, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr), name) ||
      failed(cuCtxSynchronize(), name) || failed(cuMemcpyDtoH(words.data(), b.after, words.size() * 4), "cuMemcpyDtoH"))
    return {};
  return words;
}

enum Verdict { as_tables, as_alternative, as_neither };
static const char* const verdict_names[] = {"as the tables", "as the alternative", "as neither"};

int main(int count, char** arguments) {
  const char* const file_name = count > 1 ? arguments[1] : "tcgen05_answers.txt";
  CUdevice device;
  CUcontext context;
  int major = 0, minor = 0, driver = 0;
  char card[256] = "";
  if (failed(cuInit(0), "cuInit") || failed(cuDeviceGet(&device, 0), "cuDeviceGet")) return 77;
  cuDeviceGetName(card, sizeof card, device);
  cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  cuDriverGetVersion(&driver);
  if (major != 10 || minor != 0) {
    std::fprintf(stderr, "%s has compute capability %d.%d; these questions are for 10.0, such as a B200\n", card, major, minor);
    return 77;
  }
  CUmodule module;
  Buffers buffers;
  if (failed(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain") || failed(cuCtxSetCurrent(context), "cuCtxSetCurrent"))
    return 1;
  std::string text;
  for (const char* piece : ptx) text += piece;
  if (failed(cuModuleLoadData(&module, text.c_str()), "cuModuleLoadData") || failed(cuMemAlloc(&buffers.tiles, 8 * tile_words), "cuMemAlloc") ||
      failed(cuMemAlloc(&buffers.before, 8 * memory_words), "cuMemAlloc") || failed(cuMemAlloc(&buffers.after, 8 * memory_words), "cuMemAlloc"))
    return 1;
  std::FILE* const file = std::fopen(file_name, "w");
  if (file == nullptr) {
    std::fprintf(stderr, "cannot write %s\n", file_name);
    return 1;
  }
  std::fprintf(file, "# %s, driver %d\n# question\tverdict\tblock lane column got tables alternative ...\n", card, driver);
  int verdicts[3] = {};
  for (const Question& q : questions) {
    const std::vector<unsigned> got = ask(module, q, buffers);
    if (got.empty()) return 1;
    std::vector<unsigned> tables = image(got.size(), q.numbered, q.before, q.before_count);
    change(tables, q.after, q.after_count);
    std::vector<unsigned> alternative = tables;
    change(alternative, q.otherwise, q.otherwise_count);
    const Verdict verdict = got == tables ? as_tables : q.otherwise_count != 0 && got == alternative ? as_alternative : as_neither;
    ++verdicts[verdict];
    std::fprintf(file, "%s\t%s", q.text, verdict_names[verdict]);
    for (size_t i = 0; i < got.size(); ++i)
      if (got[i] != tables[i])
        std::fprintf(file, "\t%d %d %d %08x %08x %08x", int(i / memory_words), int(i / 512 % 128), int(i % 512), got[i], tables[i], alternative[i]);
    std::fprintf(file, "\n");
    if (verdict != as_tables) std::printf("%s: %s\n", q.text, verdict_names[verdict]);
  }
  const bool written = std::fclose(file) == 0;
  std::printf("%s: %d questions as the tables, %d as the alternative, %d as neither; %s has all\n", card, verdicts[as_tables],
              verdicts[as_alternative], verdicts[as_neither], file_name);
  return !written || verdicts[as_alternative] + verdicts[as_neither] != 0 ? 1 : 0;
}
)host";

constexpr const char* head_text =
    R"(// Questions about tcgen05 for a card of compute capability 10.0, such as a B200. Made by '{command}'.
//
//   nvcc -o tcgen05 {file} -lcuda && ./tcgen05
//
// Each question is one launch. The program says which the card answers as the tables of warpmat do, and which as an alternative: another
// rule of the arithmetic, whose name stands behind the colon. The file tcgen05_answers.txt has every answer. It is worth sending whatever
// it says: issues of the project take it.

#include <cuda.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

)";

std::string list_text(const char* name, std::size_t number, const std::vector<ListedWord>& list) {
  if (list.empty()) return "";
  std::string text = fmt::format("static const Word {}_{}[] = {{", name, number);
  for (std::size_t i = 0; i < list.size(); ++i)
    text += fmt::format("{}{{{},{:#x}}}", i == 0 ? "" : i % 12 == 0 ? ",\n" : ",", list[i].index, list[i].word);
  return text + "};\n";
}

std::string list_name(const char* name, std::size_t number, const std::vector<ListedWord>& list) {
  return list.empty() ? "nullptr, 0" : fmt::format("{}_{}, {}", name, number, list.size());
}

}  // namespace

std::string tensor_program(const std::vector<TensorQuestion>& questions, const std::string& file, const std::string& command) {
  std::vector<TensorEntry> entries;
  std::string lists, table;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const TensorQuestion& q = questions[i];
    const auto found = std::ranges::find(entries, q.entry);
    const auto entry = found - entries.begin();
    if (found == entries.end()) entries.push_back(q.entry);
    lists += list_text("tile", i, q.tile) + list_text("before", i, q.before) + list_text("after", i, q.after) +
             list_text("otherwise", i, q.otherwise);
    table += fmt::format("    {{\"{}{}{}\", {}, {}, {}, {:#x}u, {:#x}ull, {:#x}ull, {}, {}, {}, {}}},\n", q.subject,
                         q.alternative.empty() ? "" : ": ", q.alternative, entry, q.entry.group, q.numbered, q.product, q.a, q.b,
                         list_name("tile", i, q.tile), list_name("before", i, q.before), list_name("after", i, q.after),
                         list_name("otherwise", i, q.otherwise));
  }
  std::string text = fmt::format(head_text, fmt::arg("file", file), fmt::arg("command", command));
  text += fmt::format("constexpr size_t tile_words = {}, memory_words = {};\n\nstatic const char* const ptx[] = {{\n",
                      TensorQuestion::tile_words, TensorQuestion::memory_words);
  text += "R\"ptx(.version 9.0\n.target sm_100a\n.address_size 64\n)ptx\",\n";
  for (std::size_t i = 0; i < entries.size(); ++i) text += fmt::format("R\"ptx({})ptx\",\n", entries[i].text(fmt::format("ask_{}", i)));
  text += R"(};

struct Word {
  unsigned index, word;
};
struct Question {
  const char* text;
  int entry, blocks;
  bool numbered;
  unsigned product;
  unsigned long long a, b;
  const Word* tile;
  size_t tile_count;
  const Word* before;
  size_t before_count;
  const Word* after;
  size_t after_count;
  const Word* otherwise;
  size_t otherwise_count;
};
)";
  return text + lists + "static const Question questions[] = {\n" + table + "};\n" + host_text;
}

}  // namespace warpmat
