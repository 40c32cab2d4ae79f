#include <warpmat/assembler/cubin.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

namespace warpmat {
namespace {

// ELF of 64 bits, little-endian (System V ABI), and the line number program of DWARF 2 (section 6.2).

/// Bytes that are read one after another. Throws beyond their end.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes, std::size_t at = 0) : bytes_(bytes), at_(at) {}

  template <typename T>
  T take() {
    T value{};
    std::memcpy(&value, span(sizeof value).data(), sizeof value);
    return value;
  }

  std::string_view span(std::size_t count) {
    if (at_ > bytes_.size() || count > bytes_.size() - at_) throw std::runtime_error("ptxas's object file ends too early");
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }

  std::uint64_t take_unsigned() { return take_number(false); }
  std::int64_t take_signed() { return static_cast<std::int64_t>(take_number(true)); }

  std::string_view take_text() {
    const std::size_t end = bytes_.find('\0', at_);
    if (end == std::string_view::npos) throw std::runtime_error("ptxas's object file has a name without an end");
    const std::string_view text = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }

  std::size_t at() const { return at_; }
  bool ended(std::size_t end) const { return at_ >= end; }

 private:
  /// LEB128.
  std::uint64_t take_number(bool is_signed) {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = take<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80) != 0) continue;
      if (is_signed && (byte & 0x40) != 0 && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
      return value;
    }
  }

  std::string_view bytes_;
  std::size_t at_;
};

struct Section {
  std::string_view name, bytes;
  std::uint32_t type;
};

constexpr std::uint32_t nobits = 8, with_addends = 4;

std::vector<Section> sections_of(std::string_view file) {
  if (file.substr(0, 5) != std::string_view("\177ELF\2", 5)) throw std::runtime_error("what ptxas wrote is no ELF file of 64 bits");
  const auto table = Bytes(file, 0x28).take<std::uint64_t>();
  Bytes header(file, 0x3a);
  const auto size = header.take<std::uint16_t>(), count = header.take<std::uint16_t>(), names = header.take<std::uint16_t>();
  struct Header {
    std::uint32_t name, type;
    std::uint64_t flags, address, offset, size;
  };
  const auto header_of = [&](std::size_t index) { return Bytes(file, table + index * size).take<Header>(); };
  const auto span_of = [&](const Header& h) { return h.type == nobits ? std::string_view{} : Bytes(file, h.offset).span(h.size); };
  const std::string_view all_names = span_of(header_of(names));
  std::vector<Section> sections;
  for (std::size_t i = 0; i < count; ++i) {
    const Header h = header_of(i);
    sections.push_back({Bytes(all_names, h.name).take_text(), span_of(h), h.type});
  }
  return sections;
}

const Section* find_section(const std::vector<Section>& sections, std::string_view name) {
  const auto found = std::ranges::find(sections, name, &Section::name);
  return found == sections.end() ? nullptr : &*found;
}

/// A place in a function: the number of its section, and the address within it.
using CodePlace = std::pair<std::size_t, std::uint64_t>;

/// The meaning of the addresses in .debug_line, by their offset there.
std::map<std::size_t, CodePlace> relocations_of(const std::vector<Section>& sections) {
  std::map<std::size_t, CodePlace> relocations;
  const Section* symbols = find_section(sections, ".symtab");
  for (const std::string_view name : {".rela.debug_line", ".rel.debug_line"}) {
    const Section* table = find_section(sections, name);
    if (table == nullptr || symbols == nullptr) continue;
    for (Bytes bytes(table->bytes); !bytes.ended(table->bytes.size());) {
      const auto at = bytes.take<std::uint64_t>(), info = bytes.take<std::uint64_t>();
      const std::uint64_t addend = table->type == with_addends ? bytes.take<std::uint64_t>() : 0;
      Bytes symbol(symbols->bytes, (info >> 32) * 24 + 6);
      const std::size_t section = symbol.take<std::uint16_t>();
      relocations[at] = {section, symbol.take<std::uint64_t>() + addend};
    }
  }
  return relocations;
}

/// Runs the line number programs of .debug_line.
class LineReader {
 public:
  LineReader(std::string_view bytes, std::map<std::size_t, CodePlace> relocations)
      : bytes_(bytes), all_(bytes), relocations_(std::move(relocations)) {}

  /// By section, the lines of addresses from each on.
  std::map<std::size_t, std::map<std::uint64_t, int>> run() {
    while (!bytes_.ended(all_.size())) unit();
    return std::move(lines_);
  }

 private:
  struct Header {
    std::uint8_t shortest, is_statement;
    std::int8_t line_base;
    std::uint8_t line_range, first_special;
  };

  void unit() {
    const auto length = bytes_.take<std::uint32_t>();
    const std::size_t end = bytes_.at() + length;
    bytes_.take<std::uint16_t>();  // the version
    const auto header_length = bytes_.take<std::uint32_t>();
    const std::size_t program = bytes_.at() + header_length;
    header_ = bytes_.take<Header>();
    if (header_.line_range == 0 || header_.first_special == 0) throw std::runtime_error("ptxas's line information has no ranges");
    operands_.clear();
    for (int i = 1; i < header_.first_special; ++i) operands_.push_back(bytes_.take<std::uint8_t>());
    bytes_ = Bytes(all_, program);
    place_ = {};
    line_ = 1;
    while (!bytes_.ended(end)) step();
  }

  void add_row() { lines_[place_.first][place_.second] = static_cast<int>(line_); }

  void step() {
    const auto opcode = bytes_.take<std::uint8_t>();
    if (opcode >= header_.first_special) {
      const int adjusted = opcode - header_.first_special;
      place_.second += static_cast<std::uint64_t>(adjusted / header_.line_range) * header_.shortest;
      line_ += static_cast<std::uint64_t>(header_.line_base + adjusted % header_.line_range);
      return add_row();
    }
    switch (opcode) {
      case 0: return extended();
      case 1: return add_row();                                                    // DW_LNS_copy
      case 2: place_.second += bytes_.take_unsigned() * header_.shortest; return;  // DW_LNS_advance_pc
      case 3: line_ += static_cast<std::uint64_t>(bytes_.take_signed()); return;   // DW_LNS_advance_line
      case 8: place_.second += static_cast<std::uint64_t>((255 - header_.first_special) / header_.line_range) * header_.shortest; return;
      case 9: place_.second += bytes_.take<std::uint16_t>(); return;  // DW_LNS_fixed_advance_pc
      default:
        for (int i = 0; i < operands_[opcode - 1U]; ++i) bytes_.take_unsigned();
    }
  }

  void extended() {
    const std::string_view body = bytes_.span(bytes_.take_unsigned());
    const char opcode = body.empty() ? '\0' : body[0];
    if (opcode == 1) {  // DW_LNE_end_sequence
      place_ = {};
      line_ = 1;
    } else if (opcode == 2) {  // DW_LNE_set_address
      const auto relocation = relocations_.find(bytes_.at() - body.size() + 1);
      if (relocation != relocations_.end()) place_ = relocation->second;
    }
  }

  Bytes bytes_;
  std::string_view all_;
  std::map<std::size_t, CodePlace> relocations_;
  Header header_{};
  std::vector<std::uint8_t> operands_;  ///< how many each standard opcode has
  CodePlace place_;
  std::uint64_t line_ = 1;  ///< modulo 2^64, as a damaged file may count
  std::map<std::size_t, std::map<std::uint64_t, int>> lines_;
};

}  // namespace

std::vector<MachineFunction> read_cubin(std::string_view bytes) {
  const std::vector<Section> sections = sections_of(bytes);
  const Section* debug = find_section(sections, ".debug_line");
  auto lines = LineReader(debug == nullptr ? std::string_view{} : debug->bytes, relocations_of(sections)).run();
  std::vector<MachineFunction> functions;
  constexpr std::string_view prefix = ".text.";
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (!sections[i].name.starts_with(prefix)) continue;
    MachineFunction function{std::string(sections[i].name.substr(prefix.size())), {}};
    const std::map<std::uint64_t, int>& rows = lines[i];
    for (Bytes code(sections[i].bytes); !code.ended(sections[i].bytes.size());) {
      const auto row = rows.upper_bound(code.at());
      const int line = row == rows.begin() ? 0 : std::prev(row)->second;
      const auto low = code.take<std::uint64_t>(), high = code.take<std::uint64_t>();
      function.instructions.push_back({low, high, line});
    }
    functions.push_back(std::move(function));
  }
  return functions;
}

}  // namespace warpmat
