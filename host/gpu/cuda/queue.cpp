#include "host/gpu/cuda/queue.hpp"

namespace chime::host::cuda {
namespace {

// The driver takes the most urgent that it has: a kernel of one thread goes before blocks of a
// program's that have not begun.
constexpr int kMostUrgent = -1000;

CUdeviceptr device_pointer(const void* address) { return reinterpret_cast<CUdeviceptr>(address); }

CUevent make_event() {
  CUevent event = nullptr;
  driver().check(driver().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  return event;
}

}  // namespace

// Non-blocking: it waits for no stream, the default one included, on which a kernel may wait for
// what this queue brings.
Queue::Queue(CUcontext context, const LibraryKernels& kernels, bool writes_64_bits)
    : context_(context), kernels_(kernels), writes_64_bits_(writes_64_bits) {
  const CurrentContext current(context_);
  driver().check(driver().cuStreamCreateWithPriority(&stream_, CU_STREAM_NON_BLOCKING, kMostUrgent),
                 "cuStreamCreateWithPriority");
  for (std::size_t i = 0; i < kEvents; ++i) free_.push_back(make_event());
  gate_ = make_event();
}

// A device that has failed completes nothing, so nothing is waited for there.
Queue::~Queue() {
  const CurrentContext current(context_);
  driver().cuStreamSynchronize(stream_);
  for (const Mark& mark : marks_) driver().cuEventDestroy(mark.event);
  for (const CUevent event : free_) driver().cuEventDestroy(event);
  driver().cuEventDestroy(gate_);
  driver().cuStreamDestroy(stream_);
}

void Queue::copy(void* dst, const void* src, std::size_t bytes) {
  const CurrentContext current(context_);
  driver().check(driver().cuMemcpyAsync(device_pointer(dst), device_pointer(src), bytes, stream_),
                 "cuMemcpyAsync");
  ++begun_;
}

// The default flag puts a fence of the system before the write.
void Queue::set(void* word, std::uint64_t value, unsigned bytes) {
  if (bytes == sizeof value && !writes_64_bits_) {
    SignalCall call{static_cast<std::uint64_t*>(word), value, 0};
    void* arguments[] = {&call};
    return launch(LibraryKernel::kSignal, arguments);
  }
  const CurrentContext current(context_);
  if (bytes == sizeof value)
    driver().check(driver().cuStreamWriteValue64(stream_, device_pointer(word), value,
                                                 CU_STREAM_WRITE_VALUE_DEFAULT),
                   "cuStreamWriteValue64");
  else
    driver().check(driver().cuStreamWriteValue32(stream_, device_pointer(word),
                                                 static_cast<std::uint32_t>(value),
                                                 CU_STREAM_WRITE_VALUE_DEFAULT),
                   "cuStreamWriteValue32");
  ++begun_;
}

void Queue::launch(LibraryKernel kernel, void** arguments) {
  const CurrentContext current(context_);
  driver().check(driver().cuLaunchKernel(kernels_[kernel], 1, 1, 1, threads_of(kernel), 1, 1, 0,
                                         stream_, arguments, nullptr),
                 "cuLaunchKernel");
  ++begun_;
}

// A wait keeps what the event stands for now, so that one event does for all.
void Queue::follow(DeviceQueue& other) {
  const CurrentContext current(context_);
  driver().check(driver().cuEventRecord(gate_, static_cast<Queue&>(other).stream_),
                 "cuEventRecord");
  driver().check(driver().cuStreamWaitEvent(stream_, gate_, 0), "cuStreamWaitEvent");
}

// One event for all that has come since the last one; where none is free, some turns later.
void Queue::mark_new() {
  if (marked_ == begun_ || free_.empty()) return;
  driver().check(driver().cuEventRecord(free_.back(), stream_), "cuEventRecord");
  marks_.push_back({free_.back(), begun_});
  free_.pop_back();
  marked_ = begun_;
}

std::uint64_t Queue::ended() {
  if (ended_ == begun_) return ended_;
  const CurrentContext current(context_);
  mark_new();
  while (!marks_.empty()) {
    const CUresult result = driver().cuEventQuery(marks_.front().event);
    if (result == CUDA_ERROR_NOT_READY) break;
    driver().check(result, "cuEventQuery", "a kernel that ran before may have failed");
    ended_ = marks_.front().upto;
    free_.push_back(marks_.front().event);
    marks_.pop_front();
  }
  return ended_;
}

}  // namespace chime::host::cuda
