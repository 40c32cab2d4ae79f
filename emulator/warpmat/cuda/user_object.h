#pragma once

#include <map>
#include <memory>

namespace warpmat::cuda {

/// What a program counts references to (cudaUserObject): the last one that goes calls its destructor.
struct UserObject;

/// The references that a graph has. A copy of the graph has as many.
class UserReferences {
 public:
  UserReferences() = default;
  UserReferences(const UserReferences& other);
  UserReferences& operator=(UserReferences other) noexcept;
  ~UserReferences();

  void add(UserObject& object, unsigned count) { counts_[&object] += count; }
  /// Throws ApiError if there are not as many.
  void remove(UserObject& object, unsigned count);

 private:
  std::map<UserObject*, unsigned> counts_;
};

}  // namespace warpmat::cuda
