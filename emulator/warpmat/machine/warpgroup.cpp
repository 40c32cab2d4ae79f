#include <warpmat/machine/warpgroup.h>

#include <warpmat/execute/operand_chunks.h>

namespace warpmat::inline v0_1::machine {

std::size_t ChunkLists::Hash::operator()(const Key& key) const {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
  const auto product = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(key.product));
  const std::uint64_t sum = ((product * factor ^ key.a_descriptor) * factor ^ key.b_descriptor) * factor;
  return static_cast<std::size_t>(sum ^ sum >> 32);
}

ProductChunkList ChunkLists::find(const code::WarpgroupProduct& product, std::uint64_t a_descriptor, std::uint64_t b_descriptor) {
  const Key key{&product, a_descriptor, b_descriptor};
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = lists_.find(key); found != lists_.end()) return found->second;
  }
  const auto made = std::make_shared<ProductChunks>();  // without the lock: other threads make theirs meanwhile
  for (int warp = 0; warp < WgmmaForm::warps && !product.a_in_registers; ++warp)
    made->a[static_cast<std::size_t>(warp)] = Chunks(product.instruction.a_chunks(a_descriptor, warp));
  made->b = Chunks(product.instruction.b_chunks(b_descriptor));
  const std::lock_guard lock(mutex_);
  if (lists_.size() >= most) lists_.clear();
  return lists_.try_emplace(key, made).first->second;
}

bool still_holds(const PendingProduct& product, OperandName operand, std::span<const std::uint8_t> shared, std::uint32_t base) {
  const OperandChunks chunks(product.product->instruction, operand, chunks_of(product, operand).addresses);
  const std::vector<std::uint32_t>& words = operand == OperandName::b ? *product.b : product.a;
  return chunks.equal(words.data(), shared.data(), base);
}

std::unique_ptr<PendingProduct> WarpgroupState::make() {
  if (done.empty()) return std::make_unique<PendingProduct>();
  std::unique_ptr<PendingProduct> product = std::move(done.back());
  done.pop_back();
  return product;
}

std::shared_ptr<std::vector<std::uint32_t>> WarpgroupIssues::make_b() {
  for (const auto& b : operands_b)
    if (b.use_count() == 1) return b;
  operands_b.push_back(std::make_shared<std::vector<std::uint32_t>>());
  return operands_b.back();
}

}  // namespace warpmat::inline v0_1::machine
