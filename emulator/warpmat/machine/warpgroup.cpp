#include <warpmat/machine/warpgroup.h>

#include <warpmat/execute/operand_chunks.h>

namespace warpmat::machine {

ChunkLists::Found ChunkLists::look_up(const Key& key) const {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
  const auto product = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(key.product));
  const std::uint64_t hash = ((product * factor ^ key.a_descriptor) * factor ^ key.b_descriptor) * factor;
  for (auto place = static_cast<std::size_t>((hash ^ hash >> 32) % places);; place = (place + 1) % places)
    if (const Known* const known = table_[place].load(std::memory_order_acquire); known == nullptr || known->key == key)
      return {place, known};
}

ProductChunkList ChunkLists::find(const code::WarpgroupProduct& product, std::uint64_t a_descriptor, std::uint64_t b_descriptor) {
  const Key key{&product, a_descriptor, b_descriptor};
  const auto without_owner = [](const Known& known) { return ProductChunkList(ProductChunkList(), &known.chunks); };
  if (const Known* const known = look_up(key).known) return without_owner(*known);
  auto made = std::make_unique<Known>(Known{key, {}});  // without the lock: other threads make theirs meanwhile
  for (int warp = 0; warp < WgmmaForm::warps && !product.a_in_registers; ++warp)
    made->chunks.a[static_cast<std::size_t>(warp)] = Chunks(product.instruction.a_chunks(a_descriptor, warp));
  made->chunks.b = Chunks(product.instruction.b_chunks(b_descriptor));
  const std::lock_guard lock(mutex_);
  const Found found = look_up(key);
  if (found.known != nullptr) return without_owner(*found.known);
  if (known_.size() == most) {
    const std::shared_ptr<const Known> owner = std::move(made);
    return {owner, &owner->chunks};
  }
  known_.push_back(std::move(made));
  table_[found.place].store(known_.back().get(), std::memory_order_release);
  return without_owner(*known_.back());
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

}  // namespace warpmat::machine
