// Handles of kernel objects: a verbs program's names for its objects. Each belongs to the open
// device file that made it, and is destroyed with it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace softnic {

enum class Kind : std::uint8_t { kPd, kRegion, kCq, kQp, kSrq, kAh, kUar, kUmem, kDevxOther };

struct Handle {
  Kind kind{};
  std::uint32_t number = 0;  // pdn, key, cqn, qpn, ...
  int file = -1;
};

class Handles {
 public:
  std::uint32_t add(Kind kind, std::uint32_t number, int file) {
    table_[next_] = {kind, number, file};
    return next_++;
  }
  // The object of `file` behind `handle`, or null: an object of another file is not found.
  const Handle* find(std::uint32_t handle, int file) const {
    const auto found = table_.find(handle);
    return found == table_.end() || found->second.file != file ? nullptr : &found->second;
  }
  bool has(Kind kind, std::uint32_t number) const {
    for (const auto& [handle, object] : table_)
      if (object.kind == kind && object.number == number) return true;
    return false;
  }
  void remove(std::uint32_t handle) { table_.erase(handle); }

  // Removes all handles of `file`, newest first: the order in which they can be destroyed.
  std::vector<Handle> take_all(int file) {
    std::vector<Handle> taken;
    for (auto at = table_.rbegin(); at != table_.rend(); ++at)
      if (at->second.file == file) taken.push_back(at->second);
    std::erase_if(table_, [file](const auto& entry) { return entry.second.file == file; });
    return taken;
  }

 private:
  std::map<std::uint32_t, Handle> table_;
  std::uint32_t next_ = 1;
};

}  // namespace softnic
