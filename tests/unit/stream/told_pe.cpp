// Who is told of a request that has failed, where host code has a GPU and kernels of the library
// post what it asks for: told_pe host|stream, on 2 PEs. PE 0's first request to PE 1 fails
// (SOFTNIC_FAULTS).
#include <chime/chime.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "gpu_on_cpu.hpp"

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
  check(std::strstr(chimex_last_error(), "in thread") == nullptr, "it is nobody's kernel");
}

// By the very call, and then by each that needs the queue.
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

// By the next call, whoever makes it.
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

}  // namespace

int main(int argc, char** argv) {
  chime_init();
  chime::host::pretend_to_have_a_gpu();
  auto* const there = static_cast<unsigned char*>(chime_malloc(4096));
  static unsigned char here[4096];
  if (chime_my_pe() == 0)
    (argc > 1 && std::strcmp(argv[1], "host") == 0 ? tells_the_call : tells_the_next_call)(there,
                                                                                           here);
  else
    usleep(3'000'000);  // its NIC answers meanwhile
  _exit(0);             // what finalize says of lost queues is other tests' business
}
