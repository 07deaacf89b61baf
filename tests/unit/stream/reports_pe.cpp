// The effects of a failed request, where host code has a GPU and the library's kernels post its
// requests. reports_pe host|stream, on 2 PEs: which calls report it, where PE 0's first request to
// PE 1 fails (SOFTNIC_FAULTS). reports_pe room|fifo, on 3 PEs: the state after a given-up get from
// PE 1, which the NIC delivers late, or PE 1 does not serve, because it is stopped.
#include <chime/chime.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gpu_on_cpu.hpp"
#include "host/memory/stream_rooms.hpp"
#include "host/pe/pe.hpp"

namespace exec = chime::exec;

namespace {

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s; the last error is %d: %s\n", what, chimex_last_status(),
               chimex_last_error());
  _exit(1);
}

void is_told_under(const char* name) {
  check(chimex_last_status() == CHIMEX_ERR_NETWORK, name);
  check(std::strncmp(chimex_last_error(), name, std::strlen(name)) == 0, name);
  check(std::strstr(chimex_last_error(), "of PE 1 failed: a write of 4096 bytes") != nullptr,
        "which request has failed");
  check(std::strstr(chimex_last_error(), "in thread") == nullptr, "it is not from a kernel");
}

// The call itself, and then each that needs the queue.
void tells_the_call(unsigned char* there, const unsigned char* here) {
  chime_putmem(there, here, 4096, 1);
  is_told_under("chime_put: ");
  chimex_clear_last_error();
  chime_uint64_p(reinterpret_cast<std::uint64_t*>(there), 1, 1);
  check(chimex_last_status() == CHIMEX_ERR_NETWORK, "p behind it");
  chimex_clear_last_error();
  chime_uint64_atomic_fetch_add(reinterpret_cast<std::uint64_t*>(there), 1, 1);
  check(chimex_last_status() == CHIMEX_ERR_NETWORK, "an atomic behind it");
}

// The next call reports it, in whichever thread.
void tells_the_next_call(unsigned char* there, const unsigned char* here) {
  exec::Stream stream = {};
  exec::stream_create(&stream);
  chime::host::let_kernels_reach(here, 4096);
  chimex_putmem_on_stream(there, here, 4096, 1, stream);
  check(chimex_last_status() == CHIMEX_OK, "nothing is known when the call returns");
  exec::stream_synchronize(stream);
  chime_fence();
  is_told_under("chime_fence: ");
}

// ---- Requests that were given up and complete late

constexpr std::size_t kBytes = chime::host::kBounceRoom;

void says(chimex_status status, const char* words) {
  check(chimex_last_status() == status, words);
  check(std::strstr(chimex_last_error(), words) != nullptr, words);
}

// The process id of each PE.
pid_t process_of(std::uint64_t* word, int pe) {
  return static_cast<pid_t>(chime_uint64_g(word, pe));
}

// All its threads: the proxy's is one.
bool is_stopped(pid_t process) {
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    std::ifstream stat(task.path() / "stat");
    std::string words;
    std::getline(stat, words);
    if (words.find(") T ") == std::string::npos) return false;
  }
  return true;
}

void stop(pid_t process) {
  kill(process, SIGSTOP);
  int naps = 10'000;  // of 1 ms
  while (!is_stopped(process) && naps-- > 0) usleep(1000);
  check(naps > 0, "PE 1 was told to stop");
}

// A FIFO leads to all PEs, and is out of use after a request that was given up. That request keeps
// the bounce room.
void tells_that_the_fifo_is_lost(unsigned char* there, std::uint64_t* word) {
  std::vector<unsigned char> mine(kBytes, 77);
  const std::span<std::byte> room = chime::host::current_runtime().device->bounce;
  const pid_t late = process_of(word, 1);
  stop(late);
  chime_getmem(mine.data(), there, kBytes, 1);
  check(chimex_last_status() == CHIMEX_ERR_TIMEOUT, "PE 1 is late");
  chimex_clear_last_error();
  const std::vector<std::byte> left(room.begin(), room.end());
  chime_putmem(there, mine.data(), kBytes, 2);
  says(CHIMEX_ERR_NETWORK,
       "an operation on PE 2 was not begun, because a request before it failed");
  check(std::equal(left.begin(), left.end(), room.begin()), "the room is the first request's");
  chimex_clear_last_error();
  chime_quiet();
  says(CHIMEX_ERR_NETWORK, "not all requests are complete: one failed or was given up");
  kill(late, SIGCONT);
}

// Streams that wait for a word have taken rooms, as long as there were any.
int rooms_lent(unsigned char* there, const unsigned char* here, std::uint64_t* go) {
  constexpr std::size_t kStreams = chime::host::StreamRooms::kRooms + 1;
  exec::Stream streams[kStreams];
  const int before = chime::host::copies_given_to_streams();
  const std::uint64_t next = *go + 1;
  for (exec::Stream& stream : streams) {
    exec::stream_create(&stream);
    chimex_signal_wait_until_on_stream(go, CHIME_CMP_EQ, next, stream);
    chimex_putmem_on_stream(there, here, kBytes, 2, stream);
  }
  const int lent = chime::host::copies_given_to_streams() - before;
  chimex_signal_op(go, next, CHIME_SIGNAL_SET, 0);
  for (const exec::Stream stream : streams) exec::stream_synchronize(stream);
  return lent;
}

void leaves_the_streams_room(unsigned char* there, std::uint64_t* go) {
  constexpr int kRooms = chime::host::StreamRooms::kRooms;
  static std::vector<unsigned char> here(kBytes);
  chime::host::let_kernels_reach(here.data(), kBytes);
  check(rooms_lent(there, here.data(), go) == kRooms, "all rooms are lent");
  exec::Stream stream = {};
  exec::stream_create(&stream);
  chimex_getmem_on_stream(here.data(), there, kBytes, 1, stream);
  exec::stream_synchronize(stream);
  check(rooms_lent(there, here.data(), go) == kRooms - 1, "one room is left");
  chimex_async_error_t error;
  chimex_get_async_error(&error);
  check(error.status == CHIMEX_ERR_TIMEOUT, "PE 1 is late");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string part = argc > 1 ? argv[1] : "";
  chime_init();
  chime::host::pretend_to_have_a_gpu();
  auto* const there = static_cast<unsigned char*>(chime_malloc(kBytes));
  auto* const go = static_cast<std::uint64_t*>(chime_calloc(2, sizeof(std::uint64_t)));
  auto* const word = go + 1;
  static unsigned char here[4096];
  std::memset(there, chime_my_pe(), kBytes);
  const int me = chime_my_pe();
  *word = static_cast<std::uint64_t>(getpid());
  chime_barrier_all();
  const bool is_late = part == "room" || part == "fifo";  // by CHIME_TIMEOUT and more
  if (me != 0)
    usleep(is_late ? 9'000'000 : 3'000'000);  // its NIC, or its proxy, answers meanwhile
  else if (part == "host")
    tells_the_call(there, here);
  else if (part == "stream")
    tells_the_next_call(there, here);
  else if (part == "room")
    leaves_the_streams_room(there, go);
  else if (part == "fifo")
    tells_that_the_fifo_is_lost(there, word);
  else
    check(false, "reports_pe: which part?");
  _exit(0);  // other tests check finalize's messages about lost queues
}
