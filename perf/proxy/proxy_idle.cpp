// proxy_idle: how much of a core the proxy thread takes without requests: if the PE is idle, and if
// all that it sends goes by loads and stores. Beside it the cost of such sleeps by themselves: in a
// virtual machine each may cost ten times as much as elsewhere.
//
//   proxy_idle [seconds of each [the most percent that are accepted]]
#include <chime/chime.h>
#include <poll.h>
#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

std::string line_of(const std::filesystem::path& file) {
  std::string line;
  std::getline(std::ifstream(file), line);
  return line;
}

// Processor time of this process's proxy thread; negative if it has none.
Seconds proxy_time() {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task"))
    if (line_of(thread.path() / "comm") == "chime-proxy")
      return std::chrono::nanoseconds(std::stoll(line_of(thread.path() / "schedstat")));
  return Seconds(-1);
}

// Percent of a core, while `body` runs again and again.
double share_during(Seconds length, const std::function<void()>& body) {
  // Until init's remaining work is done, and the proxy's sleeps have the length of an idle one.
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  const auto begin = Clock::now();
  const Seconds before = proxy_time();
  while (Clock::now() - begin < length) body();
  return (proxy_time() - before) / Seconds(Clock::now() - begin) * 100;
}

// Percent of a core of a thread that sleeps for a millisecond again and again.
double share_of_sleeps(Seconds length) {
  const auto begin = Clock::now();
  timespec before, after;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
  while (Clock::now() - begin < length) poll(nullptr, 0, 1);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
  const Seconds used = std::chrono::seconds(after.tv_sec - before.tv_sec) +
                       std::chrono::nanoseconds(after.tv_nsec - before.tv_nsec);
  return used / Seconds(Clock::now() - begin) * 100;
}

bool is_direct(void* word) {
  for (int pe = 0; pe < chime_n_pes(); ++pe)
    if (chime_ptr(word, pe) == nullptr) return false;
  return true;
}

bool is_well(const char* what, double percent, double most) {
  std::printf("PE %d  %-12s  %6.3f %% of a core\n", chime_my_pe(), what, percent);
  return percent <= most;
}

}  // namespace

int main(int argc, char** argv) {
  const Seconds length(argc > 1 ? std::atof(argv[1]) : 5);
  const double most = argc > 2 ? std::atof(argv[2]) : 100;
  chime_init();
  auto* const words = static_cast<std::uint64_t*>(chime_calloc(1024, sizeof(std::uint64_t)));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the thread names itself
  if (proxy_time() < Seconds(0)) {
    std::fprintf(stderr, "proxy_idle: no PE has a proxy here: set CHIME_FABRIC\n");
    return 2;
  }
  std::printf("PE %d  %-12s  %6.3f %% of a core\n", chime_my_pe(), "sleeps alone",
              share_of_sleeps(length));
  bool all_well = is_well(
      "idle",
      share_during(length, [] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }),
      most);
  chime_barrier_all();
  if (is_direct(words))
    all_well &= is_well("direct puts",
                        share_during(length,
                                     [&] {
                                       const int next = (chime_my_pe() + 1) % chime_n_pes();
                                       chime_uint64_put(words, words, 1024, next);
                                     }),
                        most);
  chime_finalize();
  return all_well ? 0 : 1;
}
