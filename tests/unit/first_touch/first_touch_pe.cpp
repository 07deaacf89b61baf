// PEs that only a fabric connects, and that find each other at the first touch
// (CHIME_CONNECT=lazy): first_touch_pe <case>. Prints each failed check.
//
//   all            each pair from both ends at once, by kernels: data, and atomics
//   host           likewise by host operations, and only after a while
//   signals        a put's signal is the first message from its PE: the data is there
//   two_providers  PE 1 has another provider: it and the others do not reach each other
//   one_without    PE 1 has no fabric
//   first_without  PE 0 has none: the job uses none
#include <chime/chime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace exec = chime::exec;

namespace {

int failures = 0;

#define CHECK(fact)                                                                                \
  do {                                                                                             \
    if (!(fact)) {                                                                                 \
      std::printf("PE %d: not so in line %d: %s; status %d: %s\n", chime_my_pe(), __LINE__, #fact, \
                  chimex_last_status(), chimex_last_error());                                      \
      ++failures;                                                                                  \
    }                                                                                              \
  } while (false)

constexpr std::size_t kLong = 40'000;  // bytes: not a message
constexpr int kMostPes = 16;

struct Memory {
  char data[kMostPes][kLong];  // of each peer
  std::uint64_t signal[kMostPes];
  std::uint64_t count, words[kMostPes];
};

char mark(int pe) { return static_cast<char>('a' + pe); }

bool is_marked(const char* data, int pe) {
  for (std::size_t i = 0; i < kLong; ++i)
    if (data[i] != mark(pe)) return false;
  return true;
}

CHIME_KERNEL void touch_all(Memory* memory, const char* mine) {
  const int me = chime_my_pe(), n = chime_n_pes();
  for (int i = 1; i < n; ++i) {
    const int pe = (me + i) % n;
    chime_char_put(memory->data[me], mine, kLong, pe);
    chime_uint64_p(&memory->words[me], static_cast<std::uint64_t>(me) + 100, pe);
    chime_uint64_atomic_inc(&memory->count, pe);
  }
  chime_quiet();
}

CHIME_KERNEL void signal_all(Memory* memory, const char* mine) {
  const int me = chime_my_pe(), n = chime_n_pes();
  for (int i = 1; i < n; ++i)
    chime_putmem_signal_nbi(memory->data[me], mine, kLong, &memory->signal[me], 1, CHIME_SIGNAL_SET,
                            (me + i) % n);
  chime_quiet();
}

void check_all(const Memory& memory) {
  const int me = chime_my_pe(), n = chime_n_pes();
  for (int pe = 0; pe < n; ++pe) {
    if (pe == me) continue;
    CHECK(is_marked(memory.data[pe], pe));
    CHECK(memory.words[pe] == static_cast<std::uint64_t>(pe) + 100);
  }
  CHECK(memory.count == static_cast<std::uint64_t>(n - 1));
}

void all(Memory* memory, const char* mine) {
  exec::launch({}, touch_all, memory, mine);
  exec::device_synchronize();
  chime_barrier_all();
  check_all(*memory);
}

void host(Memory* memory, const char* mine) {
  const int me = chime_my_pe(), n = chime_n_pes();
  for (int i = 1; i < n; ++i) {
    const int pe = (me + i) % n;
    chime_putmem(memory->data[me], mine, kLong, pe);
    chime_uint64_p(&memory->words[me], static_cast<std::uint64_t>(me) + 100, pe);
    chime_uint64_atomic_inc(&memory->count, pe);
    std::uint64_t back = 0;
    chime_quiet();
    chime_getmem(&back, &memory->words[me], sizeof back, pe);
    CHECK(back == static_cast<std::uint64_t>(me) + 100);
  }
  chime_barrier_all();
  check_all(*memory);
}

void signals(Memory* memory, const char* mine) {
  exec::launch({}, signal_all, memory, mine);
  for (int pe = 0; pe < chime_n_pes(); ++pe) {
    if (pe == chime_my_pe()) continue;
    chime_signal_wait_until(&memory->signal[pe], CHIME_CMP_EQ, 1);
    CHECK(is_marked(memory->data[pe], pe));
  }
  exec::device_synchronize();
}

// The error of a host operation on it.
void fails_with(Memory* memory, int pe, const char* words) {
  chimex_clear_last_error();
  chime_uint64_p(&memory->words[chime_my_pe()], 1, pe);
  chime_quiet();
  CHECK(chimex_last_status() != CHIMEX_OK);
  CHECK(std::strstr(chimex_last_error(), words) != nullptr);
  CHECK(chimex_pe_status(pe) != CHIMEX_OK);
}

void reaches(Memory* memory, int pe) {
  const int me = chime_my_pe();
  chimex_clear_last_error();
  chime_uint64_p(&memory->words[me], static_cast<std::uint64_t>(me) + 100, pe);
  std::uint64_t back = 0;
  chime_quiet();
  chime_getmem(&back, &memory->words[me], sizeof back, pe);
  CHECK(back == static_cast<std::uint64_t>(me) + 100);
  CHECK(chimex_pe_status(pe) == CHIMEX_OK);
}

// PE `odd` differs from the others, which reach each other.
void all_but(Memory* memory, int odd, const char* words, const char* words_of_odd) {
  const int me = chime_my_pe();
  for (int round = 0; round < 2; ++round)
    for (int pe = 0; pe < chime_n_pes(); ++pe) {
      if (pe == me) continue;
      if (me == odd)
        fails_with(memory, pe, words_of_odd);
      else if (pe == odd)
        fails_with(memory, pe, words);
      else
        reaches(memory, pe);
    }
}

// libfabric reads it when the device stage opens a provider.
void have_only(const char* providers, int pe) {
  if (chime_my_pe() == pe) setenv("FI_PROVIDER", providers, 1);
}

}  // namespace

int main(int, char** arguments) {
  const std::string what = arguments[1];
  chimex_init_attr(CHIMEX_INIT_WITH_LAUNCHER | CHIMEX_INIT_DEFER_DEVICE, nullptr);
  if (what == "two_providers") have_only("shm", 1);
  if (what == "one_without") have_only("none", 1);
  if (what == "first_without") have_only("none", 0);
  chimex_init_device();
  auto* const memory = static_cast<Memory*>(chime_calloc(1, sizeof(Memory)));
  auto* const mine = static_cast<char*>(chime_malloc(kLong));
  std::memset(mine, mark(chime_my_pe()), kLong);
  if (what == "all") all(memory, mine);
  if (what == "host") host(memory, mine);
  if (what == "signals") signals(memory, mine);
  if (what == "two_providers")
    all_but(memory, 1, "it has libfabric's shm", "it has libfabric's tcp");
  if (what == "one_without") all_but(memory, 1, "it has no fabric: ", "this PE has no fabric: ");
  if (what == "first_without" && chime_my_pe() != 0)
    fails_with(memory, chime_my_pe() == 1 ? 2 : 1, "as PE 0 has none: ");
  chime_free(mine);  // all PEs have reached this point
  chime_finalize();
  return failures == 0 ? 0 : 1;
}
