// Teams for the facts about teams, and their expected members: computed by the test alone.
#pragma once

#include <string>
#include <vector>

#include "chime/chime.h"
#include "support/world.hpp"

namespace chime::tests {

// The arguments of a split of the team of all PEs.
struct Shape {
  std::string name;
  int start, stride, size;

  std::vector<int> pes() const {
    std::vector<int> all;
    for (int i = 0; i < size; ++i) all.push_back(start + i * stride);
    return all;
  }
};

// The shapes that `n` PEs allow: whole, reversed, single, strided, all but the first.
inline std::vector<Shape> shapes_of(int n) {
  std::vector<Shape> shapes = {{"whole", 0, 1, n},
                               {"reversed", n - 1, -1, n},
                               {"single", n - 1, 1, 1},
                               {"strided", 0, 2, (n + 1) / 2}};
  if (n > 1) shapes.push_back({"all but the first", 1, 1, n - 1});
  if (n > 2) shapes.push_back({"strided backwards", n - 1, -2, (n + 1) / 2});
  return shapes;
}

inline int rank_of(int pe, const std::vector<int>& pes) {
  for (std::size_t rank = 0; rank < pes.size(); ++rank)
    if (pes[rank] == pe) return static_cast<int>(rank);
  return -1;
}

// A team for the length of a scope.
class Made {
 public:
  Made(chime_team_t parent, const Shape& shape) {
    EXPECT_EQ(CHIMEX_OK, chime_team_split_strided(parent, shape.start, shape.stride, shape.size,
                                                  nullptr, 0, &team_))
        << shape.name << ": " << chimex_last_error();
  }
  explicit Made(chime_team_t team) : team_(team) {}
  ~Made() { chime_team_destroy(team_); }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;

  operator chime_team_t() const { return team_; }
  bool has_me() const { return team_ != CHIME_TEAM_INVALID; }

 private:
  chime_team_t team_ = CHIME_TEAM_INVALID;
};

}  // namespace chime::tests
