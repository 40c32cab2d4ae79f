#include "gpu/cases/cases.h"
#include "gpu/cases/operand_sites.h"

#include <fmt/core.h>
#include <warpmat/text.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

namespace warpmat {
namespace {

using std::uint64_t;

// ---- The program --------------------------------------------------------------------------------------------------------------------

constexpr std::uint32_t row_bytes = Form::row_bytes;
constexpr std::uint32_t memory_rows = 64;  // twice what one instruction addresses

// wmma.load and wmma.store: 32 rows of 32 bytes with up to as much padding between them, or fewer and longer rows, from one of several
// addresses on.
constexpr std::uint32_t largest_matrix = 2048, max_padding = 32, first_addresses = 256;

std::uint32_t memory_bytes(const Form& form) {
  return moves_matrix(form) ? largest_matrix + first_addresses : row_bytes * memory_rows;
}

bool addresses_memory(const Form& form) {
  return std::ranges::any_of(form.operands, [](const Operand& o) { return o.kind == OperandKind::address; });
}

/// An instruction that addresses memory and writes no register writes memory.
bool stores(const Form& form) {
  return addresses_memory(form) && std::ranges::none_of(form.operands, [](const Operand& o) { return o.written; });
}

/// The register `number` of an operand: "%scale_a0".
std::string register_name(const Operand& operand, int number) {
  std::string text = fmt::format("%{}{}", name(operand.name), number);
  std::ranges::replace(text, '-', '_');
  return text;
}

bool has_registers(const Operand& operand) {
  return operand.kind == OperandKind::fragment || operand.kind == OperandKind::address || operand.kind == OperandKind::stride;
}

std::string declaration(const Operand& operand) {
  if (!has_registers(operand)) return {};
  const int bits = operand.kind == OperandKind::fragment ? operand.fragment.register_bits() : 32;
  std::string text;
  for (int i = 0; i < operand.registers(); ++i) text += fmt::format(".reg .b{} {};\n", bits, register_name(operand, i));
  return text;
}

/// The number of selector values that the ISA defines; ptxas accepts more for some forms.
int defined_selectors(const Form& form) {
  return form.operand(OperandName::e).fragment.matrices();
}

/// The number of byte-ids that the form's scale vector allows.
int byte_ids(const Form& form) {
  return 4 / form.scale_vector;
}

/// {byte-id, thread-id}: number `variant` of those that the form's scale vector allows.
std::string ids_text(const Form& form, const Operand& operand, int variant) {
  return fmt::format("{{{}, {}}}", variant % byte_ids(form) * form.scale_vector, variant / byte_ids(form) % operand.choices);
}

std::string operand_text(const Form& form, const Operand& operand, int variant) {
  if (operand.kind == OperandKind::selector) return std::to_string(variant % defined_selectors(form));
  if (operand.kind == OperandKind::ids) return ids_text(form, operand, variant);
  std::vector<std::string> registers;
  for (int i = 0; i < operand.registers(); ++i) registers.push_back(register_name(operand, i));
  const std::string list = joined(registers, ", ");
  if (operand.kind == OperandKind::address) return "[" + list + "]";
  return operand.in_braces && operand.kind == OperandKind::fragment ? "{" + list + "}" : list;
}

// ---- Keys ---------------------------------------------------------------------------------------------------------------------------

/// A number for each register, lane and bit of an operand. Together with the operand's key it makes the key of a place.
uint64_t place_index(std::size_t reg, std::size_t lane, std::size_t bit = 0) {
  return (reg * warp_size + lane) * 64 + bit;
}

// ---- Registers ----------------------------------------------------------------------------------------------------------------------

/// The registers of one operand in one warp, as its words.
using Words = std::span<Register* const>;

void fill_random(Words words, uint64_t operand_key) {
  for (std::size_t word = 0; word < words.size(); ++word)
    for (std::size_t lane = 0; lane < warp_size; ++lane)
      (*words[word])[lane] = static_cast<std::uint32_t>(Random(combine(operand_key, place_index(word, lane))).next());
}

void fill_metadata(Register& metadata, const Form& form, uint64_t operand_key) {
  for (int lane = 0; lane < warp_size; ++lane) metadata[static_cast<std::size_t>(lane)] = random_metadata(form, operand_key, lane);
}

/// Draws the elements of one operand. Made once for many warps, because finding neighbours is slow.
class ElementFiller {
 public:
  ElementFiller(const Form& form, const Operand& operand, const ProductFormats& product, const OperandClass& operand_class)
      : fragment_(operand.fragment), class_(operand_class), product_(product), sites_(form, operand, product_) {
    find_places();
  }

  ElementFiller(const ElementFiller&) = delete;
  ElementFiller& operator=(const ElementFiller&) = delete;

  void fill(Words words, uint64_t warp_key, uint64_t operand_key) {
    ElementSite& site = sites_.site();
    site.warp_key = warp_key;
    for (Register* word : words) word->fill(0);
    for (const PlacedElement& element : elements_) {
      site.key = combine(operand_key, element.index);
      site.neighbours_key = combine(operand_key, element.neighbours_index);
      sites_.move_to(element.row, element.column);
      const uint64_t bits = class_.element(site) << (element.bit + static_cast<std::size_t>(fragment_.payload_shift()));
      (*words[element.word])[element.lane] |= static_cast<std::uint32_t>(bits);
      if (fragment_.register_bits() == 64) (*words[element.word + 1])[element.lane] |= static_cast<std::uint32_t>(bits >> 32);
    }
  }

 private:
  struct PlacedElement {
    std::size_t word, lane, bit;
    uint64_t index, neighbours_index;  ///< place_index of the element, and of the first of its neighbours along K
    int row, column;                   ///< in its matrix; further matrices continue the count
  };

  void find_places() {
    const std::size_t words_a_register = static_cast<std::size_t>(fragment_.register_bits()) / 32;
    for (int reg = 0; reg < fragment_.registers(); ++reg)
      for (int lane = 0; lane < warp_size; ++lane)
        for (int bit = 0; bit + fragment_.element_bits() <= fragment_.register_bits(); bit += fragment_.element_bits()) {
          const Place place{lane, reg, bit};
          const Element element = fragment_.element(place);
          const int row = element.row + element.matrix * fragment_.rows(), column = element.column + element.matrix * fragment_.columns();
          elements_.push_back({static_cast<std::size_t>(reg) * words_a_register, static_cast<std::size_t>(lane),
                               static_cast<std::size_t>(bit), index_of(place), index_of(first_neighbour(place)), row, column});
        }
  }

  static uint64_t index_of(const Place& place) {
    return place_index(static_cast<std::size_t>(place.reg), static_cast<std::size_t>(place.lane), static_cast<std::size_t>(place.bit));
  }

  Place first_neighbour(const Place& place) const {
    Element element = fragment_.element(place);
    (sites_.along_rows() ? element.row : element.column) -= sites_.behind_first(element.row, element.column);
    return fragment_.place(element);
  }

  Fragment fragment_;
  const OperandClass& class_;
  ProductFormats product_;
  OperandSites sites_;
  std::vector<PlacedElement> elements_;
};

// ---- Addresses ----------------------------------------------------------------------------------------------------------------------

void fill_addresses(Register& addresses, const Form& form, const Target& target, std::uint32_t memory, uint64_t operand_key) {
  std::array<std::uint32_t, memory_rows> rows;
  std::iota(rows.begin(), rows.end(), 0u);
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    Random random(combine(operand_key, place_index(0, lane)));
    const std::size_t rest = rows.size() - lane;
    std::uint32_t& chosen = rows[lane + random.below(rest)];
    if (stores(form)) std::swap(rows[lane], chosen);  // excludes rows already chosen
    addresses[lane] = memory + row_bytes * (stores(form) ? rows[lane] : static_cast<std::uint32_t>(random.below(memory_rows)));
    const bool ignored = lane >= static_cast<std::size_t>(form.rows_in_memory());
    if (ignored && !find_lowering(form, target.hardware)->exceptions.checks_all_addresses)
      addresses[lane] = static_cast<std::uint32_t>(random.next());
  }
}

/// The same address in all lanes.
void fill_matrix_address(Register& addresses, const Form& form, std::uint32_t memory, uint64_t operand_key) {
  const auto alignment = static_cast<std::uint32_t>(form.memory_alignment());
  addresses.fill(memory + alignment * static_cast<std::uint32_t>(Random(operand_key).below(first_addresses / alignment)));
}

/// Sets the same stride in all lanes: that of adjacent rows, or with some bytes between them.
void fill_stride(Register& strides, const Form& form, uint64_t operand_key) {
  const auto alignment = static_cast<std::uint32_t>(form.memory_alignment()), bits = static_cast<std::uint32_t>(form.memory_bits);
  const auto padding = alignment * static_cast<std::uint32_t>(Random(operand_key).below(max_padding / alignment + 1));
  strides.fill(static_cast<std::uint32_t>(form.leading_dimension()) + padding * 8 / bits);
}

// ---- Warps --------------------------------------------------------------------------------------------------------------------------

std::vector<Register*> words_of(const OperandText& text, std::span<Register> registers) {
  std::vector<Register*> words;
  for (const Item& item : text.items)
    for (int i = 0; i < item.words; ++i) words.push_back(&registers[static_cast<std::size_t>(item.slot + i)]);
  return words;
}

void fill_memory(std::span<std::uint8_t> memory, uint64_t key) {
  constexpr std::size_t drawn_bytes = 8;
  for (std::size_t begin = 0; begin < memory.size(); begin += drawn_bytes) {
    uint64_t drawn = Random(combine(key, begin / drawn_bytes)).next();
    for (std::uint8_t& byte : memory.subspan(begin, std::min(drawn_bytes, memory.size() - begin))) {
      byte = static_cast<std::uint8_t>(drawn);
      drawn >>= 8;
    }
  }
}

/// Fills warps of one form and class.
class WarpFiller {
 public:
  WarpFiller(const Program& program, const Form& form, const OperandClass& operand_class, std::uint32_t shared_base)
      : program_(program), form_(form), random_only_(&operand_class == operand_classes().data()), product_(product_of(form)) {
    memory_ = shared_base + (program.variables().empty() ? 0 : static_cast<std::uint32_t>(program.variables().front().address));
    for (const Operand& operand : form.operands)
      fillers_.push_back(has_elements(operand) ? std::make_unique<ElementFiller>(form, operand, *product_, operand_class) : nullptr);
  }

  void fill(WarpStates& states, std::size_t warp, uint64_t warp_key) {
    constexpr uint64_t memory_index = 255;
    for (std::size_t i = 0; i < form_.operands.size(); ++i)
      if (has_registers(form_.operands[i]))
        fill_operand(i, words_of(program_.statements().front().operands()[i], states.registers_of(warp)), warp_key);
    fill_memory(states.shared_of(warp), combine(warp_key, memory_index));
  }

 private:
  bool has_elements(const Operand& operand) const {
    const bool random_bits = random_only_ && operand.fragment.payload_bits() == operand.fragment.element_bits();  // padding must be zero
    return product_ && !random_bits && !operand.written && operand.kind == OperandKind::fragment && operand.format;
  }

  void fill_operand(std::size_t index, const std::vector<Register*>& words, uint64_t warp_key) {
    const Operand& operand = form_.operands[index];
    const uint64_t operand_key = combine(warp_key, index);
    if (operand.kind == OperandKind::stride) return fill_stride(*words.front(), form_, operand_key);
    if (operand.kind == OperandKind::address && moves_matrix(form_))
      return fill_matrix_address(*words.front(), form_, memory_, operand_key);
    if (operand.kind == OperandKind::address) return fill_addresses(*words.front(), form_, *program_.target(), memory_, operand_key);
    if (operand.name == OperandName::e) return fill_metadata(*words.front(), form_, operand_key);
    if (fillers_[index] != nullptr) return fillers_[index]->fill(words, warp_key, operand_key);
    fill_random(words, operand_key);
  }

  const Program& program_;
  const Form& form_;
  bool random_only_;
  std::optional<ProductFormats> product_;
  std::uint32_t memory_;
  std::vector<std::unique_ptr<ElementFiller>> fillers_;  ///< by operand; none if its bits are random
};

}  // namespace

int variants(const Form& form) {
  int most = 1;
  for (const Operand& operand : form.operands) {
    if (operand.kind == OperandKind::selector) most = std::max(most, defined_selectors(form));
    if (operand.kind == OperandKind::ids) most = std::max(most, byte_ids(form) * operand.choices);
  }
  return most;
}

Program program_for(const Form& form, const Target& target, const OperandClass& operand_class, int variant) {
  if (const auto reason = unavailable(form, target)) throw std::invalid_argument(*reason);
  const PtxVersion version = std::max(form.requirement.ptx, target.since);
  std::string text = fmt::format(".version {}\n.target {}\n", to_string(version), target.name);
  if (addresses_memory(form)) text += fmt::format(".shared .align {} .b8 memory[{}];\n", row_bytes, memory_bytes(form));
  if (variant == class_variant) variant = static_cast<int>(&operand_class - operand_classes().data());
  std::vector<std::string> operands;
  for (const Operand& operand : form.operands) {
    text += declaration(operand);
    operands.push_back(operand_text(form, operand, variant));
  }
  return parse(text + fmt::format("{} {};\n", form.opcode, joined(operands, ", ")));
}

bool applies(const OperandClass& operand_class, const Form& form) {
  const auto product = product_of(form);
  return product ? operand_class.applies(*product) : &operand_class == operand_classes().data();
}

WarpStates make_case(const Program& program, const Form& form, const OperandClass& operand_class, std::uint64_t seed,
                     std::size_t first_warp, std::size_t warps, std::uint32_t shared_base) {
  WarpStates states(program, warps);
  WarpFiller filler(program, form_on(form, program.target()->hardware), operand_class, shared_base);
  const uint64_t key = combine(combine(seed, hash_name(form.opcode)), hash_name(operand_class.name));
  for (std::size_t i = 0; i < warps; ++i) filler.fill(states, i, combine(key, first_warp + i));
  return states;
}

std::vector<std::uint32_t> answer_words(const Program& program, const WarpStates& states, std::size_t warp) {
  const Statement& statement = program.statements().front();
  const Form& form = statement.matrix()->form();
  std::vector<std::uint32_t> words;
  for (std::size_t i = 0; i < form.operands.size(); ++i)
    if (form.operands[i].written)
      for (const Item& item : statement.operands()[i].items)
        for (int word = 0; word < item.words; ++word) {
          const Register& reg = states.registers_of(warp)[static_cast<std::size_t>(item.slot + word)];
          words.insert(words.end(), reg.begin(), reg.end());
        }
  if (!stores(form)) return words;
  const std::span<const std::uint8_t> memory = states.shared_of(warp);
  for (std::size_t i = 0; i + 4 <= memory.size(); i += 4)
    words.push_back(memory[i] | std::uint32_t{memory[i + 1]} << 8 | std::uint32_t{memory[i + 2]} << 16 |
                    std::uint32_t{memory[i + 3]} << 24);
  return words;
}

}  // namespace warpmat
