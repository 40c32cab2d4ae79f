#include <warpmat/forms.h>

#include <stdexcept>

#include <warpmat/text.h>

namespace warpmat {
namespace {

constexpr std::uint32_t bytes = 4;  // of a scale register

}  // namespace

std::optional<std::string> undefined_ids(const Form& form, OperandName ids_name, const ScaleIds& ids) {
  const auto vector = static_cast<std::uint32_t>(form.scale_vector);
  const auto threads = static_cast<std::uint32_t>(form.operand(ids_name).choices);
  if (ids.byte_id >= bytes || ids.byte_id % vector != 0)
    return format_text("byte-id of {} is {}; it must be below {}{}", name(ids_name), ids.byte_id, bytes,
                       vector > 1 ? format_text(" and a multiple of {}", vector) : "");
  if (ids.thread_id >= threads) return format_text("thread-id of {} is {}; it must be below {}", name(ids_name), ids.thread_id, threads);
  return std::nullopt;
}

int scale_matrix(const Form& form, OperandName ids_name, const ScaleIds& ids) {
  const Operand* operand = form.find_operand(ids_name);
  if (operand == nullptr || operand->kind != OperandKind::ids)
    throw std::invalid_argument(format_text("{} has no operand {} that selects scale factors", form.opcode, name(ids_name)));
  if (const auto reason = undefined_ids(form, ids_name, ids)) throw std::invalid_argument(*reason);
  return static_cast<int>((ids.byte_id + ids.thread_id * bytes) / static_cast<std::uint32_t>(form.scale_vector));
}

}  // namespace warpmat
