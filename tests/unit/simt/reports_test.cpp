// The executor's reports on kernels that hang or corrupt memory on a GPU.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "chime/device/exec/exec.cuh"
#include "chime/device/simt/faults/report.hpp"
#include "chime/device/simt/faults/sanitizers.hpp"
#include "chime/device/simt/launch/options.hpp"

namespace {

using namespace chime;

// Runs `kernel` in a child process and matches what it prints before it aborts.
template <class Kernel>
void run(Kernel kernel, exec::dim3 block, exec::dim3 grid = 1, bool cooperative = false) {
  exec::LaunchConfig config;
  config.grid = grid;
  config.block = block;
  config.cooperative = cooperative;
  exec::launch(config, kernel);
  exec::stream_synchronize({});
}

class Reports : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

CHIME_KERNEL void barrier_against_collective() {
  if (exec::thread_rank() < 32) {
    exec::sync_block();
  } else if (exec::lane_id() < 4) {
    exec::sync_warp(0x1f);
  } else if (exec::lane_id() == 4) {
    exec::sync_named(2, 64);
  }
}

TEST_F(Reports, DeadlockNamesThreadsAndWhatTheyWaitAt) {
  EXPECT_DEATH(
      run(barrier_against_collective, {16, 4}, {1, 2}),
      "deadlock: every live thread of block \\(0,[01],0\\) waits\n"
      "block .*: 64 threads, 0 can run, 27 have ended\n"
      "  thread \\(0,0,0\\) and the 31 after it \\(warp 0\\) wait at sync_block\n"
      "  thread \\(0,2,0\\) and the 3 after it \\(warp 1\\) wait at sync_warp, mask 0000001f\n"
      "  thread \\(4,2,0\\) \\(warp 1\\) waits at sync_named");
}

// Whichever comes first, the end of some or the others' arrival.
TEST_F(Reports, OperationOfABlockSomeOfWhichHasEnded) {
  const auto kernel = +[] {
    if (exec::thread_rank() < 44) exec::sync_whole_block();
  };
  EXPECT_DEATH(run(kernel, 64),
               "wait at sync_whole_block\n|divergence: it is in sync_whole_block, "
               "which all its 64 threads must call, but [0-9]+ have ended");
  const auto first_ends = +[] {
    if (exec::thread_rank() > 0) exec::sync_whole_block_or(false);
  };
  EXPECT_DEATH(run(first_ends, 64),
               "in sync_whole_block_or, which all its 64 threads must call, but 1 have ended");
}

TEST_F(Reports, LaneOutsideItsOwnMask) {
  const auto kernel = +[] { exec::ballot(0x0000ffff, true); };
  EXPECT_DEATH(run(kernel, 32),
               "thread \\(16,0,0\\) of block \\(0,0,0\\): divergence: lane 16 calls ballot/any/all "
               "with mask 0000ffff, which does not contain it");
}

TEST_F(Reports, MbarrierWithoutInitialisation) {
  const auto kernel = +[] {
    CHIME_SHARED_VAR(exec::Mbarrier, barrier);
    exec::mbarrier_expect_tx(&barrier, 16);
  };
  EXPECT_DEATH(run(kernel, 1), "it arrives at the mbarrier 0x[0-9a-f]+, which is not initialised");
}

TEST_F(Reports, MoreArrivalsAtAnMbarrierThanItExpects) {
  const auto kernel = +[] {
    CHIME_SHARED_VAR(exec::Mbarrier, barrier);
    exec::mbarrier_init(&barrier, 1);
    for (int i = 0; i < 2; ++i) exec::mbarrier_expect_tx(&barrier, 16);
  };
  EXPECT_DEATH(run(kernel, 1), "1 arrivals at the mbarrier 0x[0-9a-f]+, which expects 1 and had 1");
}

TEST_F(Reports, LanesInDifferentCollectives) {
  const auto kernel = +[] {
    if (exec::lane_id() < 3) {
      exec::sync_warp();
    } else {
      exec::shfl(~0u, 1, 0);
    }
  };
  EXPECT_DEATH(run(kernel, 32), "divergence: it calls shfl\\(mask ffffffff\\) where other lanes");
}

TEST_F(Reports, BarriersOfDifferentKinds) {
  const auto kernel = +[] {
    if (exec::thread_rank() == 0) {
      exec::sync_block();
    } else {
      exec::sync_block_count(true);
    }
  };
  EXPECT_DEATH(run(kernel, 64),
               "thread \\(1,0,0\\).*divergence: it calls sync_block that counts where others wait "
               "at sync_block\n");
  const auto named = +[] { exec::sync_named(1, exec::thread_rank() == 0 ? 64 : 32); };
  EXPECT_DEATH(run(named, 64), "sync_named of (32|64) threads where others wait at sync_named of");
}

TEST_F(Reports, NamedBarrierThatTooFewReach) {
  const auto kernel = +[] {
    if (exec::warp_id() < 2) exec::sync_named(5, 96);
  };
  EXPECT_DEATH(run(kernel, 96), "deadlock(.|\n)*wait at sync_named");
}

TEST_F(Reports, BlockThatReturnsBeforeTheGridMeets) {
  const auto kernel = +[] {
    if (exec::block_rank() != 1) exec::sync_grid();
  };
  EXPECT_DEATH(run(kernel, 32, 3, true),
               "deadlock: 2 blocks wait at sync_grid for 1 that returned");
}

TEST_F(Reports, BlockWhoseThreadsEndedIsCountedOut) {
  const auto kernel = +[] {
    if (exec::block_rank() == 1) exec::end_thread();
    exec::sync_grid();
  };
  run(kernel, 32, 3, true);
}

TEST_F(Reports, GridBarrierNeedsACooperativeLaunch) {
  const auto kernel = +[] { exec::sync_grid(); };
  EXPECT_DEATH(run(kernel, 32), "sync_grid in a launch that is not cooperative");
}

int overflow(int depth) {
  volatile char frame[2048];
  for (volatile char& byte : frame) byte = 1;
  return depth == 0 ? 0 : overflow(depth - 1) + frame[depth % 2048];
}

TEST_F(Reports, StackOverflow) {
  const auto at_the_end = +[] { overflow(33); };
  const auto at_a_switch = +[] {
    char frame[63 * 1024];
    __asm__ volatile("" : : "r"(frame) : "memory");
    exec::sync_block();
    __asm__ volatile("" : : "r"(frame) : "memory");
  };
  simt::Options options = simt::options();
  options.stack_bytes = 64 * 1024;
  simt::set_options(options);
  EXPECT_DEATH(run(at_a_switch, 2), "stack overflow \\(64 KiB\\): raise CHIME_SIMT_STACK_KB");
  EXPECT_DEATH(run(at_the_end, 2), "stack overflow \\(64 KiB\\): raise CHIME_SIMT_STACK_KB");
}

template <int kBytes>
CHIME_KERNEL void fill_an_array(int* out) {
  volatile char array[kBytes];
  for (volatile char& byte : array) byte = 1;
  out[exec::grid_rank()] = array[kBytes / 2];
}
template <int kBytes>
CHIME_KERNEL void touch_an_array_and_meet() {
  char array[kBytes];
  __asm__ volatile("" : : "r"(array) : "memory");
  exec::sync_block();
  __asm__ volatile("" : : "r"(array) : "memory");
}

int recurse(int depth) {
  volatile char frame[4096];
  for (volatile char& byte : frame) byte = 1;
  return depth == 0 ? 0 : recurse(depth - 1) + frame[depth % 4096];
}

TEST_F(Reports, StackOverflowThatOverstepsTheStack) {
  simt::Options options = simt::options();
  options.stack_bytes = 64 * 1024;
  simt::set_options(options);
  static int out[64];
  const auto deep = +[] { out[exec::thread_rank()] = recurse(1000); };
  const auto wide = +[] { fill_an_array<200 * 1024>(out); };
  const auto one_page_more = +[] { fill_an_array<66 * 1024>(out); };
  for (unsigned threads : {1u, 2u, 64u}) {
    SCOPED_TRACE(threads);
    EXPECT_DEATH(run(deep, threads), "thread .*: stack overflow \\(64 KiB\\)");
    EXPECT_DEATH(run(wide, threads), "thread .*: stack overflow \\(64 KiB\\)");
    EXPECT_DEATH(run(one_page_more, threads), "thread .*: stack overflow \\(64 KiB\\)");
  }
  const auto alone_at_a_barrier = +[] { touch_an_array_and_meet<66 * 1024>(); };
  EXPECT_DEATH(run(alone_at_a_barrier, 1), "thread .*: stack overflow \\(64 KiB\\)");
}

// ---- Faults -------------------------------------------------------------------------------------

// Sanitizers have separate handlers and messages.
constexpr bool kHandlersAreTaken = simt::kAsan || simt::kTsan;

// One thread of many, beside others that wait.
template <void (*fault)()>
CHIME_KERNEL void fault_in_one_thread() {
  if (exec::block_rank() == 1 && exec::thread_rank() == 5) fault();
  exec::sync_block();
}

volatile std::uintptr_t nowhere = 8;
volatile int zero = 0;
void read_nowhere() { static_cast<void>(*reinterpret_cast<volatile int*>(nowhere)); }
void write_nowhere() { *reinterpret_cast<volatile int*>(nowhere) = 1; }
void use_an_impossible_address() {
  *reinterpret_cast<volatile int*>(nowhere + (std::uintptr_t{1} << 62)) = 1;
}
void divide_by_zero() { zero = 100 / zero; }
void run_no_instruction() { __builtin_trap(); }
void touch_beyond_a_file() {
  const int fd = memfd_create("empty", 0);
  *static_cast<volatile int*>(mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, fd, 0)) = 1;
}
void send_the_signal() { raise(SIGSEGV); }

TEST_F(Reports, FaultsAreNamedAndEndTheProcessByTheirSignal) {
#ifdef __x86_64__
  const std::string reads = "reads", writes = "writes";
#else
  const std::string reads = "touches", writes = reads;
#endif
  const std::string place = " in thread \\(5,0,0\\) of block \\(1,0,0\\) of kernel .+: ";
  const auto dies_of = [](int signal) { return testing::KilledBySignal(signal); };
  const auto fault = [](void (*kernel)()) { run(kernel, 64, 2); };
  struct Case {
    void (*kernel)();
    int signal;
    std::string words;
  };
  for (const Case& c :
       {Case{fault_in_one_thread<read_nowhere>, SIGSEGV,
             "SIGSEGV" + place + "it " + reads + " 0x8, where nothing is mapped"},
        Case{fault_in_one_thread<write_nowhere>, SIGSEGV,
             "SIGSEGV" + place + "it " + writes + " 0x8, where nothing is mapped"},
        Case{fault_in_one_thread<use_an_impossible_address>, SIGSEGV,
             "SIGSEGV" + place + "it uses an address that no memory can have"},
        Case{fault_in_one_thread<touch_beyond_a_file>, SIGBUS,
             "SIGBUS" + place + "it " + writes + " 0x[0-9a-f]+, beyond the end of what is mapped"},
        Case{fault_in_one_thread<divide_by_zero>, SIGFPE,
             "SIGFPE" + place + "it divides an integer"},
        Case{fault_in_one_thread<run_no_instruction>, SIGILL,
             "SIGILL" + place + "there is no such instruction"}}) {
    if (kHandlersAreTaken) {
      EXPECT_DEATH(fault(c.kernel), "SEGV|BUS|FPE|ILL|division by zero");  // UBSan's words
    } else {
      EXPECT_EXIT(fault(c.kernel), dies_of(c.signal), "^chime: simt: " + c.words + ".*\n$");
    }
  }
}

TEST_F(Reports, FaultOfManyThreadsIsNamedOnce) {
  if (kHandlersAreTaken) GTEST_SKIP() << "sanitizers have handlers of their own";
  EXPECT_EXIT(run(
                  +[] { write_nowhere(); }, 64, 8),
              testing::KilledBySignal(SIGSEGV), "^chime: simt: SIGSEGV in thread [^\n]*\n$");
}

TEST_F(Reports, SignalsThatAreSentAreNoFaults) {
  if (kHandlersAreTaken) GTEST_SKIP() << "sanitizers have handlers of their own";
  EXPECT_EXIT(run(fault_in_one_thread<send_the_signal>, 64, 2), testing::KilledBySignal(SIGSEGV),
              "^$");
}

// Like a runtime of another language: an earlier handler gets every fault.
TEST_F(Reports, FaultsGoToTheHandlerThatWasThereBefore) {
  if (kHandlersAreTaken) GTEST_SKIP() << "sanitizers have handlers of their own";
  const auto with_handler = [](int signal, void (*kernel)()) {
    struct sigaction action = {};
    action.sa_handler = [](int) {
      [[maybe_unused]] const auto written = write(STDERR_FILENO, "mine\n", 5);
      _exit(3);
    };
    sigaction(signal, &action, nullptr);
    run(kernel, 64, 2);
  };
  const auto exits_with_3 = testing::ExitedWithCode(3);
  EXPECT_EXIT(with_handler(SIGSEGV, fault_in_one_thread<write_nowhere>), exits_with_3, "^mine\n$");
  EXPECT_EXIT(with_handler(SIGFPE, fault_in_one_thread<divide_by_zero>), exits_with_3, "^mine\n$");
}

CHIME_KERNEL void all_blocks_deadlock() {
  if (exec::warp_id() < 2) exec::sync_named(5, 96);
}

TEST_F(Reports, OneOfManyDeadlocksIsReportedWhole) {
  EXPECT_DEATH(
      run(all_blocks_deadlock, 96, 8),
      "^chime: simt: deadlock: every live thread of block \\(.,0,0\\) waits\n"
      "block \\(.,0,0\\) of kernel .*: 96 threads, 0 can run, 32 have ended\n"
      "  thread \\(0,0,0\\) and the 31 after it \\(warp 0\\) wait at sync_named\\(5, 96\\): 64 "
      "of 96 threads have come\n"
      "  thread \\(32,0,0\\) and the 31 after it \\(warp 1\\) wait at sync_named\\(5, 96\\): "
      "64 of 96 threads have come\n$");
}

TEST_F(Reports, ExceptionThatLeavesAKernel) {
  const auto kernel = +[] { throw std::runtime_error("told you"); };
  EXPECT_DEATH(run(kernel, 1), "an exception left the kernel: told you");
}

TEST_F(Reports, Trap) {
  const auto kernel = +[] {
    if (exec::grid_rank() == 77) exec::trap("no such peer");
  };
  EXPECT_DEATH(run(kernel, 64, 2), "thread \\(13,0,0\\) of block \\(1,0,0\\): trap: no such peer");
}

TEST_F(Reports, DeviceFunctionsOnAHostThread) {
  EXPECT_DEATH(exec::sync_block(), "sync_block was called outside a kernel");
  EXPECT_DEATH(exec::end_thread(), "end_thread was called outside a kernel");
}

CHIME_KERNEL void dump_from_inside() {
  if (exec::warp_id() == 0) {
    exec::sync_block();
  } else if (exec::thread_rank() == 40) {
    simt::chime_simt_dump();
    exec::trap("dumped");
  }
}

TEST_F(Reports, DumpListsResidentBlocks) {
  EXPECT_DEATH(
      run(dump_from_inside, 64),
      "resident blocks\nblock \\(0,0,0\\) of kernel .*: 64 threads, 24 can run, 8 have ended\n"
      "  thread \\(0,0,0\\) and the 31 after it \\(warp 0\\) wait at sync_block");
}

}  // namespace
