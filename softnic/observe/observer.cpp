#include "observer.hpp"

#include <atomic>

#include "softnic/softnic.h"

namespace softnic::observer {
namespace {

constinit std::atomic<const softnic_observer*> listens{nullptr};
constinit std::atomic<const softnic_observer*> last{nullptr};  // gets the ends of what began

}  // namespace

void* begin(const QueuePair& qp, const Request& request) {
  const softnic_observer* const observer = listens.load(std::memory_order_acquire);
  if (observer == nullptr) return nullptr;
  const softnic_request seen = {name_of(request.opcode), qp.qpn, qp.remote_qpn, request.bytes};
  return observer->begin(&seen);
}

void end(const Outstanding& request) {
  if (request.observed == nullptr) return;
  last.load(std::memory_order_acquire)->end(request.observed, request.syndrome != Syndrome::kNone);
}

}  // namespace softnic::observer

extern "C" void softnic_observe(const softnic_observer* observer) {
  if (observer != nullptr) softnic::observer::last.store(observer, std::memory_order_release);
  softnic::observer::listens.store(observer, std::memory_order_release);
}
