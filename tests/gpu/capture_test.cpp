// Streams of a program that are captured into a graph, in global mode: during a capture the driver
// forbids all threads to allocate and to query events, except threads that declare such calls safe.
// A forbidden call fails, and invalidates the capture, whoever owns it.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <thread>

#include "check.hpp"
#include "host/gpu/cuda_gpu.hpp"
#include "host/gpu/library_kernel.hpp"

using namespace chime::host;
using namespace chime::tests;

namespace {

#define NAME_OF(call) NAME_AS_IT_STANDS(call)  // cuda.h renames calls to later versions
#define NAME_AS_IT_STANDS(call) #call
#define DRIVERS(call) reinterpret_cast<decltype(&::call)>(find(NAME_OF(call)))

void* find(const char* name) {
  void* const found = ::dlsym(::dlopen(DRIVER_LIBRARY, RTLD_NOW), name);
  CHIME_NEED(found != nullptr);
  return found;
}

// A captured stream; the calling thread begins and ends the capture.
class Capture {
 public:
  Capture() {
    CHIME_NEED(DRIVERS(cuStreamCreate)(&stream_, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    CHIME_NEED(DRIVERS(cuStreamBeginCapture)(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL) ==
               CUDA_SUCCESS);
  }
  Capture(const Capture&) = delete;
  ~Capture() { DRIVERS(cuStreamDestroy)(stream_); }

  CUresult end() {
    CUgraph graph = nullptr;
    return DRIVERS(cuStreamEndCapture)(stream_, &graph);
  }

 private:
  CUstream stream_ = nullptr;
};

void does_not_throw(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    CHIME_CHECK(!"the driver took it");
  }
}

// The calls that proxies and rooms make while a program runs, and those of allocations.
void use_all_of(Gpu& gpu) {
  const auto heap = gpu.allocate_heap(std::size_t{2} << 20);
  const auto page = gpu.allocate_host_visible(4096);
  auto* const word = reinterpret_cast<std::uint64_t*>(heap->address());
  std::uint64_t value = 7;

  const auto queue = gpu.make_queue();
  queue->copy(word, page->address(), sizeof value);
  queue->set(word + 1, value, sizeof value);
  while (queue->ended() != queue->begun()) std::this_thread::yield();

  const auto mark = gpu.make_mark();
  CHIME_CHECK(mark->is_reached());
  gpu.copy(word, &value, sizeof value);
  gpu.signal(word, 1, false);
  gpu.set(word, 0, sizeof value);
  SignalCall add{word, 3, 1};
  void* arguments[] = {&add};
  gpu.launch(LibraryKernel::kSignal, arguments);
  gpu.copy(&value, word, sizeof value);
  CHIME_CHECK(value == 3);
}

void another_threads_work_spoils_no_capture(Gpu& gpu) {
  Capture capture;
  std::thread([&] { does_not_throw([&] { use_all_of(gpu); }); }).join();
  CHIME_CHECK(capture.end() == CUDA_SUCCESS);
}

void the_capturing_threads_calls_spoil_no_capture(Gpu& gpu) {
  Capture capture;
  does_not_throw([&] { use_all_of(gpu); });
  CHIME_CHECK(capture.end() == CUDA_SUCCESS);
}

// The thread's mode is as the program has set it.
void a_threads_mode_is_its_own_again(Gpu& gpu) {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
  CHIME_NEED(DRIVERS(cuThreadExchangeStreamCaptureMode)(&mode) == CUDA_SUCCESS);
  does_not_throw([&] { use_all_of(gpu); });
  CHIME_CHECK(DRIVERS(cuThreadExchangeStreamCaptureMode)(&mode) == CUDA_SUCCESS);
  CHIME_CHECK(mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}

// Otherwise no other test could fail.
void a_forbidden_call_does(Gpu&) {
  Capture capture;
  CUdeviceptr memory = 0;
  CHIME_CHECK(DRIVERS(cuMemAlloc)(&memory, 4096) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CHIME_CHECK(capture.end() == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

}  // namespace

int main() {
  if (const std::string why = why_no_cuda(); !why.empty()) skip(why.c_str());
  const auto gpu = make_cuda_gpu(0);
  another_threads_work_spoils_no_capture(*gpu);
  the_capturing_threads_calls_spoil_no_capture(*gpu);
  a_threads_mode_is_its_own_again(*gpu);
  a_forbidden_call_does(*gpu);
  return verdict();
}
