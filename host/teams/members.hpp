// The PEs of a team, by their ranks in it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace chime::host {

// Members of another team, rank by rank: start, start + stride, ...
struct Triplet {
  int start = 0;
  int stride = 1;
  int size = 0;
};

class Members {
 public:
  // Every stride-th PE from `start` on. REQUIRES: size > 0, stride != 0.
  explicit Members(const Triplet& pes) : pes_(pes) {}
  // Those of a list, which is not kept where a triplet does. REQUIRES: it is not empty.
  explicit Members(std::vector<int> list);

  int size() const { return pes_.size; }
  // REQUIRES: 0 <= rank < size().
  int pe(int rank) const {
    return is_list() ? list_[static_cast<std::size_t>(rank)] : pes_.start + rank * pes_.stride;
  }
  // -1: no member.
  int rank(int pe) const;

  // Where there is a list, only the size of the triplet counts.
  bool is_list() const { return !list_.empty(); }
  const std::vector<int>& list() const { return list_; }
  const Triplet& triplet() const { return pes_; }

  // The members that have the triplet's ranks in this team. REQUIRES: fits(triplet).
  Members subset(const Triplet& ranks) const;
  // Whether each rank of the triplet is one of this team, and no other one's.
  bool fits(const Triplet& ranks) const;

  // "PEs 0-3, 7".
  std::string words() const;

 private:
  Triplet pes_;
  std::vector<int> list_;
};

}  // namespace chime::host
