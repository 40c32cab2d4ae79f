#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "hand_over.h"

namespace warpmat {
namespace {

struct IdentifyOptions {
  std::string d, a, b, bias, formats, cards;
};

/// The command line of the Python module, which searches.
std::vector<std::string> words_of(const IdentifyOptions& options) {
  std::vector<std::string> words{"identify", options.d, options.a, options.b};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  };
  add("--bias", options.bias);
  add("--formats", options.formats);
  add("--cards", options.cards);
  return words;
}

constexpr const char* identify_footer =
    R"(Every arithmetic of the cards is tried, with the orders along K that libraries have: split-K, tiles, promotion. What gives all bits is named; of all
others it says the nearest order, with an element that refutes it. The exit status is 0 if something gives D, 1 if nothing does.
The Python module searches: python3-warpmat, or what tools/build makes.

Examples:
  warpmat identify d.npy a.npy b.npy
  warpmat identify d.npy a.npy b.npy --formats bf16,e4m3,e4m3 --cards H100,B200)";

}  // namespace

void add_identify(Command app) {
  const auto options = std::make_shared<IdentifyOptions>();
  const Command command =
      app.add_subcommand("identify", "Whose bits a product has: the card, the instruction and the order of K that give D = A B");
  command.add_option("D", options->d, "The result as it was stored, m x n").type_name("D.npy").required();
  command.add_option("A", options->a, "The first factor, m x k").type_name("A.npy").required();
  command.add_option("B", options->b, "The second factor, k x n").type_name("B.npy").required();
  command.add_option("--bias", options->bias, "n numbers that were added in f32 before D was stored").type_name("FILE.npy");
  command.add_option("--formats", options->formats, "Formats of files whose elements are bit patterns (uint8, uint16)").type_name("D,A,B");
  command.add_option("--cards", options->cards, "Cards or targets that come into question (default: all)").type_name("NAMES");
  command.footer(identify_footer);
  command.callback([options] { hand_over_to_python(words_of(*options)); });
}

}  // namespace warpmat
