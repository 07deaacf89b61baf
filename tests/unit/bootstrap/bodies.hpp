// The contract of every kind of bootstrap, written once: each body runs on all PEs of a job.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"

namespace chime::bootstrap::test {

// Joins the job; the n-th call of a PE is its n-th joining.
using Join = std::function<std::unique_ptr<Bootstrap>()>;

struct Body {
  std::string name;
  void (*run)(const Join& join);
};

#define CHIME_BODY(name) \
  { #name, name }

// By topic: a file for each.
std::vector<Body> endpoint_info_bodies();
std::vector<Body> question_bodies();
std::vector<Body> failure_bodies();
std::vector<Body> last_question_bodies();
std::vector<Body> loss_bodies();

// Bodies after which all PEs are alive and in step, so that another may follow.
const std::vector<Body>& bodies();
// Bodies that end a PE or break the job: one a launch, under a launcher that lets the others live.
const std::vector<Body>& last_bodies();

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace chime::bootstrap::test
