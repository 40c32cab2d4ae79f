// wgmma.mma_async in C.

#include <array>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <warpmat/c/accesses.h>
#include <warpmat/c/entry.h>
#include <warpmat/c/fields.h>
#include <warpmat/c/instruction.h>
#include <warpmat/execute/instruction_operands.h>
#include <warpmat/forms.h>
#include <warpmat/text.h>
#include <warpmat/wgmma.h>

using namespace warpmat;
using namespace warpmat::c;

struct warpmat_wgmma {
  warpmat::Wgmma wgmma;
  warpmat::Instruction instruction;       // the same without immediates
  std::string machine, evidence, source;  // null-terminated
};

namespace {

constexpr int rows_of_a_warp = 16;

Major major_of(int transposed) {
  return transposed != 0 ? Major::mn : Major::k;
}

/// Throws std::invalid_argument unless the registers can be used.
void check_registers(const warpmat_registers* registers, std::size_t words, bool written, const char* operand) {
  const auto wrong = [&](const char* what) { throw std::invalid_argument(format_text("operand {}: {}", operand, what)); };
  if (registers == nullptr || registers->words == nullptr) return wrong("words is null");
  if (reinterpret_cast<std::uintptr_t>(registers->words) % alignof(std::uint32_t) != 0)
    return wrong("words do not lie at a multiple of 4 bytes");
  if (registers->numbers != nullptr && registers->number_count < words) return wrong("the list of register numbers is too short");
  if (written && registers->lane_stride == 0) return wrong("it is written, so its lane_stride cannot be 0");
}

constexpr unsigned wgmma_flags = WARPMAT_UNDEFINED_AS_HARDWARE | WARPMAT_REFERENCE_PATH;

/// Throws std::invalid_argument unless the call can be executed.
void check(const Wgmma& wgmma, const warpmat_wgmma_call& call) {
  const WgmmaForm& form = wgmma.form();
  if ((call.flags & ~wgmma_flags) != 0) throw std::invalid_argument(format_text("flags {:#x} are not known", call.flags & ~wgmma_flags));
  check_registers(call.d, static_cast<std::size_t>(form.d_registers()), true, "d");
  if (call.a != nullptr) check_registers(call.a, static_cast<std::size_t>(form.a_registers()), false, "a");
  if (form.sparse()) check_registers(call.e, 1, false, "e");
  if (call.memory == nullptr || !WARPMAT_HAS_SIZE(call.memory, user) || call.memory->bytes == nullptr || call.memory->base > UINT32_MAX)
    throw std::invalid_argument("memory must be bytes from an address below 2^32 on: a whole warpmat_memory");
}

/// The words of an operand that all lanes of all warps share.
RegisterView shared_words(std::uint32_t* words) {
  return {words, 0, 1, 0};
}

/// The same as a call of the instruction that warpmat_find finds, whose operands the immediates are.
void execute_warpgroup(const warpmat_wgmma& handle, const warpmat_wgmma_call& call) {
  const WgmmaImmediates& immediates = handle.wgmma.immediates();
  const auto halves = [](std::uint64_t bits) {
    return std::array{static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
  };
  const auto scale = [](bool negates) { return negates ? UINT32_MAX : std::uint32_t{1}; };
  std::array a_descriptor = halves(call.a_descriptor), b_descriptor = halves(call.b_descriptor);
  std::uint32_t selector = static_cast<std::uint32_t>(immediates.selector), scale_d = call.accumulate != 0;
  std::uint32_t scale_a = scale(immediates.negates_a), scale_b = scale(immediates.negates_b);
  std::uint32_t trans_a = immediates.major_a == Major::mn, trans_b = immediates.major_b == Major::mn;
  std::vector<RegisterView> views;
  for (const WgmmaOperand operand : operands_of(handle.instruction.wgmma()).roles) switch (operand) {
      case WgmmaOperand::d: views.push_back(view_of(*call.d)); break;
      case WgmmaOperand::a: views.push_back(call.a == nullptr ? RegisterView{} : view_of(*call.a)); break;
      case WgmmaOperand::a_descriptor: views.push_back(call.a == nullptr ? shared_words(a_descriptor.data()) : RegisterView{}); break;
      case WgmmaOperand::b_descriptor: views.push_back(shared_words(b_descriptor.data())); break;
      case WgmmaOperand::e: views.push_back(view_of(*call.e)); break;
      case WgmmaOperand::selector: views.push_back(shared_words(&selector)); break;
      case WgmmaOperand::scale_d: views.push_back(shared_words(&scale_d)); break;
      case WgmmaOperand::scale_a: views.push_back(shared_words(&scale_a)); break;
      case WgmmaOperand::scale_b: views.push_back(shared_words(&scale_b)); break;
      case WgmmaOperand::trans_a: views.push_back(shared_words(&trans_a)); break;
      case WgmmaOperand::trans_b: views.push_back(shared_words(&trans_b)); break;
    }
  Call all;
  all.operands = views;
  all.shared = call.memory->bytes;
  all.shared_bytes = static_cast<std::size_t>(call.memory->byte_count);
  all.shared_base = call.memory->base;
  handle.instruction.execute(all, WgmmaForm::warps,
                             {(call.flags & WARPMAT_REFERENCE_PATH) != 0 ? Path::reference : Path::fast,
                              (call.flags & WARPMAT_UNDEFINED_AS_HARDWARE) != 0 ? Undefined::hardware : Undefined::trap});
}

/// Calls `act` and returns the status of what it throws.
template <typename Act>
warpmat_status done(warpmat_error* error, Act act) {
  try {
    act();
    return WARPMAT_OK;
  } catch (const std::invalid_argument& wrong) {
    return report(error, WARPMAT_BAD_ARGUMENT, wrong.what());
  } catch (...) {
    return report_exception(error);
  }
}

/// Throws std::invalid_argument for null or a call of another size.
void check_wgmma_call(const warpmat_wgmma* wgmma, const warpmat_wgmma_call* call) {
  if (wgmma == nullptr) throw std::invalid_argument("the instruction is null");
  if (call == nullptr) throw std::invalid_argument("the call is null");
  if (!WARPMAT_HAS_SIZE(call, flags)) throw std::invalid_argument("call->size is not that of a warpmat_wgmma_call");
}

/// The handle of what `find` returns for a target; nullptr, having reported why, if it returns none.
template <typename Find>
warpmat_wgmma* created(const char* target, const warpmat_wgmma_immediates* immediates, warpmat_error* error, Find find) {
  warpmat_wgmma* made = nullptr;
  done(error, [&] {
    const Target* const on = find_target(target);
    if (on == nullptr) {
      report(error, WARPMAT_UNKNOWN_TARGET, format_text("unknown target '{}'; warpmat_target_name lists them", target));
      return;
    }
    const WgmmaForm* const form = find(*on);
    if (form == nullptr) return;
    if (const auto reason = unavailable(*form, *on)) {
      report(error, WARPMAT_UNAVAILABLE, *reason);
      return;
    }
    const warpmat_wgmma_immediates given = immediates == nullptr ? warpmat_wgmma_immediates{} : *immediates;
    Wgmma wgmma(*form, *on, newest_ptx,
                {.negates_a = given.negate_a != 0,
                 .negates_b = given.negate_b != 0,
                 .major_a = major_of(given.transpose_a),
                 .major_b = major_of(given.transpose_b),
                 .selector = given.selector});
    const Lowering& lowering = wgmma.lowering();
    made = new warpmat_wgmma{wgmma, Instruction(*form, *on), sass_name(*form), std::string(name(label_of(lowering))),
                             std::string(lowering.source)};
  });
  return made;
}

/// The fragment of a tile's D or A, or nullptr.
const Fragment* fragment_of(const warpmat_wgmma* wgmma, warpmat_operand operand) {
  if (wgmma == nullptr || (operand != WARPMAT_D && operand != WARPMAT_A)) return nullptr;
  return &wgmma->wgmma.form().tile->operand(static_cast<OperandName>(operand)).fragment;
}

}  // namespace

warpmat_wgmma* warpmat_wgmma_create(const char* opcode, const char* target, const warpmat_wgmma_immediates* immediates,
                                    warpmat_error* error) {
  if (opcode == nullptr || target == nullptr) {
    report(error, WARPMAT_BAD_ARGUMENT, "the instruction's and the target's name must not be null");
    return nullptr;
  }
  return created(target, immediates, error, [&](const Target&) {
    const bool ptx = std::string_view(opcode).starts_with("wgmma");
    const WgmmaForm* const form = ptx ? find_wgmma(opcode) : find_wgmma_sass(opcode);
    if (form == nullptr) report(error, WARPMAT_UNKNOWN_OPCODE, explain_unknown_wgmma(opcode));
    return form;
  });
}

warpmat_wgmma* warpmat_wgmma_create_fields(const warpmat_fields* fields, const char* target, const warpmat_wgmma_immediates* immediates,
                                           warpmat_error* error) {
  if (target == nullptr) {
    report(error, WARPMAT_BAD_ARGUMENT, "the target's name must not be null");
    return nullptr;
  }
  return created(target, immediates, error, [&](const Target& on) -> const WgmmaForm* {
    const std::optional<OpcodeFields> wanted = read_fields(fields, error);
    const std::optional<std::size_t> found = wanted ? find_one(wgmma_fields(), *wanted, on, error) : std::nullopt;
    return found ? &wgmma_forms()[*found] : nullptr;
  });
}

void warpmat_wgmma_free(warpmat_wgmma* wgmma) {
  delete wgmma;
}

warpmat_status warpmat_wgmma_describe(const warpmat_wgmma* wgmma, warpmat_wgmma_info* info) {
  if (wgmma == nullptr || info == nullptr || !WARPMAT_HAS_SIZE(info, sparse)) return WARPMAT_BAD_ARGUMENT;
  const WgmmaForm& form = wgmma->wgmma.form();
  warpmat_wgmma_info out{};
  out.opcode = form.opcode.c_str();
  out.machine = wgmma->machine.c_str();
  out.evidence = wgmma->evidence.c_str();
  out.source = wgmma->source.c_str();
  out.m = form.shape.m;
  out.n = form.shape.n;
  out.k = form.shape.k;
  out.d_words = form.d_registers();
  out.a_words = form.a_registers();
  out.sparse = form.sparse();
  copy_out(out, info);
  return WARPMAT_OK;
}

warpmat_status warpmat_wgmma_element_at(const warpmat_wgmma* wgmma, warpmat_operand operand, int warp, warpmat_place place,
                                        warpmat_element* element) {
  const Fragment* const fragment = fragment_of(wgmma, operand);
  if (fragment == nullptr || element == nullptr || warp < 0 || warp >= WgmmaForm::warps) return WARPMAT_BAD_ARGUMENT;
  const int registers = fragment->registers(), tiles = operand == WARPMAT_D ? wgmma->wgmma.form().tiles() : 1;
  if (place.lane < 0 || place.lane >= warp_size || place.reg < 0 || place.reg >= registers * tiles || place.bit < 0 ||
      place.bit >= fragment->register_bits())
    return WARPMAT_BAD_ARGUMENT;
  const Element found = fragment->element({place.lane, place.reg % registers, place.bit});
  *element = {warp * rows_of_a_warp + found.row, place.reg / registers * fragment->columns() + found.column, found.matrix};
  return WARPMAT_OK;
}

warpmat_status warpmat_wgmma_place_of(const warpmat_wgmma* wgmma, warpmat_operand operand, warpmat_element element, int* warp,
                                      warpmat_place* place) {
  const Fragment* const fragment = fragment_of(wgmma, operand);
  if (fragment == nullptr || warp == nullptr || place == nullptr) return WARPMAT_BAD_ARGUMENT;
  const int tiles = operand == WARPMAT_D ? wgmma->wgmma.form().tiles() : 1;
  if (element.row < 0 || element.row >= wgmma->wgmma.form().shape.m || element.column < 0 ||
      element.column >= fragment->columns() * tiles || element.matrix != 0)
    return WARPMAT_BAD_ARGUMENT;
  const Place found = fragment->place({element.row % rows_of_a_warp, element.column % fragment->columns(), 0});
  *warp = element.row / rows_of_a_warp;
  *place = {found.lane, element.column / fragment->columns() * fragment->registers() + found.reg, found.bit};
  return WARPMAT_OK;
}

warpmat_status warpmat_wgmma_execute(const warpmat_wgmma* wgmma, const warpmat_wgmma_call* call, warpmat_error* error) {
  return done(error, [&] {
    check_wgmma_call(wgmma, call);
    check(wgmma->wgmma, *call);
    execute_warpgroup(*wgmma, *call);
  });
}

warpmat_status warpmat_wgmma_accesses(const warpmat_wgmma* wgmma, const warpmat_wgmma_call* call, warpmat_memory_access* list,
                                      size_t capacity, size_t* count, warpmat_error* error) {
  return done(error, [&] {
    check_wgmma_call(wgmma, call);
    if (count == nullptr) throw std::invalid_argument("count is null");
    std::vector<MemoryAccess> all;
    for (int warp = 0; call->a == nullptr && warp < WgmmaForm::warps; ++warp)
      for (const MemoryAccess& access : wgmma->wgmma.a_accesses(call->a_descriptor, warp)) all.push_back(access);
    for (const MemoryAccess& access : wgmma->wgmma.b_accesses(call->b_descriptor)) all.push_back(access);
    *count = all.size();
    if (list != nullptr) copy_accesses(all, {list, capacity});
  });
}
