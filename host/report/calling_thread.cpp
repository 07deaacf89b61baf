#include "host/report/calling_thread.hpp"

namespace chime::host {

thread_local constinit CallingThread* CallingThread::mine_ = nullptr;

// On the heap, because of static thread-local memory a library that is loaded late gets little. A
// thread that calls while it ends, behind its destructors, loses one of these.
CallingThread& CallingThread::bind(const PeSlot& slot) {
  struct Owner {
    ~Owner() {
      delete mine_;
      mine_ = nullptr;
    }
  };
  static thread_local Owner owner;
  static_cast<void>(&owner);
  if (mine_ == nullptr) mine_ = new CallingThread;
  mine_->slot_ = &slot;
  mine_->context_ = slot.host_context;
  mine_->context_.pe.error = &mine_->failure_;
  return *mine_;
}

}  // namespace chime::host
