#include "bodies.hpp"

namespace chime::bootstrap::test {
namespace {

std::vector<Body> both(std::vector<Body> some, const std::vector<Body>& others) {
  some.insert(some.end(), others.begin(), others.end());
  return some;
}

}  // namespace

const std::vector<Body>& bodies() {
  static const std::vector<Body> all =
      both(both(endpoint_info_bodies(), question_bodies()), failure_bodies());
  return all;
}

const std::vector<Body>& last_bodies() {
  static const std::vector<Body> all = both(loss_bodies(), last_question_bodies());
  return all;
}

}  // namespace chime::bootstrap::test
