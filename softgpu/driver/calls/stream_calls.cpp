// Streams, and their work besides kernels and copies.
#include "softgpu/driver/calls/calls.hpp"
#include "softgpu/driver/memory/address_space.hpp"
#include "softgpu/driver/objects.hpp"
#include "softgpu/driver/stream_words.hpp"

using namespace softgpu::driver;

namespace {

thread_local bool runs_host_function = false;

CUresult create(CUstream* stream, unsigned flags) {
  return answer_in_context([&](Context& context) {
    need(stream);
    if (flags & ~CU_STREAM_NON_BLOCKING)
      fail(CUDA_ERROR_INVALID_VALUE, "a stream with flags %#x", flags);
    *stream = streams().add(context.add_stream(
        flags & CU_STREAM_NON_BLOCKING ? StreamKind::kNonBlocking : StreamKind::kBlocking));
  });
}

// An address that stream operations may use: aligned, and known to the driver.
template <class T>
T* word_at(CUdeviceptr address, Access access) {
  if (address == 0 || address % sizeof(T) != 0)
    fail(CUDA_ERROR_INVALID_VALUE, "a stream operation on %#llx, which is no multiple of %zu",
         address, sizeof(T));
  if (!address_space().check(address, sizeof(T), access))
    fail(CUDA_ERROR_INVALID_VALUE,
         "a stream operation on %#llx: memory of the host is to be registered first", address);
  return reinterpret_cast<T*>(address);
}

template <class T>
CUresult write(CUstream handle, CUdeviceptr address, T value, unsigned flags) {
  return answer_in_context([&](Context& context) {
    if (flags & ~CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER)
      fail(CUDA_ERROR_INVALID_VALUE, "a stream's write with flags %#x", flags);
    T* const word = word_at<T>(address, Access::kWrite);
    const bool is_release = flags == CU_STREAM_WRITE_VALUE_DEFAULT;
    context.queue_call(*context.stream_of(handle), [=] { write_word(word, value, is_release); });
  });
}

template <class T>
CUresult wait(CUstream handle, CUdeviceptr address, T value, unsigned flags) {
  return answer_in_context([&](Context& context) {
    if (flags > CU_STREAM_WAIT_VALUE_NOR)
      fail(CUDA_ERROR_INVALID_VALUE, "a stream's wait with flags %#x", flags);
    const T* const word = word_at<T>(address, Access::kRead);
    context.queue_call(*context.stream_of(handle), [=, context = context.shared_from_this()] {
      wait_for_word(word, value, flags, *context);
    });
  });
}

}  // namespace

bool softgpu::driver::in_host_function() { return runs_host_function; }

// ---- Life ---------------------------------------------------------------------------------------

SOFTGPU_API cuStreamCreate(CUstream* stream, unsigned flags) { return create(stream, flags); }

// All priorities are equal.
SOFTGPU_API cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int) {
  return create(stream, flags);
}

SOFTGPU_API cuStreamDestroy(CUstream handle) {
  return answer_in_context([&](Context&) {
    const std::shared_ptr<Stream> stream = streams().remove(handle);
    if (!stream)
      fail(CUDA_ERROR_INVALID_HANDLE, "%p is not a stream that can be destroyed",
           static_cast<void*>(handle));
    captures().forget(*stream);
    stream->context().remove_stream(*stream);
  });
}

SOFTGPU_API cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return answer_in_context([&](Context& context) {
    required(flags) = context.stream_anywhere(stream)->kind() == StreamKind::kNonBlocking
                          ? CU_STREAM_NON_BLOCKING
                          : CU_STREAM_DEFAULT;
  });
}

SOFTGPU_API cuStreamGetCtx(CUstream stream, CUcontext* of) {
  return answer_in_context([&](Context& context) {
    required(of) = context.stream_anywhere(stream)->context().handle();
  });
}

// ---- Work ---------------------------------------------------------------------------------------
// Calls that name nothing but the stream accept one of any context, as copies do. Kernels, fills,
// words and host functions go only into streams of the current context.

SOFTGPU_API cuStreamQuery(CUstream handle) {
  return answer_uncaptured("cuStreamQuery", [&](Context& current) {
    const std::shared_ptr<Stream> stream = current.stream_anywhere(handle);
    captures().need_none_of(*stream, "cuStreamQuery");
    const bool is_done = stream->context().end_of_work(*stream)->is_reached();
    stream->context().need_alive();
    return is_done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

SOFTGPU_API cuStreamSynchronize(CUstream handle) {
  return answer_uncaptured("cuStreamSynchronize", [&](Context& current) {
    const std::shared_ptr<Stream> stream = current.stream_anywhere(handle);
    captures().need_none_of(*stream, "cuStreamSynchronize");
    stream->context().wait_for_work(*stream);
  });
}

SOFTGPU_API cuLaunchHostFunc(CUstream stream, CUhostFn call, void* argument) {
  return answer_in_context([&](Context& context) {
    if (!call) fail(CUDA_ERROR_INVALID_VALUE, "cuLaunchHostFunc: the function is null");
    context.queue_call(*context.stream_of(stream), [=] {
      runs_host_function = true;
      call(argument);
      runs_host_function = false;
    });
  });
}

SOFTGPU_API cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                 unsigned flags) {
  return write(stream, address, value, flags);
}
SOFTGPU_API cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                 unsigned flags) {
  return write(stream, address, value, flags);
}
SOFTGPU_API cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                unsigned flags) {
  return wait(stream, address, value, flags);
}
SOFTGPU_API cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                unsigned flags) {
  return wait(stream, address, value, flags);
}
