// Kernels as users write them, with Chime's C names and without launch bounds: each with several
// block sizes, up to 1024 threads. A refused launch is reported with the kernel's registers: a
// block of 1024 threads has 64 for each. One PE, which is its own neighbour; the test checks its
// results.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "chime/chime.h"
#include "kernel_check.cuh"

using namespace chime::tests;
namespace exec = chime::exec;

namespace {

constexpr std::size_t kElements = 6000;  // not a multiple of a block
constexpr std::size_t kExperts = 8;
constexpr std::size_t kWidth = 16;     // floats of a token
constexpr std::size_t kPlaces = 1024;  // of an expert: all tokens may be its own
constexpr int kRounds = 3;
constexpr std::size_t kFaces = 6, kFace = 500;
constexpr std::size_t kBins = 64;

// Adds the left neighbour's elements to `data`, round by round, and passes the sum on.
CHIME_KERNEL void ring(float* data, float* inbox, float* sum, std::uint64_t* arrived) {
  const int right = (chime_my_pe() + 1) % chime_n_pes();
  const unsigned me = exec::thread_rank(), threads = exec::block_threads();
  std::uint64_t now = 0;
  for (int round = 0; round < kRounds; ++round) {
    float* const place = inbox + round * kElements;
    chimex_float_put_signal_block(place, data, kElements, arrived, ++now, CHIME_SIGNAL_SET, right);
    chimex_signal_wait_until_block(arrived, CHIME_CMP_GE, now);
    for (std::size_t i = me; i < kElements; i += threads) data[i] += place[i];
    exec::sync_block();
  }
  chimex_float_put_signal_block(sum, data, kElements, arrived, ++now, CHIME_SIGNAL_SET, right);
  chimex_signal_wait_until_block(arrived, CHIME_CMP_GE, now);
}

// One thread a token: takes the next place at its expert, puts it there, signals the expert.
CHIME_KERNEL void moe(float* experts, const float* tokens, std::uint64_t* taken,
                      std::uint64_t* told) {
  const unsigned me = exec::thread_rank();
  const std::size_t expert = (me * 7 + me / 3) % kExperts;
  const int pe = static_cast<int>(expert) % chime_n_pes();
  const std::uint64_t place = chime_uint64_atomic_fetch_add(taken + expert, 1, pe);
  float* const to = experts + (expert * kPlaces + place) * kWidth;
  const float* const token = tokens + me * kWidth;
  chime_float_put(to, token, kWidth / 2, pe);
  chime_float_put_signal(to + kWidth / 2, token + kWidth / 2, kWidth / 2, told + expert, 1,
                         CHIME_SIGNAL_ADD, pe);
}

// Sends six faces, each with a separate signal, and waits for the neighbours' faces.
CHIME_KERNEL void halo(double* ghosts, const double* faces, std::uint64_t* arrived) {
  for (std::size_t face = 0; face < kFaces; ++face) {
    const int neighbour = (chime_my_pe() + static_cast<int>(face)) % chime_n_pes();
    chimex_double_put_signal_nbi_block(ghosts + face * kFace, faces + face * kFace, kFace,
                                       arrived + face, 1, CHIME_SIGNAL_SET, neighbour);
  }
  for (std::size_t face = 0; face < kFaces; ++face)
    chimex_signal_wait_until_block(arrived + face, CHIME_CMP_EQ, 1);
}

// Counts values in bins that lie on all PEs.
CHIME_KERNEL void histogram(std::uint64_t* bins, const unsigned* values) {
  for (std::size_t i = exec::thread_rank(); i < kElements; i += exec::block_threads()) {
    const std::size_t bin = values[i] % kBins;
    chime_uint64_atomic_inc(bins + bin, static_cast<int>(bin) % chime_n_pes());
  }
  chime_quiet();
}

// ---- The host --------------------------------------------------------------------------------

template <class T>
struct Array {
  explicit Array(std::size_t count)
      : size(count), memory(static_cast<T*>(chime_calloc(count, sizeof(T)))) {
    CHIME_NEED(memory != nullptr);
  }
  Array(const Array&) = delete;
  ~Array() { chime_free(memory); }

  void write(const std::vector<T>& values) {
    CHIME_NEED(exec::copy(memory, values.data(), values.size() * sizeof(T)) == CHIMEX_OK);
  }
  std::vector<T> read() const {
    std::vector<T> values(size);
    CHIME_NEED(exec::copy(values.data(), memory, size * sizeof(T)) == CHIMEX_OK);
    return values;
  }

  const std::size_t size;
  T* const memory;
};

template <class T>
std::vector<T> counted(std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i % 1000);
  return values;
}

// ", 91 registers x 1024 threads = 93184, a block has 65536 at most"; empty if unknown.
template <class... P>
std::string registers_of(void (*kernel)(P...), unsigned threads) {
#ifdef CHIME_TEST_KNOWS_REGISTERS
  cudaFuncAttributes of{};
  int most = 0;
  if (cudaFuncGetAttributes(&of, reinterpret_cast<const void*>(kernel)) != cudaSuccess ||
      cudaDeviceGetAttribute(&most, cudaDevAttrMaxRegistersPerBlock, 0) != cudaSuccess)
    return ", and its registers are unknown";
  const unsigned all = static_cast<unsigned>(of.numRegs) * threads;
  return ", " + std::to_string(of.numRegs) + " registers x " + std::to_string(threads) +
         " threads = " + std::to_string(all) + ", a block has " + std::to_string(most) +
         " at most; " + std::to_string(of.localSizeBytes) + " bytes of stack";
#else
  (void)kernel, (void)threads;
  return {};
#endif
}

// Launches a block of `threads`; false, with the numbers, if the device refuses it.
template <class... P, class... A>
bool runs(const char* name, unsigned threads, void (*kernel)(P...), A... arguments) {
  const exec::LaunchConfig config{.grid = 1, .block = threads};
  const std::string registers = registers_of(kernel, threads);
  if (exec::launch(config, kernel, arguments...) != CHIMEX_OK ||
      exec::device_synchronize() != CHIMEX_OK) {
    std::printf("%s of %u threads does not run: %s%s\n", name, threads, exec::last_error(),
                registers.c_str());
    ++failures;
    return false;
  }
  std::printf("%s of %u threads ran%s\n", name, threads, registers.c_str());
  return true;
}

void check_ring(unsigned threads) {
  Array<float> data(kElements), inbox(kRounds * kElements), sum(kElements);
  Array<std::uint64_t> arrived(1);
  data.write(counted<float>(kElements));
  if (!runs("ring", threads, ring, data.memory, inbox.memory, sum.memory, arrived.memory)) return;
  std::vector<float> wanted = counted<float>(kElements);
  for (float& value : wanted) value *= 1 << kRounds;
  CHIME_CHECK(sum.read() == wanted);
}

void check_moe(unsigned threads) {
  Array<float> experts(kExperts * kPlaces * kWidth), tokens(threads * kWidth);
  Array<std::uint64_t> taken(kExperts), told(kExperts);
  std::vector<float> sent(tokens.size);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<float>(i + 1);
  tokens.write(sent);
  if (!runs("moe", threads, moe, experts.memory, tokens.memory, taken.memory, told.memory)) return;
  CHIME_CHECK(taken.read() == told.read());
  std::vector<float> arrived = experts.read();
  std::erase(arrived, 0.0F);
  std::sort(arrived.begin(), arrived.end());
  CHIME_CHECK(arrived == sent);
}

void check_halo(unsigned threads) {
  Array<double> ghosts(kFaces * kFace), faces(kFaces * kFace);
  Array<std::uint64_t> arrived(kFaces);
  faces.write(counted<double>(faces.size));
  if (!runs("halo", threads, halo, ghosts.memory, faces.memory, arrived.memory)) return;
  CHIME_CHECK(ghosts.read() == faces.read());
}

void check_histogram(unsigned threads) {
  Array<std::uint64_t> bins(kBins);
  Array<unsigned> values(kElements);
  values.write(counted<unsigned>(kElements));
  if (!runs("histogram", threads, histogram, bins.memory, values.memory)) return;
  std::vector<std::uint64_t> wanted(kBins);
  for (const unsigned value : counted<unsigned>(kElements)) ++wanted[value % kBins];
  CHIME_CHECK(bins.read() == wanted);
}

}  // namespace

int main() {
  need_gpu();
  chime_init();
  for (const unsigned threads : {32U, 256U, 512U, 1024U}) {
    check_ring(threads);
    check_moe(threads);
    check_halo(threads);
    check_histogram(threads);
  }
  chime_finalize();
  return verdict();
}
