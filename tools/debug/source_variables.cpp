#include "tools/debug/source_variables.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <stdexcept>

#include <fmt/core.h>

namespace warpmat::debug {
namespace {

// The names of DWARF (version 4, section 7) that compilers use here.
namespace tag {
enum : std::uint64_t {
  array_type = 0x01,
  class_type = 0x02,
  enumeration_type = 0x04,
  formal_parameter = 0x05,
  member = 0x0d,
  pointer_type = 0x0f,
  reference_type = 0x10,
  structure_type = 0x13,
  typedef_type = 0x16,
  union_type = 0x17,
  inheritance = 0x1c,
  inlined_subroutine = 0x1d,
  subrange_type = 0x21,
  base_type = 0x24,
  const_type = 0x26,
  enumerator = 0x28,
  subprogram = 0x2e,
  variable = 0x34,
  volatile_type = 0x35,
  restrict_type = 0x37,
  rvalue_reference_type = 0x42,
};
}
namespace at {
enum : std::uint64_t {
  location = 0x02,
  name = 0x03,
  byte_size = 0x0b,
  bit_offset = 0x0c,
  bit_size = 0x0d,
  low_pc = 0x11,
  high_pc = 0x12,
  const_value = 0x1c,
  upper_bound = 0x2f,
  abstract_origin = 0x31,
  count = 0x37,
  data_member_location = 0x38,
  encoding = 0x3e,
  specification = 0x47,
  type = 0x49,
};
}
namespace op {
enum : std::uint64_t { address = 0x03, plus = 0x23, reg = 0x90 };
}

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what);
}

/// Bytes of a section; where they name a label or a variable, by their offset, too.
struct Section {
  std::vector<std::uint8_t> bytes;
  std::map<std::size_t, std::string> symbols;
};
using Sections = std::map<std::string, Section, std::less<>>;

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first, last - first + 1);
}

/// The sections .debug_* of a PTX text. Linked modules have several of a name, the second of which begins another group.
class SectionReader {
 public:
  explicit SectionReader(std::string_view text) {
    std::uint64_t number = 0;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      line = without_blanks(line.substr(0, line.find("//")));
      text.remove_prefix(std::min(end + 1, text.size()));
      ++number;
      read_line(line, number);
    }
    resolve();
  }
  std::vector<Sections> take() { return std::move(groups_); }

 private:
  struct Use {
    Section* section;
    std::size_t at, bytes;
    std::string name;
  };

  void read_line(std::string_view line, std::uint64_t number) {
    if (line.starts_with(".section")) return begin(without_blanks(line.substr(8)));
    if (line.starts_with('}')) section_ = nullptr;
    if (line.ends_with(':')) labels_[std::string(line.substr(0, line.size() - 1))] = section_ == nullptr ? number : section_->bytes.size();
    if (section_ == nullptr || !line.starts_with(".b")) return;
    const std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
    const std::string_view width = line.substr(2, blank - 2);
    const std::size_t bytes = width == "8" ? 1 : width == "16" ? 2 : width == "32" ? 4 : width == "64" ? 8 : 0;
    for (std::string_view rest = line.substr(blank); bytes != 0 && !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      add(without_blanks(rest.substr(0, comma)), bytes);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }

  void begin(std::string_view name) {
    name = without_blanks(name.substr(0, name.find('{')));
    if (groups_.empty() || groups_.back().contains(name)) resolve(), groups_.emplace_back();
    section_ = &groups_.back()[std::string(name)];
  }

  void add(std::string_view text, std::size_t bytes) {
    const bool hex = text.starts_with("0x"), negative = text.starts_with('-');
    const char* const first = text.data() + (hex ? 2 : negative ? 1 : 0);
    std::uint64_t value = 0;
    const auto read = std::from_chars(first, text.data() + text.size(), value, hex ? 16 : 10);
    const Use use{section_, section_->bytes.size(), bytes, std::string(text)};
    section_->bytes.resize(use.at + bytes);
    if (read.ec == std::errc{} && read.ptr == text.data() + text.size())
      write(use, negative ? 0 - value : value);
    else if (!write_label(use))
      uses_.push_back(use);
  }

  static void write(const Use& use, std::uint64_t value) {
    for (std::size_t i = 0; i < use.bytes; ++i) use.section->bytes[use.at + i] = static_cast<std::uint8_t>(value >> 8 * i);
  }

  /// Of a label, or a section, with an offset behind it. A label of code is the last before: the modules of a program have the same ones.
  bool write_label(const Use& use) {
    const std::size_t plus = std::min(use.name.find('+'), use.name.size());
    const std::string name(without_blanks(std::string_view(use.name).substr(0, plus)));
    const auto label = labels_.find(name);
    if (label == labels_.end() && !name.starts_with(".debug")) return false;
    std::uint64_t offset = 0;
    if (plus < use.name.size()) std::from_chars(use.name.data() + plus + 1, use.name.data() + use.name.size(), offset);
    write(use, offset + (label == labels_.end() ? 0 : label->second));
    return true;
  }

  /// What no label before has named: a label behind it, else a variable of the PTX.
  void resolve() {
    for (const Use& use : uses_)
      if (!write_label(use)) use.section->symbols[use.at] = use.name;
    uses_.clear();
  }

  std::vector<Sections> groups_;
  Section* section_ = nullptr;
  std::map<std::string, std::uint64_t> labels_;
  std::vector<Use> uses_;
};

/// Reads a section from a place on. Throws std::runtime_error at its end.
class Cursor {
 public:
  Cursor(const Section& section, std::uint64_t place) : section_(section), at_(place) {}

  std::uint64_t at() const { return at_; }
  std::uint64_t number(std::uint64_t bytes) {
    need(bytes);
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < bytes; ++i, ++at_) value |= i < 8 ? std::uint64_t{section_.bytes[at_]} << 8 * i : 0;
    return value;
  }
  std::uint64_t leb(bool is_signed = false) {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const std::uint64_t byte = number(1);
      if (shift < 64) value |= (byte & 127) << shift;
      if (byte >= 128) continue;
      if (is_signed && (byte & 64) != 0 && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
      return value;
    }
  }
  std::string text() {
    std::string all;
    while (const std::uint64_t c = number(1)) all += static_cast<char>(c);
    return all;
  }
  void skip(std::uint64_t bytes) { need(bytes), at_ += bytes; }
  /// What the bytes here name.
  std::string symbol() const {
    const auto found = section_.symbols.find(at_);
    return found == section_.symbols.end() ? "" : found->second;
  }

 private:
  void need(std::uint64_t bytes) const {
    if (at_ > section_.bytes.size() || bytes > section_.bytes.size() - at_) fail("its tables end too early");
  }
  const Section& section_;
  std::uint64_t at_;
};

struct Attribute {
  enum class Kind { number, address, block, text, list };  ///< list: an offset in .debug_loc, where it is a location
  Kind kind = Kind::number;
  std::uint64_t number = 0, bytes = 0;  ///< of a block: where it begins, and its length
  std::string text;
};

/// An entry of .debug_info, "debugging information entry" in DWARF.
struct Entry {
  std::uint64_t tag = 0;
  int parent = -1;
  std::map<std::uint64_t, Attribute> attributes;
  std::vector<int> children;

  const Attribute* find(std::uint64_t name) const {
    const auto found = attributes.find(name);
    return found == attributes.end() ? nullptr : &found->second;
  }
  std::uint64_t number(std::uint64_t name, std::uint64_t otherwise = 0) const {
    const Attribute* const found = find(name);
    return found == nullptr ? otherwise : found->number;
  }
};

/// The entries of .debug_info.
class Tables {
 public:
  explicit Tables(const Sections& sections) : sections_(sections) {
    for (Cursor in(section(".debug_info"), 0); in.at() < section(".debug_info").bytes.size();) read_unit(in);
  }

  const std::vector<Entry>& entries() const { return entries_; }
  std::uint64_t address_bytes() const { return address_bytes_; }
  const Section& section(std::string_view name) const {
    static const Section none;
    const auto found = sections_.find(name);
    return found == sections_.end() ? none : found->second;
  }
  /// The entry that an attribute refers to; -1: none.
  int referred(const Entry& entry, std::uint64_t name) const {
    const Attribute* const attribute = entry.find(name);
    const auto found = attribute == nullptr ? by_offset_.end() : by_offset_.find(attribute->number);
    return found == by_offset_.end() ? -1 : found->second;
  }
  const Entry& entry(int index) const { return entries_[static_cast<std::size_t>(index)]; }

 private:
  struct Abbreviation {
    std::uint64_t tag = 0;
    bool has_children = false;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> attributes;  ///< name, form
  };
  using Abbreviations = std::map<std::uint64_t, Abbreviation>;

  void read_unit(Cursor& in) {
    unit_ = in.at();
    const std::uint64_t bytes = in.number(4), end = in.at() + bytes, version = in.number(2);
    if (version < 2 || version > 4) fail(fmt::format("it is of version {}; versions 2 to 4 are read", version));
    const Abbreviations abbreviations = read_abbreviations(in.number(4));
    address_bytes_ = in.number(1);
    std::vector<int> parents;
    while (in.at() < end) {
      const std::uint64_t offset = in.at(), code = in.leb();
      if (code == 0) {
        if (!parents.empty()) parents.pop_back();
        continue;
      }
      const auto found = abbreviations.find(code);
      if (found == abbreviations.end()) fail(fmt::format("abbreviation {} is missing", code));
      const auto index = static_cast<int>(entries_.size());
      Entry& made = entries_.emplace_back();
      made.tag = found->second.tag;
      for (const auto& [name, form] : found->second.attributes) made.attributes[name] = read_form(in, form);
      by_offset_[offset] = index;
      if (!parents.empty()) made.parent = parents.back(), entries_[static_cast<std::size_t>(parents.back())].children.push_back(index);
      if (found->second.has_children) parents.push_back(index);
    }
  }

  Abbreviations read_abbreviations(std::uint64_t offset) const {
    constexpr std::size_t most_attributes = 256;
    Abbreviations all;
    Cursor in(section(".debug_abbrev"), offset);
    while (const std::uint64_t code = in.leb()) {
      Abbreviation& made = all[code];
      made = {.tag = in.leb(), .has_children = in.number(1) != 0, .attributes = {}};
      while (true) {
        const std::uint64_t name = in.leb(), form = in.leb();
        if (name == 0 && form == 0) break;
        if (made.attributes.size() == most_attributes) fail("an abbreviation has too many attributes");
        made.attributes.emplace_back(name, form);
      }
    }
    return all;
  }

  Attribute block(Cursor& in, std::uint64_t bytes) const {
    Attribute made{.kind = Attribute::Kind::block, .number = in.at(), .bytes = bytes, .text = {}};
    in.skip(bytes);
    return made;
  }

  Attribute read_form(Cursor& in, std::uint64_t form) const {
    using Kind = Attribute::Kind;
    const auto number = [](std::uint64_t value, Kind kind = Kind::number) { return Attribute{.kind = kind, .number = value, .text = {}}; };
    switch (form) {
      case 0x01: return number(in.number(address_bytes_), Kind::address);
      case 0x03: return block(in, in.number(2));
      case 0x04: return block(in, in.number(4));
      case 0x05: return number(in.number(2));
      case 0x06: return number(in.number(4), Kind::list);
      case 0x07: return number(in.number(8));
      case 0x08: return {.kind = Kind::text, .text = in.text()};
      case 0x09: return block(in, in.leb());
      case 0x0a: return block(in, in.number(1));
      case 0x0b:
      case 0x0c: return number(in.number(1));
      case 0x0d: return number(in.leb(true));
      case 0x0e: return {.kind = Kind::text, .text = Cursor(section(".debug_str"), in.number(4)).text()};
      case 0x0f: return number(in.leb());
      case 0x10: return number(in.number(4));
      case 0x11: return number(unit_ + in.number(1));
      case 0x12: return number(unit_ + in.number(2));
      case 0x13: return number(unit_ + in.number(4));
      case 0x14: return number(unit_ + in.number(8));
      case 0x15: return number(unit_ + in.leb());
      case 0x17: return number(in.number(4), Kind::list);
      case 0x18: return block(in, in.leb());
      case 0x19: return number(1);
      default: fail(fmt::format("an attribute has form {:#x}", form));
    }
  }

  const Sections& sections_;
  std::vector<Entry> entries_;
  std::map<std::uint64_t, int> by_offset_;
  std::uint64_t unit_ = 0, address_bytes_ = 8;
};

/// A structure of CUDA's headers that is a number.
struct NumberRow {
  std::string_view name, ptx;
};
constexpr std::array<NumberRow, 6> number_structures{{{"__half", "f16"},
                                                      {"__half2", "f16x2"},
                                                      {"__nv_bfloat16", "bf16"},
                                                      {"__nv_bfloat162", "bf16x2"},
                                                      {"__nv_fp8_e4m3", "e4m3"},
                                                      {"__nv_fp8_e5m2", "e5m2"}}};

std::string_view bits_type(std::uint64_t bytes) {
  return bytes == 1 ? "b8" : bytes == 2 ? "b16" : bytes == 4 ? "b32" : "b64";
}

/// The types of the tables, each made when it is first asked for.
class Types {
 public:
  using Kind = SourceType::Kind;
  Types(const Tables& tables, std::vector<std::unique_ptr<SourceType>>& all) : tables_(tables), all_(all) {}

  const SourceType* of(const Entry& entry) { return made(tables_.referred(entry, at::type), 0); }

 private:
  static constexpr int most_depth = 64;  ///< damaged tables may refer in circles

  const SourceType* made(int index, int depth) {
    if (index < 0 || depth > most_depth) return nullptr;
    if (const auto found = known_.find(index); found != known_.end()) return found->second;
    const Entry& entry = tables_.entry(index);
    const int inner = tables_.referred(entry, at::type);
    switch (entry.tag) {
      case tag::typedef_type:
      case tag::const_type:
      case tag::volatile_type:
      case tag::restrict_type: return made(inner, depth + 1);
      default: break;
    }
    SourceType& type = *all_.emplace_back(std::make_unique<SourceType>());
    known_[index] = &type;
    if (const Attribute* const name = entry.find(at::name)) type.name = name->text;
    type.bytes = entry.number(at::byte_size);
    fill(type, entry, inner, depth);
    if (type.ptx.empty()) type.ptx = bits_type(type.bytes);
    return &type;
  }

  void fill(SourceType& type, const Entry& entry, int inner, int depth) {
    switch (entry.tag) {
      case tag::base_type: return base(type, entry.number(at::encoding));
      case tag::pointer_type: return pointer(type, Kind::pointer, made(inner, depth + 1));
      case tag::reference_type:
      case tag::rvalue_reference_type: return pointer(type, Kind::reference, made(inner, depth + 1));
      case tag::structure_type:
      case tag::class_type:
      case tag::union_type: return structure(type, entry, depth);
      case tag::enumeration_type: return enumeration(type, entry);
      case tag::array_type: return array(type, entry, made(inner, depth + 1));
      default: return;
    }
  }

  static void base(SourceType& type, std::uint64_t encoding) {
    static constexpr std::array<std::string_view, 3> signed_{"s8", "s16", "s32"}, unsigned_{"u8", "u16", "u32"};
    const std::size_t size = type.bytes == 1 ? 0 : type.bytes == 2 ? 1 : type.bytes == 4 ? 2 : 3;
    if (size == 3 && type.bytes != 8) return;
    type.kind = encoding == 2 ? Kind::boolean : encoding == 6 || encoding == 8 ? Kind::character : Kind::number;
    if (encoding == 4)
      type.ptx = size == 3 ? "f64" : size == 2 ? "f32" : "f16";
    else if (encoding == 5 || encoding == 6)
      type.ptx = size == 3 ? "s64" : signed_[size];
    else
      type.ptx = size == 3 ? "u64" : unsigned_[size];
  }

  void pointer(SourceType& type, Kind kind, const SourceType* of) {
    type.kind = kind;
    type.of = of;
    type.name = fmt::format("{} {}", of == nullptr ? "void" : of->name, kind == Kind::pointer ? "*" : "&");
    type.bytes = tables_.address_bytes();
    type.ptx = "u64";
  }

  void structure(SourceType& type, const Entry& entry, int depth) {
    const auto* const number = std::ranges::find(number_structures, type.name, &NumberRow::name);
    type.kind = number == number_structures.end() ? Kind::structure : Kind::number;
    if (number != number_structures.end()) type.ptx = number->ptx;
    for (const int child : entry.children) {
      const Entry& each = tables_.entry(child);
      if (each.tag != tag::member && each.tag != tag::inheritance) continue;
      const Attribute* const place = each.find(at::data_member_location);
      if (place == nullptr && entry.tag != tag::union_type) continue;  // a static member
      SourceType::Member member{.name = "", .type = made(tables_.referred(each, at::type), depth + 1)};
      if (const Attribute* const name = each.find(at::name); name != nullptr && !name->text.starts_with("__b_"))
        member.name = name->text;  // nvcc's name of a base class
      if (place != nullptr) member.offset = place->kind == Attribute::Kind::block ? member_offset(*place) : place->number;
      if (each.find(at::bit_size) != nullptr && member.type != nullptr) {
        member.bits = static_cast<int>(std::min<std::uint64_t>(each.number(at::bit_size), 64));
        const std::uint64_t holder = 8 * each.number(at::byte_size, member.type->bytes), high = each.number(at::bit_offset);
        member.shift = static_cast<int>((holder - high - static_cast<std::uint64_t>(member.bits)) & 63);
        member.bits = std::min(member.bits, 64 - member.shift);
      }
      if (member.type != nullptr) type.members.push_back(std::move(member));
    }
  }

  std::uint64_t member_offset(const Attribute& place) const {
    Cursor in(tables_.section(".debug_info"), place.number);
    return place.bytes != 0 && in.number(1) == op::plus ? in.leb() : 0;
  }

  void enumeration(SourceType& type, const Entry& entry) {
    type.kind = Kind::enumeration;
    for (const int child : entry.children)
      if (const Attribute* const name = tables_.entry(child).find(at::name))
        type.names[tables_.entry(child).number(at::const_value)] = name->text;
    static constexpr std::array<std::string_view, 4> whole{"s8", "s16", "s32", "s64"};
    type.ptx = whole[type.bytes == 1 ? 0 : type.bytes == 2 ? 1 : type.bytes == 4 ? 2 : 3];
  }

  /// Of several dimensions an array of arrays.
  void array(SourceType& type, const Entry& entry, const SourceType* of) {
    std::vector<std::uint64_t> counts;
    for (const int child : entry.children) {
      const Entry& each = tables_.entry(child);
      if (each.tag == tag::subrange_type)
        counts.push_back(each.find(at::upper_bound) != nullptr ? each.number(at::upper_bound) + 1 : each.number(at::count));
    }
    if (of == nullptr || counts.empty()) return;
    std::string bounds;
    for (std::size_t i = counts.size(); i-- > 1;) {
      bounds = fmt::format("[{}]{}", counts[i], bounds);
      SourceType& row = *all_.emplace_back(std::make_unique<SourceType>());
      shape(row, of, counts[i], bounds);
      of = &row;
    }
    shape(type, of, counts.front(), fmt::format("[{}]{}", counts.front(), bounds));
  }

  static void shape(SourceType& type, const SourceType* of, std::uint64_t count, const std::string& bounds) {
    const SourceType* element = of;
    while (element->kind == Kind::array && element->of != nullptr) element = element->of;
    type.kind = Kind::array;
    type.of = of;
    type.count = count;
    type.bytes = of->bytes * count;
    type.name = fmt::format("{} {}", element->name, bounds);
    type.ptx = bits_type(type.bytes);
  }

  const Tables& tables_;
  std::vector<std::unique_ptr<SourceType>>& all_;
  std::map<int, const SourceType*> known_;
};

/// The variables of the tables.
class VariableReader {
 public:
  using Place = SourceVariable::Place;
  VariableReader(const Tables& tables, Types& types) : tables_(tables), types_(types) {}

  std::vector<SourceVariable> read() {
    std::vector<SourceVariable> all;
    for (const Entry& entry : tables_.entries())
      if (entry.tag == tag::variable || entry.tag == tag::formal_parameter)
        if (auto made = variable(entry)) all.push_back(std::move(*made));
    return all;
  }

 private:
  /// An attribute of the entry, or of what it is an instance of.
  const Attribute* inherited(const Entry& entry, std::uint64_t name, int depth = 0) const {
    if (const Attribute* const own = entry.find(name)) return own;
    for (const std::uint64_t from : {at::abstract_origin, at::specification})
      if (const int origin = tables_.referred(entry, from); origin >= 0 && depth < 8)
        return inherited(tables_.entry(origin), name, depth + 1);
    return nullptr;
  }

  std::optional<SourceVariable> variable(const Entry& entry) {
    const Attribute* const name = inherited(entry, at::name);
    if (name == nullptr) return std::nullopt;
    SourceVariable made;
    made.name = name->text;
    bool in_code = false;
    for (int at = entry.parent; at >= 0; at = tables_.entry(at).parent) {
      const Entry& scope = tables_.entry(at);
      const bool is_function = scope.tag == tag::subprogram || scope.tag == tag::inlined_subroutine;
      const Attribute *const low = scope.find(at::low_pc), *const high = scope.find(at::high_pc);
      if (!in_code && high != nullptr && low != nullptr) made.scope = {low->number, high->number}, in_code = true;
      if (is_function && !in_code) return std::nullopt;  // what is inlined elsewhere
      if (const Attribute* const function = is_function ? inherited(scope, at::name) : nullptr;
          function != nullptr && made.function.empty())
        made.function = function->text;
      ++made.depth;
    }
    const Entry* typed = &entry;
    for (int i = 0; i < 8 && typed->find(at::type) == nullptr; ++i)
      for (const std::uint64_t from : {at::abstract_origin, at::specification})
        if (const int origin = tables_.referred(*typed, from); origin >= 0) typed = &tables_.entry(origin);
    made.type = types_.of(*typed);
    if (made.type == nullptr) return std::nullopt;
    made.places = places(entry);
    if (made.places.empty() && !in_code) return std::nullopt;  // a declaration
    return made;
  }

  std::vector<Place> places(const Entry& entry) const {
    if (const Attribute* const value = entry.find(at::const_value))
      return {{.lines = {}, .kind = Place::Kind::constant, .name = {}, .offset = value->number}};
    const Attribute* const where = entry.find(at::location);
    if (where == nullptr) return {};
    if (where->kind == Attribute::Kind::block) return {place(tables_.section(".debug_info"), where->number, where->bytes)};
    std::vector<Place> all;
    const std::uint64_t wide = tables_.address_bytes();
    for (Cursor in(tables_.section(".debug_loc"), where->number);;) {
      const LineRange lines{in.number(wide), in.number(wide)};
      if (lines.first == 0 && lines.last == 0) return all;
      const std::uint64_t bytes = in.number(2);
      all.push_back(place(tables_.section(".debug_loc"), in.at(), bytes));
      all.back().lines = lines;
      in.skip(bytes);
    }
  }

  /// A register, whose number is its name's letters; or a variable of the PTX with an offset.
  Place place(const Section& section, std::uint64_t begin, std::uint64_t bytes) const {
    Place made;
    for (Cursor in(section, begin); in.at() < begin + bytes;) {
      const std::uint64_t code = in.number(1);
      if (code == op::reg && made.kind == Place::Kind::unknown) {
        made.kind = Place::Kind::reg;
        for (std::uint64_t letters = in.leb(); letters != 0; letters >>= 8) made.name.insert(made.name.begin(), static_cast<char>(letters));
      } else if (code == op::address && made.kind == Place::Kind::unknown) {
        made.kind = Place::Kind::symbol;
        made.name = in.symbol();
        made.offset = in.number(tables_.address_bytes());
      } else if (code == op::plus && made.kind == Place::Kind::symbol) {
        made.offset += in.leb();
      } else {
        return {};
      }
    }
    return made;
  }

  const Tables& tables_;
  Types& types_;
};

}  // namespace

SourceVariables::SourceVariables(std::string_view ptx) : has_tables_(ptx.find(".debug_info") != std::string_view::npos) {
  if (!has_tables_) return;
  try {
    for (const Sections& sections : SectionReader(ptx).take()) {
      const Tables tables(sections);
      Types types(tables, types_);
      std::vector<SourceVariable> more = VariableReader(tables, types).read();
      std::ranges::move(more, std::back_inserter(all_));
    }
  } catch (const std::runtime_error& error) {
    error_ = fmt::format("the DWARF of the PTX cannot be read: {}", error.what());
  }
  std::ranges::stable_sort(all_, [](const SourceVariable& a, const SourceVariable& b) { return a.depth > b.depth; });
}

std::vector<const SourceVariable*> SourceVariables::visible(int line) const {
  std::vector<const SourceVariable*> found;
  std::set<std::string_view> names;
  for (const SourceVariable& each : all_)
    if (each.scope.has(line) && names.insert(each.name).second) found.push_back(&each);
  return found;
}

}  // namespace warpmat::debug
