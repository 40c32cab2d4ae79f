#include "gpu/recordings/limit.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

namespace warpmat {
namespace {

/// An example of a recording: the index of its answers, and its index among theirs.
struct ExamplePlace {
  std::size_t answers, example;
};

/// All examples, the most valuable first: those that contradict the emulator; then one of each form, of different classes; then a second of
/// each form, of the next class; and so on.
std::vector<ExamplePlace> by_worth(const Recording& recording) {
  std::map<std::string, std::size_t> forms;                 // numbers, in the order of the recording
  std::map<std::string, std::vector<std::size_t>> classes;  // places of a form's answers
  for (std::size_t i = 0; i < recording.answers.size(); ++i) {
    forms.emplace(recording.answers[i].opcode, forms.size());
    classes[recording.answers[i].opcode].push_back(i);
  }
  std::vector<std::tuple<bool, std::size_t, std::size_t, std::size_t, std::size_t>> ranked;
  for (const auto& [opcode, places] : classes)
    for (std::size_t nth = 0; nth < places.size(); ++nth) {
      const Answers& answers = recording.answers[places[nth]];
      const std::size_t turn = (nth + forms[opcode]) % places.size();  // each form begins with another class
      for (std::size_t e = 0; e < answers.examples.size(); ++e) ranked.emplace_back(answers.example_warps.empty(), e, turn, places[nth], e);
    }
  std::ranges::sort(ranked);
  std::vector<ExamplePlace> all;
  for (const auto& [agrees, nth, turn, answers, example] : ranked) all.push_back({answers, example});
  return all;
}

/// `whole` with only the first `count` examples in `order`. Examples of one set of answers are in ascending order.
Recording with(const Recording& whole, const std::vector<ExamplePlace>& order, std::size_t count) {
  Recording some = whole;
  for (Answers& answers : some.answers) answers.examples.clear();
  for (const ExamplePlace& place : std::span(order).first(count))
    some.answers[place.answers].examples.push_back(whole.answers[place.answers].examples[place.example]);
  for (Answers& answers : some.answers)
    if (!answers.example_warps.empty()) answers.example_warps.resize(answers.examples.size());
  return some;
}

}  // namespace

std::size_t limit_size(Recording& recording, std::size_t max_bytes) {
  const std::size_t whole = encode(recording).size();
  if (whole <= max_bytes) return 0;
  const std::vector<ExamplePlace> order = by_worth(recording);
  const auto size_with = [&](std::size_t count) { return encode(with(recording, order, count)).size(); };
  std::size_t fits = 0, size = size_with(0), too_many = order.size(), too_large = whole;
  if (size > max_bytes)
    throw std::runtime_error(fmt::format("the limit of {} bytes is too small: without any example the file has {}", max_bytes, size));
  while (too_many - fits > 1 && max_bytes - size > max_bytes / 100) {  // the next example takes about as much as the previous one
    const std::size_t guess = fits + (too_many - fits) * (max_bytes - size) / (too_large - size);
    const std::size_t tried = std::clamp(guess, fits + 1, too_many - 1), its_size = size_with(tried);
    const bool small_enough = its_size <= max_bytes;
    (small_enough ? fits : too_many) = tried;
    (small_enough ? size : too_large) = its_size;
  }
  recording = with(recording, order, fits);
  return order.size() - fits;
}

}  // namespace warpmat
