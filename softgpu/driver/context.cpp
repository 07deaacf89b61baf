#include "softgpu/driver/context.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <unordered_map>

#include "softgpu/driver/capture.hpp"
#include "softgpu/driver/failure.hpp"
#include "softgpu/driver/immortal.hpp"
#include "softgpu/driver/memory/address_space.hpp"
#include "softgpu/driver/objects.hpp"
#include "softgpu/driver/of_thread.hpp"

namespace softgpu::driver {

namespace {

using Contexts = Registry<Context, CUcontext>;
Contexts& contexts() { return immortal<Contexts>(); }

using ContextStack = std::vector<CUcontext>;
ContextStack& stack() { return of_thread<ContextStack>(); }

// CUDA's null stream is shared by all threads, or each thread has its own. In CUDA an option of the
// compiler decides; here a variable may.
bool null_stream_is_of_thread() {
  static const bool yes = [] {
    const char* value = std::getenv("CHIME_SOFTGPU_DEFAULT_STREAM");
    if (!value || !*value || std::string_view(value) == "legacy") return false;
    if (std::string_view(value) == "thread") return true;
    say("CHIME_SOFTGPU_DEFAULT_STREAM=%s: it is legacy or thread; legacy is taken", value);
    return false;
  }();
  return yes;
}

// The calling thread's default streams, one in each context.
class ThreadStreams {
 public:
  ~ThreadStreams() {
    for (const auto& [handle, stream] : streams_)
      if (const auto context = find_context(handle)) context->remove_stream(*stream);
  }
  std::shared_ptr<Stream> in(Context& context) {
    std::shared_ptr<Stream>& stream = streams_[context.handle()];
    if (!stream) stream = context.add_stream(StreamKind::kBlocking);
    return stream;
  }

 private:
  std::unordered_map<CUcontext, std::shared_ptr<Stream>> streams_;
};

}  // namespace

// ---- Life -------------------------------------------------------------------------------------

std::shared_ptr<Context> Context::create(Device& device) {
  auto context = std::make_shared<Context>(device);
  context->handle_ = contexts().add(context);
  return context;
}

void Context::destroy() {
  contexts().remove(handle_);
  synchronize();
  forget_objects_of(*this);
  address_space().remove_of(handle_);
  const std::lock_guard lock(mutex_);
  legacy_.reset();
  streams_.clear();
}

bool Context::enable_peer(const Context& peer) {
  const std::lock_guard lock(mutex_);
  return peers_.insert(peer.handle()).second;
}

bool Context::disable_peer(const Context& peer) {
  const std::lock_guard lock(mutex_);
  return peers_.erase(peer.handle()) != 0;
}

void Context::lose(CUresult failure, const char* words) {
  const std::lock_guard lock(losing_);
  if (this->failure() != CUDA_SUCCESS) return;
  say("%s; the context is lost", words);
  failure_.store(failure, std::memory_order_release);
}

void Context::need_alive() const {
  if (const CUresult lost = failure(); lost != CUDA_SUCCESS) throw Failure{lost};
}

// ---- Streams ----------------------------------------------------------------------------------

std::shared_ptr<Stream> Context::add_stream(StreamKind kind) {
  auto stream = std::make_shared<Stream>(*this, kind);
  const std::lock_guard lock(mutex_);
  streams_.push_back(stream);
  return stream;
}

// The legacy stream waits for its remaining work: so its end becomes a point of the legacy stream.
void Context::remove_stream(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(streams_.begin(), streams_.end(),
                                  [&](const auto& other) { return other.get() == &stream; });
  if (found == streams_.end()) return;
  const auto end = (*found)->end_of_work();
  if ((*found)->kind() == StreamKind::kBlocking && !end->is_reached()) {
    legacy().run([end] { end->wait(); });
    legacy().worked();
  }
  streams_.erase(found);
}

Stream& Context::legacy() {
  if (!legacy_) legacy_ = std::make_shared<Stream>(*this, StreamKind::kLegacy);
  return *legacy_;
}

std::shared_ptr<Stream> Context::stream_anywhere(CUstream handle) {
  const bool is_null = handle == nullptr;
  if (handle == CU_STREAM_PER_THREAD || (is_null && null_stream_is_of_thread()))
    return of_thread<ThreadStreams>().in(*this);
  if (is_null || handle == CU_STREAM_LEGACY) {
    const std::lock_guard lock(mutex_);
    legacy();
    return legacy_;
  }
  std::shared_ptr<Stream> stream = streams().find(handle);
  if (!stream) fail(CUDA_ERROR_INVALID_HANDLE, "%p is not a stream", static_cast<void*>(handle));
  stream->context().need_alive();
  return stream;
}

std::shared_ptr<Stream> Context::stream_of(CUstream handle) {
  std::shared_ptr<Stream> stream = stream_anywhere(handle);
  if (&stream->context() != this)
    fail(CUDA_ERROR_INVALID_HANDLE, "stream %p is of another context than the current one",
         static_cast<void*>(handle));
  return stream;
}

void Context::wait_first(Stream& stream) {
  const auto wait_for = [&](Stream& other) {
    const std::shared_ptr<Point> point = other.end_of_work();
    if (point->is_reached()) return;
    stream.run([point] { point->wait(); });
    stream.worked();
  };
  if (stream.kind() == StreamKind::kBlocking && legacy_) wait_for(*legacy_);
  if (stream.kind() != StreamKind::kLegacy) return;
  for (const auto& other : streams_)
    if (other->kind() == StreamKind::kBlocking) wait_for(*other);
}

void Context::queue(Stream& stream, const std::function<void(Stream&)>& put) {
  if (captures().status_of(stream) != CU_STREAM_CAPTURE_STATUS_NONE)
    fail(CUDA_ERROR_NOT_SUPPORTED, "work in a captured stream: the softgpu has no graphs");
  const std::lock_guard lock(mutex_);
  wait_first(stream);
  put(stream);
  stream.worked();
}

void Context::queue_call(Stream& stream, std::function<void()> call) {
  queue(stream, [&](Stream& into) {
    into.run([context = shared_from_this(), call = std::move(call)] {
      if (context->failure() == CUDA_SUCCESS) call();
    });
  });
}

std::shared_ptr<Point> Context::end_of_work(Stream& stream) {
  const std::lock_guard lock(mutex_);
  wait_first(stream);
  return stream.end_of_work();
}

void Context::wait_for(const Point& point) const {
  point.wait();
  need_alive();
}

void Context::synchronize() {
  std::vector<std::shared_ptr<Point>> points;
  {
    const std::lock_guard lock(mutex_);
    if (legacy_) points.push_back(legacy_->end_of_work());
    for (const auto& stream : streams_) points.push_back(stream->end_of_work());
  }
  for (const auto& point : points) point->wait();
}

// ---- Which context is current -----------------------------------------------------------------

std::shared_ptr<Context> find_context(CUcontext handle) { return contexts().find(handle); }

std::shared_ptr<Context> current_context() {
  const CUcontext top = top_context();
  if (!top) fail(CUDA_ERROR_INVALID_CONTEXT, "the calling thread has no current context");
  std::shared_ptr<Context> context = find_context(top);
  if (!context)
    fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the calling thread's current context %p is destroyed",
         static_cast<void*>(top));
  return context;
}

CUcontext top_context() { return stack().empty() ? nullptr : stack().back(); }

void set_context(CUcontext handle) {
  if (!stack().empty()) stack().pop_back();
  if (handle) stack().push_back(handle);
}

void push_context(CUcontext handle) { stack().push_back(handle); }

CUcontext pop_context() {
  if (stack().empty())
    fail(CUDA_ERROR_INVALID_CONTEXT, "the calling thread has no current context");
  const CUcontext top = stack().back();
  stack().pop_back();
  return top;
}

}  // namespace softgpu::driver
