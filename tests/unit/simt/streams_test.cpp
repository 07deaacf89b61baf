// Streams, events and launches on the SIMT executor.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "chime/device/exec/exec.cuh"
#include "chime/device/simt/launch/options.hpp"

namespace {

using namespace chime;
using std::chrono::milliseconds;

exec::LaunchConfig on(exec::Stream stream, exec::dim3 grid = 1, exec::dim3 block = 1) {
  exec::LaunchConfig config;
  config.grid = grid;
  config.block = block;
  config.stream = stream;
  return config;
}

// A stream that lives as long as a test.
class TestStream {
 public:
  TestStream() { EXPECT_EQ(exec::stream_create(&stream_), CHIMEX_OK); }
  ~TestStream() { EXPECT_EQ(exec::stream_destroy(stream_), CHIMEX_OK); }
  operator exec::Stream() const { return stream_; }

 private:
  exec::Stream stream_ = {};
};

void synchronize(exec::Stream stream = {}) {
  EXPECT_EQ(exec::stream_synchronize(stream), CHIMEX_OK);
}

CHIME_KERNEL void wait_then_set(const int* wait_for, int* set) {
  while (exec::ld<exec::Order::kAcquire>(wait_for) == 0) exec::pause();
  exec::st<exec::Order::kRelease>(set, 1);
}

CHIME_KERNEL void append(std::vector<int>* log, int value) { log->push_back(value); }

TEST(Stream, WorkRunsInOrder) {
  TestStream stream;
  std::vector<int> log, expected(50);
  std::iota(expected.begin(), expected.end(), 0);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(exec::launch(on(stream), append, &log, i), CHIMEX_OK);
  }
  synchronize(stream);
  EXPECT_EQ(log, expected);
}

// The end of work wakes all waiters of the stream, not just one.
TEST(Stream, SeveralThreadsWaitForOneStream) {
  TestStream stream;
  int gate = 0, done = 0;
  ASSERT_EQ(exec::launch(on(stream), wait_then_set, &gate, &done), CHIMEX_OK);
  constexpr int kThreads = 4;
  std::atomic<int> begun{0}, woken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      ++begun;
      synchronize(stream);
      EXPECT_EQ(exec::ld<exec::Order::kAcquire>(&done), 1);
      ++woken;
    });
  while (begun < kThreads) std::this_thread::yield();
  std::this_thread::sleep_for(milliseconds(50));  // until they sleep
  EXPECT_EQ(woken, 0);
  exec::st<exec::Order::kRelease>(&gate, 1);
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (woken < kThreads && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(woken, kThreads) << "others wait for an end that has come";
  // Later work wakes these as well, so that the test ends.
  while (woken < kThreads) {
    ASSERT_EQ(exec::launch(on(stream), wait_then_set, &gate, &done), CHIMEX_OK);
    std::this_thread::sleep_for(milliseconds(1));
  }
  for (std::thread& thread : threads) thread.join();
}

// SIGUSR1 ends a process if one of its threads accepts it: streams and blocks have some by now.
TEST(Stream, SignalsWaitForTheProgram) {
  TestStream stream;
  const int now = 1;
  int done = 0;
  ASSERT_EQ(exec::launch(on(stream, 2), wait_then_set, &now, &done), CHIMEX_OK);
  synchronize(stream);
  sigset_t usr1, before;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &usr1, &before), 0);
  ASSERT_EQ(kill(getpid(), SIGUSR1), 0);
  const timespec deadline{60, 0};
  EXPECT_EQ(sigtimedwait(&usr1, nullptr, &deadline), SIGUSR1);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(Stream, KernelMayWaitForALaterHostWrite) {
  int go = 0, done = 0;
  ASSERT_EQ(exec::launch(on({}), wait_then_set, &go, &done), CHIMEX_OK);
  std::this_thread::sleep_for(milliseconds(5));
  EXPECT_EQ(exec::ld(&done), 0);
  exec::st<exec::Order::kRelease>(&go, 1);
  synchronize();
  EXPECT_EQ(done, 1);
}

TEST(Stream, KernelMayWaitForAnotherStream) {
  TestStream first, second;
  int a = 0, b = 0;
  ASSERT_EQ(exec::launch(on(first), wait_then_set, &a, &b), CHIMEX_OK);
  ASSERT_EQ(
      exec::stream_host_call(
          second, [](void* p) { exec::st<exec::Order::kRelease>(static_cast<int*>(p), 1); }, &a),
      CHIMEX_OK);
  synchronize(first);
  EXPECT_EQ(b, 1);
  synchronize(second);
}

TEST(Stream, CopiesAndSetsAreOrderedWithKernels) {
  TestStream stream;
  std::vector<int> source{1, 2, 3}, middle(3), target(3);
  int never = 1, ran = 0;
  ASSERT_EQ(exec::copy_async(middle.data(), source.data(), 12, stream), CHIMEX_OK);
  ASSERT_EQ(exec::launch(on(stream), wait_then_set, &never, &ran), CHIMEX_OK);
  ASSERT_EQ(exec::copy_async(target.data(), middle.data(), 12, stream), CHIMEX_OK);
  ASSERT_EQ(exec::set_async(middle.data(), 0xff, 12, stream), CHIMEX_OK);
  synchronize(stream);
  EXPECT_EQ(target, source);
  EXPECT_EQ(middle, std::vector<int>(3, -1));
  ASSERT_EQ(exec::copy(source.data(), middle.data(), 12), CHIMEX_OK);
  EXPECT_EQ(source, middle);
}

TEST(Stream, WaitsForAValueAndWritesOne) {
  TestStream waiter, writer;
  std::uint64_t word = 0, answer = 0;
  ASSERT_EQ(exec::stream_wait64_geq(waiter, &word, 5), CHIMEX_OK);
  ASSERT_EQ(exec::stream_write64(waiter, &answer, 1), CHIMEX_OK);
  ASSERT_EQ(exec::stream_write64(writer, &word, 4), CHIMEX_OK);
  synchronize(writer);
  std::this_thread::sleep_for(milliseconds(5));
  EXPECT_EQ(exec::ld(&answer), 0u);
  ASSERT_EQ(exec::stream_write64(writer, &word, 6), CHIMEX_OK);
  synchronize(waiter);
  EXPECT_EQ(answer, 1u);
}

TEST(Stream, DefaultStreamsOfHostThreadsAreSeparate) {
  int a = 0, b = 0;  // each thread's kernel waits for the other's: one queue would deadlock
  std::thread first([&] {
    EXPECT_EQ(exec::launch(on({}), wait_then_set, &a, &b), CHIMEX_OK);
    synchronize();
  });
  std::thread second([&] {
    const int now = 1;
    EXPECT_EQ(exec::launch(on({}), wait_then_set, &now, &a), CHIMEX_OK);
    EXPECT_EQ(exec::launch(on({}), wait_then_set, &b, &b), CHIMEX_OK);
    synchronize();
  });
  first.join();
  second.join();
  EXPECT_EQ(a + b, 2);
}

TEST(Stream, DeviceSynchronizeWaitsForAllStreams) {
  TestStream first, second;
  std::atomic<int> calls{0};
  const auto slow = [](void* p) {
    std::this_thread::sleep_for(milliseconds(10));
    ++*static_cast<std::atomic<int>*>(p);
  };
  ASSERT_EQ(exec::stream_host_call(first, slow, &calls), CHIMEX_OK);
  ASSERT_EQ(exec::stream_host_call(second, slow, &calls), CHIMEX_OK);
  ASSERT_EQ(exec::device_synchronize(), CHIMEX_OK);
  EXPECT_EQ(calls, 2);
}

TEST(Stream, DestroyedHandleIsAnError) {
  exec::Stream stream = {};
  ASSERT_EQ(exec::stream_create(&stream), CHIMEX_OK);
  ASSERT_EQ(exec::stream_destroy(stream), CHIMEX_OK);
  EXPECT_EQ(exec::stream_synchronize(stream), CHIMEX_ERR_INVALID);
  EXPECT_NE(std::string(exec::last_error()).find("is not a stream"), std::string::npos);
}

TEST(Event, OrdersStreamsAndMeasures) {
  TestStream first, second;
  exec::Event start = {}, end = {};
  ASSERT_EQ(exec::event_create(&start), CHIMEX_OK);
  ASSERT_EQ(exec::event_create(&end), CHIMEX_OK);
  float ms = -1;
  EXPECT_EQ(exec::event_elapsed_ms(start, end, &ms), CHIMEX_ERR_INVALID);  // not recorded yet

  int go = 0, done = 0, seen = 0;
  ASSERT_EQ(exec::event_record(start, first), CHIMEX_OK);
  ASSERT_EQ(exec::launch(on(first), wait_then_set, &go, &done), CHIMEX_OK);
  ASSERT_EQ(exec::event_record(end, first), CHIMEX_OK);
  ASSERT_EQ(exec::stream_wait_event(second, end), CHIMEX_OK);
  ASSERT_EQ(exec::copy_async(&seen, &done, sizeof seen, second), CHIMEX_OK);
  ASSERT_EQ(exec::event_synchronize(start), CHIMEX_OK);  // the five milliseconds come after it
  std::this_thread::sleep_for(milliseconds(5));
  exec::st<exec::Order::kRelease>(&go, 1);
  synchronize(second);
  EXPECT_EQ(seen, 1);
  ASSERT_EQ(exec::event_synchronize(end), CHIMEX_OK);
  ASSERT_EQ(exec::event_elapsed_ms(start, end, &ms), CHIMEX_OK);
  EXPECT_GE(ms, 5.0f);
  EXPECT_EQ(exec::event_destroy(start), CHIMEX_OK);
  EXPECT_EQ(exec::event_destroy(end), CHIMEX_OK);
}

// ---- Launching ------------------------------------------------------------------------------

TEST(Event, NullIsAnErrorThatNamesTheCall) {
  float ms = 0;
  EXPECT_EQ(exec::event_record({}, {}), CHIMEX_ERR_INVALID);
  EXPECT_EQ(exec::event_synchronize({}), CHIMEX_ERR_INVALID);
  EXPECT_STREQ(exec::last_error(), "event_synchronize: the event is null");
  EXPECT_EQ(exec::event_elapsed_ms({}, {}, &ms), CHIMEX_ERR_INVALID);
  EXPECT_EQ(exec::stream_wait_event({}, {}), CHIMEX_ERR_INVALID);
  EXPECT_EQ(exec::event_destroy({}), CHIMEX_OK);
}

TEST(Launch, SaysWhyItRefuses) {
  int x = 1;
  const auto refused = [&](exec::LaunchConfig config, const char* words) {
    EXPECT_EQ(exec::launch(config, wait_then_set, &x, &x), CHIMEX_ERR_LAUNCH);
    EXPECT_NE(std::string(exec::last_error()).find(words), std::string::npos) << exec::last_error();
  };
  refused(on({}, 1, 1025), "1025 x 1 x 1 threads");
  refused(on({}, 0, 32), "empty");
  exec::LaunchConfig shared = on({});
  shared.shared_bytes = 1 << 20;
  refused(shared, "shared memory");
  exec::LaunchConfig cooperative = on({}, simt::options().resident_blocks + 1, 1);
  cooperative.cooperative = true;
  refused(cooperative, "CHIME_SIMT_RESIDENT");
}

struct Odd {
  char bytes[3];
};

CHIME_KERNEL void add_all(std::int8_t a, double b, Odd c, int* out) {
  if (exec::grid_rank() == 0) *out = static_cast<int>(a + b + c.bytes[2]);
}
template <class T, int N>
CHIME_KERNEL void set_to(T* out) {
  *out = N;
}
CHIME_REGISTER_KERNEL(add_all);
CHIME_REGISTER_KERNEL(set_to<int, 7>);

TEST(Launch, ByAddressOfARegisteredKernel) {
  std::int8_t a = 1;
  double b = 2.5;
  Odd c{{0, 0, 4}};
  int out = 0;
  int* address = &out;
  void* arguments[] = {&a, &b, &c, &address};
  ASSERT_EQ(exec::launch_erased(on({}), reinterpret_cast<const void*>(&add_all), arguments),
            CHIMEX_OK);
  synchronize();
  EXPECT_EQ(out, 7);
  out = 0;
  void* one[] = {&address};
  ASSERT_EQ(exec::launch_erased(on({}), reinterpret_cast<const void*>(&set_to<int, 7>), one),
            CHIMEX_OK);
  synchronize();
  EXPECT_EQ(out, 7);
  EXPECT_EQ(exec::launch_erased(on({}), &out, one), CHIMEX_ERR_LAUNCH);
  EXPECT_NE(std::string(exec::last_error()).find("CHIME_REGISTER_KERNEL"), std::string::npos);
}

CHIME_KERNEL void record_context(const Context** out) { *out = exec::launch_context(); }

TEST(Launch, KernelHasThePeOfItsLauncher) {
  int pes[2] = {};
  const auto launch_as = [](const Context* context) {
    simt::set_thread_context(context);
    const Context* seen = nullptr;
    EXPECT_EQ(exec::launch(on({}), record_context, &seen), CHIMEX_OK);
    simt::set_thread_context(nullptr);
    synchronize();
    EXPECT_EQ(seen, context);
  };
  std::thread first([&] { launch_as(reinterpret_cast<const Context*>(&pes[0])); });
  std::thread second([&] { launch_as(reinterpret_cast<const Context*>(&pes[1])); });
  first.join();
  second.join();
  launch_as(reinterpret_cast<const Context*>(&pes[0]));
}

// Two PEs as threads: cooperative kernels that meet their own grid and each other in every step.
CHIME_KERNEL void meet_peer(int* mine, const int* theirs, int steps) {
  for (int step = 1; step <= steps; ++step) {
    exec::sync_grid();
    if (exec::grid_rank() == 0) {
      exec::st<exec::Order::kRelease>(mine, step);
      while (exec::ld<exec::Order::kAcquire>(theirs) < step) exec::pause();
    }
    exec::sync_grid();
  }
}

TEST(Launch, CooperativeKernelsOfSeveralPesMakeProgress) {
  constexpr int kPes = 4, kSteps = 20;
  int arrived[kPes] = {};
  std::vector<std::thread> pes;
  for (int pe = 0; pe < kPes; ++pe) {
    pes.emplace_back([&, pe] {
      exec::LaunchConfig config = on({}, 4, 32);
      config.cooperative = true;
      EXPECT_EQ(exec::launch(config, meet_peer, &arrived[pe], &arrived[(pe + 1) % kPes], kSteps),
                CHIMEX_OK);
      synchronize();
    });
  }
  for (std::thread& pe : pes) pe.join();
  for (int steps : arrived) EXPECT_EQ(steps, kSteps);
}

TEST(Device, PropertiesDescribeASmallGpu) {
  exec::DeviceProps props;
  EXPECT_EQ(exec::device_count(), 1);
  ASSERT_EQ(exec::device_props(0, &props), CHIMEX_OK);
  EXPECT_GE(props.multiprocessors, 2);
  EXPECT_EQ(props.max_threads_per_block, 1024);
  EXPECT_EQ(exec::set_device(0), CHIMEX_OK);
  EXPECT_EQ(exec::set_device(1), CHIMEX_ERR_INVALID);
  EXPECT_EQ(exec::device_props(1, &props), CHIMEX_ERR_INVALID);
  int blocks = 0;
  ASSERT_EQ(exec::max_cooperative_blocks(meet_peer, 256, 0, &blocks), CHIMEX_OK);
  EXPECT_GE(blocks, 2);
  void* memory = nullptr;
  ASSERT_EQ(exec::device_malloc(&memory, 100), CHIMEX_OK);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 512, 0u);
  EXPECT_EQ(exec::device_free(memory), CHIMEX_OK);
}

}  // namespace
