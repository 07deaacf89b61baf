// The host's GPU device against a stand-in for the driver: its calls, their order, the released
// objects, and the messages for users when it refuses. tests/gpu has the same on a real one.
#include "host/gpu/cuda_gpu.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <stdexcept>
#include <thread>

#define CHIME_HOST_ONLY
#include "chime/chime.h"
#include "chime/host_ops.h"
#include "fake_driver.hpp"
#include "gpu_on_cpu.hpp"
#include "host/errors/error.hpp"
#include "host/gpu/factory.hpp"

namespace chime::host {
namespace {

constexpr std::size_t kBytes = (std::size_t{3} << 20) + 65536;  // not a multiple of the granule

FakeDriver& fake() {
  static auto* state =
      static_cast<FakeDriver*>(::dlsym(::dlopen("libcuda.so.1", RTLD_NOW), "fake_driver_state"));
  if (state == nullptr)
    throw std::runtime_error("LD_LIBRARY_PATH has no stand-in for libcuda.so.1");
  return *state;
}

// Runs the kernel of a launch on the CPU.
void run_kernel_here(const char* name, void** arguments) {
  for (int i = 0; i < kLibraryKernels; ++i)
    if (std::strcmp(name, kLibraryKernelNames[i]) == 0)
      return run_library_kernel(static_cast<LibraryKernel>(i), arguments);
  ADD_FAILURE() << "there is no kernel " << name;
}

class CudaGpu : public testing::Test {
 protected:
  CudaGpu() {
    fake() = FakeDriver{};
    fake().run_kernel = run_kernel_here;
  }
  ~CudaGpu() override {
    const FakeDriver& left = fake();
    EXPECT_EQ(left.live_handles, 0);
    EXPECT_EQ(left.live_addresses, 0);
    EXPECT_EQ(left.live_mappings, 0);
    EXPECT_EQ(left.live_streams, 0);
    EXPECT_EQ(left.live_events, 0);
    EXPECT_EQ(left.live_modules, 0);
    EXPECT_EQ(left.live_registrations, 0);
  }
};

std::uint64_t read_word(Gpu& gpu, const std::byte* at) {
  std::uint64_t value = 0;
  gpu.copy(&value, at, sizeof value);
  return value;
}

std::uint64_t* word_at(const DeviceMemory& memory, std::size_t offset) {
  return reinterpret_cast<std::uint64_t*>(memory.address() + offset);
}

// The message of the Error that `body` throws.
template <class Body>
std::string error_of(Body body, chimex_status code) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST_F(CudaGpu, NamesItself) {
  EXPECT_EQ(make_cuda_gpu(0)->describe(), "Fake GPU (CUDA device 0, driver for CUDA 13.0)");
  EXPECT_EQ(why_no_cuda(), "");
}

// The program's objects in it, and other PEs' mappings in the process, outlive the PE.
TEST_F(CudaGpu, LeavesTheContextToTheProgram) {
  make_cuda_gpu(0);
  EXPECT_EQ(fake().kept_contexts, 1);
}

// A node whose PEs all see the same GPUs; this PE is at `place`.
NodeTalk node_of(std::size_t n_pes, std::size_t place, std::string& told) {
  return {[&told](const std::string& mine) { told = mine; },
          [&told, n_pes, place] {
            return NodeTalk::Heard{std::vector(n_pes, told), place};
          }};
}

// From a thread without a context, which has therefore chosen no GPU.
std::string opened(DeviceChoice choice, std::size_t n_pes, std::size_t place, std::string& told) {
  std::string name;
  std::thread([&] { name = open_gpu(choice, node_of(n_pes, place, told))->describe(); }).join();
  return name;
}

TEST_F(CudaGpu, PesOfANodeTakeAGpuEachAndSayWhy) {
  fake().devices = 2;
  std::string told;
  for (std::size_t place = 0; place < 4; ++place) {
    const std::string name = opened(DeviceChoice::kCuda, 4, place, told);
    EXPECT_NE(name.find("CUDA device " + std::to_string(place % 2)), std::string::npos) << name;
    EXPECT_NE(name.find("the node's 4 PEs take them in turn"), std::string::npos) << name;
  }
  EXPECT_EQ(told, "GPUs\n0000:3b:00.0 0\n0000:3c:00.0 0\n");
}

TEST_F(CudaGpu, AloneItNeedNotWaitForTheOthersOfItsNode) {
  std::string told;
  NodeTalk talk = node_of(4, 3, told);
  talk.hear = []() -> NodeTalk::Heard { throw std::runtime_error("no PE has come"); };
  std::string name;
  std::thread([&] { name = open_gpu(DeviceChoice::kCuda, talk)->describe(); }).join();
  EXPECT_NE(name.find("CUDA device 0, driver for CUDA 13.0): the only GPU that this PE sees"),
            std::string::npos)
      << name;
  EXPECT_EQ(told, "GPUs\n0000:3b:00.0 0\n");
}

TEST_F(CudaGpu, OthersLearnWhatAProgramHasChosen) {
  fake().devices = 2;
  std::string told, name;
  std::thread([&] {
    const auto chosen = make_cuda_gpu(0);  // becomes the thread's device, as with cudaSetDevice
    name = open_gpu(DeviceChoice::kCuda, node_of(2, 1, told))->describe();
  }).join();
  EXPECT_NE(name.find("CUDA device 0, driver for CUDA 13.0): chosen by the program"),
            std::string::npos)
      << name;
  EXPECT_EQ(told, "GPUs\n0000:3b:00.0 0\n");
}

TEST_F(CudaGpu, OthersLearnThatAPeTakesNone) {
  std::string told;
  opened(DeviceChoice::kCpu, 2, 0, told);
  EXPECT_EQ(told, "GPUs\n");
}

TEST_F(CudaGpu, ADeviceIsChosenByTheThreadThatHasOne) {
  std::optional<int> before = 1, after;
  std::thread([&] {
    before = chosen_cuda_device();
    const auto gpu = make_cuda_gpu(0);  // becomes the thread's device, as with cudaSetDevice
    after = chosen_cuda_device();
  }).join();
  EXPECT_EQ(before, std::nullopt);
  EXPECT_EQ(after, 0);
}

TEST_F(CudaGpu, NothingIsLeftToChooseOnTheCpuAndWithoutAGpu) {
  std::thread([] {
    EXPECT_TRUE(is_chosen(DeviceChoice::kCpu));
    EXPECT_FALSE(is_chosen(DeviceChoice::kCuda));
    fake().devices = 0;
    EXPECT_TRUE(is_chosen(DeviceChoice::kCuda));
  }).join();
}

TEST_F(CudaGpu, HeapKeepsWhatIsCopied) {
  const auto gpu = make_cuda_gpu(0);
  const auto heap = gpu->allocate_heap(kBytes);
  EXPECT_EQ(heap->bytes(), kBytes);
  gpu->set(heap->address(), 0x11, kBytes);
  EXPECT_EQ(read_word(*gpu, heap->address() + kBytes - 8), 0x1111111111111111u);
}

TEST_F(CudaGpu, HeapTravelsByDescriptor) {
  const auto gpu = make_cuda_gpu(0);
  const auto heap = gpu->allocate_heap(kBytes);
  ASSERT_GE(heap->share_fd(), 0);
  const auto peer = gpu->map_peer_heap(heap->share_fd(), kBytes);
  EXPECT_NE(peer->address(), heap->address());
  *word_at(*heap, 4096) = 7;
  EXPECT_EQ(read_word(*gpu, peer->address() + 4096), 7u);
  EXPECT_GE(::fcntl(heap->share_fd(), F_GETFD), 0) << "the descriptor stays the caller's";
}

TEST_F(CudaGpu, HeapTravelsByFabricHandleWhereThereAreNoDescriptors) {
  fake().fabric_only = true;
  const auto gpu = make_cuda_gpu(0);
  const auto heap = gpu->allocate_heap(kBytes);
  EXPECT_EQ(heap->share_fd(), -1);
  ASSERT_NE(heap->fabric_handle(), nullptr);
  const auto peer = gpu->map_peer_heap(heap->fabric_handle(), kBytes);
  *word_at(*peer, 0) = 9;
  EXPECT_EQ(read_word(*gpu, heap->address()), 9u);
}

TEST_F(CudaGpu, SignalsAreStoredAndAdded) {
  const auto gpu = make_cuda_gpu(0);
  const auto heap = gpu->allocate_heap(kBytes);
  gpu->signal_async(word_at(*heap, 0), 40, false, nullptr);
  EXPECT_EQ(fake().kernel_launches, 0) << "the driver writes by itself";
  gpu->signal(word_at(*heap, 0), 2, true);
  EXPECT_EQ(fake().kernel_launches, 1);
  EXPECT_EQ(*word_at(*heap, 0), 42u);
}

TEST_F(CudaGpu, SignalsAreStoredByAKernelWhereStreamsCannotWrite) {
  fake().streams_write_64 = false;
  const auto gpu = make_cuda_gpu(0);
  const auto heap = gpu->allocate_heap(kBytes);
  gpu->signal_async(word_at(*heap, 8), 5, false, nullptr);
  EXPECT_EQ(fake().kernel_launches, 1);
  EXPECT_EQ(*word_at(*heap, 8), 5u);
}

// A PE of a job of one, as kernels see it.
struct OnePe {
  explicit OnePe(Gpu& gpu)
      : heap(gpu.allocate_heap(kBytes)), control(gpu.allocate_host_visible(4096)) {
    gpu.set(heap->address(), 0, abi::kHeapReserved);
    peer_heap[0] = heap->address();
    context.abi_version = kAbiVersion;
    context.pe.my_pe = 0;
    context.pe.n_pes = 1;
    context.pe.heap = heap->address();
    context.pe.heap_bytes = kBytes;
    context.pe.peer_heap = peer_heap;
    all.handle = 0;
    all.size = 1;
    all.my_rank = 0;
    all.lanes = 1;
    all.areas = reinterpret_cast<abi::SyncArea*>(heap->address());
    context.teams = {&all, 1, 1};
    context.pe.abort = reinterpret_cast<abi::AbortWord*>(control->address());
    context.pe.error = context.pe.async_error =
        reinterpret_cast<abi::ErrorRecord*>(control->address() + 128);
  }
  std::unique_ptr<DeviceMemory> heap, control;
  std::byte* peer_heap[1];
  abi::Team all;
  Context context;
};

TEST_F(CudaGpu, EveryKernelOfTheLibraryIsLaunchedByItsName) {
  const auto gpu = make_cuda_gpu(0);
  OnePe pe(*gpu);
  std::uint64_t* const word = word_at(*pe.heap, abi::kHeapReserved);
  std::uint64_t* const old = word_at(*pe.control, 256);
  *word = 40;

  AmoCall amo{CHIME_AMO_ADD, 1, word, 8, 0, 2, 0, old};
  void* amo_arguments[] = {&pe.context, &amo};
  gpu->launch(LibraryKernel::kAmo, amo_arguments);
  EXPECT_EQ(*old, 40u);
  EXPECT_EQ(*word, 42u);

  SignalWaitCall wait{word, 42, CHIME_CMP_EQ};
  void* wait_arguments[] = {&pe.context, &wait};
  gpu->launch_async(LibraryKernel::kSignalWait, wait_arguments, nullptr);

  SyncCall sync{Operation::kBarrierAll};
  void* sync_arguments[] = {&pe.context, &sync};
  gpu->launch_async(LibraryKernel::kSync, sync_arguments, nullptr);
  EXPECT_EQ(pe.all.areas->epoch, 1u);

  gpu->signal(word, 1, true);
  EXPECT_EQ(*word, 43u);

  UpdateCall update{nullptr, 1, {{word, 3, 0, old, AmoOp::kAdd, 8}}};
  void* update_arguments[] = {&update};
  gpu->launch(LibraryKernel::kUpdate, update_arguments);
  EXPECT_EQ(*old, 43u);
  EXPECT_EQ(*word, 46u);
  EXPECT_EQ(fake().kernel_launches, 5);
  EXPECT_EQ(pe.context.pe.error->claimed, 0u);
}

TEST_F(CudaGpu, EveryKernelThatMovesDataIsLaunchedByItsName) {
  const auto gpu = make_cuda_gpu(0);
  OnePe pe(*gpu);
  std::uint64_t* const words = word_at(*pe.heap, abi::kHeapReserved);
  std::uint64_t* const result = word_at(*pe.control, 256);
  words[0] = 43, words[1] = words[2] = words[3] = 0;

  MoveCall move{.operation = Operation::kPutSignal,
                .pe = 0,
                .dst = words + 1,
                .src = words,
                .bytes = 8,
                .ends = Ends::kComplete,
                .signal_op = CHIME_SIGNAL_ADD,
                .signal = words + 2,
                .value = 6,
                .room_is_left = nullptr};
  void* move_arguments[] = {&pe.context, &move};
  gpu->launch(LibraryKernel::kMove, move_arguments);
  EXPECT_EQ(words[1], 43u);
  EXPECT_EQ(words[2], 6u);
  EXPECT_EQ(fake().last_block, 1u);

  StridedCall strided{Operation::kIput, 0, words + 1, words, 2, 1, 2, 8};
  void* strided_arguments[] = {&pe.context, &strided};
  gpu->launch(LibraryKernel::kStrided, strided_arguments);
  EXPECT_EQ(words[3], 43u);
  EXPECT_EQ(fake().last_block, 32u) << "the elements of a warp wait together";

  ElementCall element{Operation::kG, 0, words + 2, 8, {}, result};
  void* element_arguments[] = {&pe.context, &element};
  gpu->launch(LibraryKernel::kElement, element_arguments);
  EXPECT_EQ(*result, 6u);

  SignalOpCall signal{words + 2, 9, CHIME_SIGNAL_SET, 0, Ends::kAsItSays};
  void* signal_arguments[] = {&pe.context, &signal};
  gpu->launch_async(LibraryKernel::kSignalOp, signal_arguments, nullptr);
  EXPECT_EQ(words[2], 9u);
  EXPECT_EQ(fake().kernel_launches, 4);
  EXPECT_EQ(pe.context.pe.error->claimed, 0u);
}

TEST_F(CudaGpu, MarksAreEventsOfStreams) {
  const auto gpu = make_cuda_gpu(0);
  const auto mark = gpu->make_mark();
  EXPECT_EQ(fake().live_events, 1);
  mark->set(nullptr);
  EXPECT_TRUE(mark->is_reached());
  fake().events_are_reached = false;
  EXPECT_FALSE(mark->is_reached());
  mark->hold(nullptr);
  EXPECT_EQ(fake().event_waits, 1);
  EXPECT_FALSE(gpu->is_captured(nullptr));
  fake().streams_capture = true;
  EXPECT_TRUE(gpu->is_captured(nullptr));
}

TEST_F(CudaGpu, KernelsReachWhatTheyFindWhereTheHostDoes) {
  const auto gpu = make_cuda_gpu(0);
  auto* const pinned = reinterpret_cast<std::byte*>(0x7000'0000'0000);
  fake().device_pointer = 0x7000'0000'0000;
  EXPECT_TRUE(gpu->kernels_reach(pinned + 4096));
  fake().device_pointer_shift = 4096;
  EXPECT_FALSE(gpu->kernels_reach(pinned)) << "at another address";
  int pageable = 0;
  EXPECT_FALSE(gpu->kernels_reach(&pageable));
}

// ---- Queues

TEST_F(CudaGpu, AQueuesWorkIsOverWhenTheEventBehindItIsReached) {
  const auto gpu = make_cuda_gpu(0);
  const auto queue = gpu->make_queue();
  std::uint64_t from = 7, to = 0;
  fake().events_are_reached = false;
  for (int i = 0; i < 100; ++i) {  // more than its number of events
    queue->copy(&to, &from, sizeof to);
    EXPECT_EQ(queue->ended(), 0u);
  }
  EXPECT_EQ(queue->begun(), 100u);
  fake().events_are_reached = true;
  while (queue->ended() != 100) EXPECT_GT(queue->ended(), 0u);
  EXPECT_EQ(to, 7u);
}

TEST_F(CudaGpu, AQueueSetsWordsByTheStreamAndByAKernelWhereItCannot) {
  const auto gpu = make_cuda_gpu(0);
  std::uint64_t word = 0;
  std::uint32_t half[2] = {};
  gpu->make_queue()->set(&word, std::uint64_t{1} << 40, 8);
  gpu->make_queue()->set(half, 5, 4);
  EXPECT_EQ(fake().kernel_launches, 0);
  EXPECT_EQ(word, std::uint64_t{1} << 40);
  EXPECT_TRUE(half[0] == 5 && half[1] == 0);
  fake().streams_write_64 = false;
  const auto other = make_cuda_gpu(0);
  other->make_queue()->set(&word, 9, 8);
  EXPECT_EQ(fake().kernel_launches, 1);
  EXPECT_EQ(word, 9u);
}

TEST_F(CudaGpu, AQueueFollowsAnotherByAnEvent) {
  const auto gpu = make_cuda_gpu(0);
  const auto first = gpu->make_queue(), second = gpu->make_queue();
  second->follow(*first);
  EXPECT_EQ(fake().event_waits, 1);
  EXPECT_EQ(second->begun(), 0u) << "to wait is no work";
}

TEST_F(CudaGpu, AQueueOfADeviceThatHasFailedSaysSo) {
  const auto gpu = make_cuda_gpu(0);
  const auto queue = gpu->make_queue();
  std::uint64_t word = 0;
  queue->set(&word, 1, 8);
  fake().has_trapped = true;
  EXPECT_THROW(queue->ended(), Error);
}

TEST_F(CudaGpu, HostVisibleMemoryHasADescriptor) {
  const auto gpu = make_cuda_gpu(0);
  const auto page = gpu->allocate_host_visible(4096);
  EXPECT_GE(page->share_fd(), 0);
  *word_at(*page, 0) = 1;
  EXPECT_EQ(read_word(*gpu, page->address()), 1u);
}

TEST_F(CudaGpu, DeviceMemoryIsZeroAndHasNoNameForOthers) {
  const auto gpu = make_cuda_gpu(0);
  const auto memory = gpu->allocate_device(4096);
  EXPECT_EQ(memory->share_fd(), -1);
  EXPECT_EQ(memory->fabric_handle(), nullptr);
  EXPECT_EQ(read_word(*gpu, memory->address()), 0u);
  EXPECT_EQ(read_word(*gpu, memory->address() + 4088), 0u);
}

TEST_F(CudaGpu, WorksFromAThreadThatNeverSawIt) {
  const auto gpu = make_cuda_gpu(0);
  std::thread([&] {
    const auto heap = gpu->allocate_heap(kBytes);
    gpu->set(heap->address(), 1, 64);
    gpu->signal(word_at(*heap, 0), 1, true);
    gpu->allocate_host_visible(4096);
  }).join();
}

TEST_F(CudaGpu, HasAPciAddressAsSysfsWritesIt) {
  EXPECT_EQ(make_cuda_gpu(0)->pci_address(), "0000:3b:00.0");
}

alignas(4096) std::byte doorbell_page[4096];

TEST_F(CudaGpu, DoorbellPagesAreMappedAsIoMemory) {
  const auto gpu = make_cuda_gpu(0);
  const auto mapping = gpu->map_io_memory(doorbell_page, sizeof doorbell_page);
  EXPECT_EQ(fake().io_registrations, 1);
  EXPECT_NE(mapping->address(), doorbell_page) << "kernels use the device's address";
}

TEST_F(CudaGpu, ADoorbellPageInOrdinaryMemoryIsPinned) {
  fake().maps_io_memory = false;
  const auto gpu = make_cuda_gpu(0);
  const auto mapping = gpu->map_io_memory(doorbell_page, sizeof doorbell_page);
  EXPECT_EQ(fake().io_registrations, 0);
  EXPECT_EQ(mapping->address(), doorbell_page);
}

TEST_F(CudaGpu, ADoorbellPageThatCannotBeMappedNamesTheModulesParameter) {
  fake().maps_io_memory = fake().pins_memory = false;
  const auto gpu = make_cuda_gpu(0);
  const std::string words =
      error_of([&] { gpu->map_io_memory(doorbell_page, sizeof doorbell_page); }, CHIMEX_ERR_SYSTEM);
  EXPECT_NE(words.find("PeerMappingOverride=1"), std::string::npos) << words;
  EXPECT_NE(words.find("CHIME_NIC=none"), std::string::npos) << words;
}

TEST_F(CudaGpu, HeapHasADmaBuf) {
  const auto gpu = make_cuda_gpu(0);
  const auto heap = gpu->allocate_heap(kBytes);
  const DmaBuf exported = gpu->export_dma_buf(heap->address(), heap->bytes());
  ASSERT_GE(exported.fd, 0) << exported.why_not;
  ::close(exported.fd);
}

TEST_F(CudaGpu, WithoutDmaBufItSaysWhy) {
  fake().has_dma_buf = false;
  const auto gpu = make_cuda_gpu(0);
  const auto heap = gpu->allocate_heap(kBytes);
  const DmaBuf exported = gpu->export_dma_buf(heap->address(), heap->bytes());
  EXPECT_EQ(exported.fd, -1);
  EXPECT_NE(exported.why_not.find("open kernel modules"), std::string::npos);
}

// Only its own kernels count, not those of other GPUs.
TEST_F(CudaGpu, SaysWhetherItFindsWhatOthersHaveWritten) {
  const auto gpu = make_cuda_gpu(0);
  for (const auto& [ordering, is_found] : {std::pair{0, false}, {100, true}, {200, true}}) {
    fake().writes_ordering = ordering;
    EXPECT_EQ(gpu->orders_device_writes(), is_found) << ordering;
  }
}

// This driver is older than CUDA 12.4. Where it loads kernels at once there is nothing to do.
TEST_F(CudaGpu, AnOldDriverThatLoadsLateSaysWhichOneWouldDo) {
  const auto gpu = make_cuda_gpu(0);
  int kernel = 0;
  gpu->load_kernels_beside(&kernel);
  gpu->load_kernels({ProgramModule::Kind::kLibrary, &kernel});
  fake().loads_late = true;
  for (const auto& load :
       {std::function([&] { gpu->load_kernels_beside(&kernel); }), std::function([&] {
          gpu->load_kernels({ProgramModule::Kind::kModule, &kernel});
        })}) {
    const std::string words = error_of(load, CHIMEX_ERR_UNSUPPORTED);
    EXPECT_NE(words.find("CUDA 12.4"), std::string::npos) << words;
  }
}

TEST_F(CudaGpu, NoRoomNamesTheVariable) {
  const auto gpu = make_cuda_gpu(0);
  const std::string words =
      error_of([&] { gpu->allocate_heap(std::size_t{8} << 30); }, CHIMEX_ERR_OUT_OF_MEMORY);
  EXPECT_NE(words.find("cuMemCreate: out of memory (CUDA_ERROR_OUT_OF_MEMORY)"), std::string::npos)
      << words;
  EXPECT_NE(words.find("8192 MiB"), std::string::npos) << words;
  EXPECT_NE(words.find("CHIME_SYMMETRIC_SIZE"), std::string::npos) << words;
}

TEST_F(CudaGpu, UnreachablePeerNamesTheVariable) {
  fake().peers_reachable = false;
  const auto gpu = make_cuda_gpu(0);
  const auto heap = gpu->allocate_heap(kBytes);
  const std::string words =
      error_of([&] { gpu->map_peer_heap(heap->share_fd(), kBytes); }, CHIMEX_ERR_INVALID);
  EXPECT_NE(words.find("cuMemSetAccess"), std::string::npos) << words;
  EXPECT_NE(words.find("CHIME_P2P=off"), std::string::npos) << words;
}

TEST_F(CudaGpu, NoDeviceIsSaidInTheDriversWords) {
  fake().devices = 0;
  const std::string words = error_of([] { make_cuda_gpu(0); }, CHIMEX_ERR_UNSUPPORTED);
  EXPECT_FALSE(why_no_cuda().empty());
  EXPECT_NE(words.find("GPU"), std::string::npos) << words;
}

}  // namespace
}  // namespace chime::host
