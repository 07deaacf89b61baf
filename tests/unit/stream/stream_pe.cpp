// Every on-stream operation, in a ring of PEs: each PE's stream writes to its right neighbour and
// waits for its left. With the argument "beside_a_nic", where only the NIC reaches the right
// neighbour and host code has a GPU: which PE an operation waits for, which path carries it, and
// its error where it fails.
#include <chime/chime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#ifdef PRETEND_TO_HAVE_A_GPU
#include "gpu_on_cpu.hpp"
#include "host/memory/stream_rooms.hpp"
#endif

namespace exec = chime::exec;

namespace {

constexpr std::size_t kWords = 1000;

int me, n, right, left;

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "PE %d: wrong: %s\n", me, what);
  std::exit(1);
}

exec::Stream make_stream() {
  exec::Stream stream;
  check(exec::stream_create(&stream) == CHIMEX_OK, "stream_create");
  return stream;
}

template <class T>
T* symmetric(std::size_t count) {
  return static_cast<T*>(chime_calloc(count, sizeof(T)));
}

// put, then a barrier, all in stream order: the host waits for nothing in between.
void puts_and_gets() {
  exec::Stream stream = make_stream();
  int* inbox = symmetric<int>(kWords);
  std::vector<int> source(kWords), fetched(kWords);
  for (std::size_t i = 0; i < kWords; ++i) source[i] = me * 10000 + static_cast<int>(i);
  chimex_int_put_on_stream(inbox, source.data(), kWords, right, stream);
  chimex_quiet_on_stream(stream);
  chimex_barrier_all_on_stream(stream);
  chimex_int_get_on_stream(fetched.data(), inbox, kWords, right, stream);
  exec::stream_synchronize(stream);
  for (std::size_t i = 0; i < kWords; ++i) {
    check(inbox[i] == left * 10000 + static_cast<int>(i), "put_on_stream");
    check(fetched[i] == source[i], "get_on_stream");
  }
  exec::stream_destroy(stream);
  chime_free(inbox);
}

// The receiving stream waits for the signal before it copies on.
void signals_order_streams() {
  exec::Stream sender = make_stream(), receiver = make_stream();
  double* inbox = symmetric<double>(kWords);
  auto* signals = symmetric<std::uint64_t>(2);
  std::vector<double> source(kWords, me + 0.5), copy(kWords);
  chimex_signal_wait_until_on_stream(&signals[0], CHIME_CMP_GE, 7, receiver);
  exec::copy_async(copy.data(), inbox, kWords * sizeof(double), receiver);
  chimex_double_put_signal_on_stream(inbox, source.data(), kWords, &signals[0], 7, CHIME_SIGNAL_SET,
                                     right, sender);
  for (int i = 0; i < 5; ++i)
    chimex_signal_op_on_stream(&signals[1], 2, CHIME_SIGNAL_ADD, right, sender);
  exec::stream_synchronize(receiver);
  check(copy.front() == left + 0.5 && copy.back() == left + 0.5, "put_signal_on_stream");
  exec::stream_synchronize(sender);
  chimex_sync_all_on_stream(sender);
  exec::stream_synchronize(sender);
  check(signals[1] == 10, "signal_op_on_stream adds");
  exec::stream_destroy(sender);
  exec::stream_destroy(receiver);
  chime_free(signals);
  chime_free(inbox);
}

// PEs wait for each other inside one kernel.
CHIME_KERNEL void pass_around(std::uint64_t* word, int rounds) {
  const int right = (chime_my_pe() + 1) % chime_n_pes();
  for (int round = 1; round <= rounds; ++round) {
    if (exec::thread_rank() == 0) {
      chimex_signal_op(word, 1, CHIME_SIGNAL_ADD, right);
      chime_signal_wait_until(word, CHIME_CMP_GE, static_cast<std::uint64_t>(round));
    }
    exec::sync_block();
  }
}
CHIME_REGISTER_KERNEL(pass_around);

void launches_kernels_that_wait_for_pes() {
  exec::Stream stream = make_stream();
  auto* word = symmetric<std::uint64_t>(1);
  int rounds = 20;
  void* arguments[] = {&word, &rounds};
  int status = chimex_collective_launch(reinterpret_cast<const void*>(&pass_around), 1, 64,
                                        arguments, 0, stream);
  check(status == CHIMEX_OK, "chimex_collective_launch");
  exec::stream_synchronize(stream);
  check(*word == 20, "signals of the first kernel");
  chime_barrier_all();
  *word = 0;
  chime_barrier_all();
  status = chime::collective_launch({.block = 32, .stream = stream}, pass_around, word, rounds);
  check(status == CHIMEX_OK, "collective_launch");
  exec::stream_synchronize(stream);
  check(*word == 20, "signals of the second kernel");
  exec::stream_destroy(stream);
  chime_free(word);
}

// Impossible operations are refused at the call, not when the stream reaches them.
void refuses_at_the_call() {
  int* word = symmetric<int>(1);
  int local = 0;
  chimex_int_put_on_stream(word, &local, 1, n, nullptr);
  check(std::strstr(chimex_last_error(), "there is no PE") != nullptr, "PE out of range");
  if (right == me) {  // its own memory is used as it is
    local = 1;
    chimex_int_put_on_stream(&local, word, 1, me, nullptr);
    check(exec::stream_synchronize(nullptr) == CHIMEX_OK && local == 0, "a target of its own");
  } else {
    chimex_int_put_on_stream(&local, word, 1, right, nullptr);
    check(std::strstr(chimex_last_error(), "outside the heap of this PE") != nullptr,
          "local target");
  }
  chimex_putmem_on_stream(word, &local, std::size_t{1} << 40, right, nullptr);
  check(std::strstr(chimex_last_error(), "reach beyond the heap's end") != nullptr,
        "beyond the end");
  chime_free(word);
}

#ifdef PRETEND_TO_HAVE_A_GPU
using chime::host::copies_given_to_streams;
using chime::host::copies_made;
using chime::host::let_kernels_reach;
using chime::host::library_kernels_launched;

void says(const char* words, const char* what) {
  if (std::strstr(chimex_last_error(), words) == nullptr)
    std::fprintf(stderr, "PE %d: '%s' has not '%s'\n", me, chimex_last_error(), words);
  check(std::strstr(chimex_last_error(), words) != nullptr, what);
}

// Memory that kernels reach is sent in stream order: the call waits for nothing. Long data goes
// through rooms, as long as there are any; otherwise kernels stage it.
void waits_for_no_stream() {
  constexpr std::size_t kStreams = 2 * chime::host::StreamRooms::kRooms, kWordsEach = 5000;
  constexpr int kPieces = (kWordsEach * 8 - 1) / chime::host::kBounceRoom + 1;
  exec::Stream streams[kStreams];
  auto* inbox = symmetric<std::uint64_t>(kStreams * kWordsEach);
  auto* go = symmetric<std::uint64_t>(1 + kStreams);
  static std::vector<std::uint64_t> source(kStreams * kWordsEach), fetched(kStreams * kWordsEach);
  let_kernels_reach(source.data(), source.size() * 8);
  let_kernels_reach(fetched.data(), fetched.size() * 8);
  const int copies = copies_made(), copies_on_streams = copies_given_to_streams();
  for (std::size_t i = 0; i < kStreams; ++i) {
    streams[i] = make_stream();
    std::uint64_t* const there = inbox + i * kWordsEach;
    chimex_signal_wait_until_on_stream(&go[0], CHIME_CMP_EQ, 1, streams[i]);
    chimex_putmem_signal_on_stream(there, source.data() + i * kWordsEach, kWordsEach * 8,
                                   &go[1 + i], 3, CHIME_SIGNAL_ADD, right, streams[i]);
    chimex_signal_wait_until_on_stream(&go[1 + i], CHIME_CMP_EQ, 3, streams[i]);
    chimex_quiet_on_stream(streams[i]);
    chimex_getmem_on_stream(fetched.data() + i * kWordsEach, there, kWordsEach * 8, right,
                            streams[i]);
  }
  check(copies_made() == copies, "the host copies nothing");
  check(copies_given_to_streams() - copies_on_streams == kStreams / 2 * 2 * kPieces,
        "half of the streams have rooms");
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = i * 1000 + unsigned(me);
  chime_barrier_all();
  go[0] = 1;
  for (exec::Stream stream : streams) exec::stream_synchronize(stream);
  for (std::size_t i = 0; i < source.size(); ++i)
    check(inbox[i] == i * 1000 + unsigned(left), "what was put when the stream got there");
  check(fetched == source, "what was got behind it");
  chime_barrier_all();
  for (exec::Stream stream : streams) exec::stream_destroy(stream);
  chime_free(go);
  chime_free(inbox);
}

// A graph may run at any time: it gets no room.
void lends_captured_streams_no_room() {
  exec::Stream stream = make_stream();
  auto* inbox = symmetric<unsigned char>(8000);
  static std::vector<unsigned char> source(8000, 7);
  let_kernels_reach(source.data(), source.size());
  chime::host::capture_streams(true);
  const int copies = copies_given_to_streams();
  chimex_putmem_on_stream(inbox, source.data(), source.size(), right, stream);
  check(copies_given_to_streams() == copies, "no room for a captured stream");
  chime::host::capture_streams(false);
  chimex_putmem_on_stream(inbox, source.data(), source.size(), right, stream);
  check(copies_given_to_streams() == copies + 1, "but for others");
  exec::stream_synchronize(stream);
  chime_barrier_all();
  check(inbox[0] == 7 && inbox[7999] == 7, "what was put");
  exec::stream_destroy(stream);
  chime_free(inbox);
}

// The call itself moves memory that kernels do not reach, after the stream's earlier work, and in
// pieces of the bounce room.
void waits_for_what_comes_before() {
  exec::Stream stream = make_stream();
  constexpr std::size_t kBytes = 3 * chime::host::kBounceRoom + 5;
  auto* inbox = symmetric<unsigned char>(kBytes);
  auto* sent = symmetric<std::uint64_t>(1);
  std::vector<unsigned char> source(kBytes), fetched(kBytes);
  struct Fill {
    std::vector<unsigned char>* source;
  } fill{&source};
  exec::stream_host_call(
      stream,
      [](void* of) {
        auto& bytes = *static_cast<Fill*>(of)->source;
        for (std::size_t i = 0; i < bytes.size(); ++i)
          bytes[i] = static_cast<unsigned char>(i % 251 + unsigned(me));
      },
      &fill);
  const int copies = copies_made();
  chimex_putmem_signal_nbi_on_stream(inbox, source.data(), kBytes, sent, 1, CHIME_SIGNAL_SET, right,
                                     stream);
  check(copies_made() == copies + 4, "a copy for each piece");
  std::fill(source.begin(), source.end(), 0);  // the source is free
  chimex_signal_wait_until_on_stream(sent, CHIME_CMP_EQ, 1, stream);
  chimex_getmem_on_stream(fetched.data(), inbox, kBytes, right, stream);
  check(sent[0] == 1, "the stream was waited for");
  for (std::size_t i = 0; i < kBytes; ++i)
    check(inbox[i] == static_cast<unsigned char>(i % 251 + unsigned(left)), "pieces of a put");
  chime_barrier_all();
  chime_getmem(fetched.data(), inbox, kBytes, right);
  for (std::size_t i = 0; i < kBytes; ++i)
    check(fetched[i] == static_cast<unsigned char>(i % 251 + unsigned(me)), "pieces of a get");
  chime_barrier_all();
  exec::stream_destroy(stream);
  chime_free(sent);
  chime_free(inbox);
}

// One kernel for each operation of the host, complete when it returns.
void the_hosts_are_kernels() {
  auto* words = symmetric<std::uint64_t>(4);
  std::uint64_t value = 11;
  int before = library_kernels_launched();
  chime_uint64_p(words, 5, right);
  check(library_kernels_launched() == before + 1, "p is a kernel's");
  check(chime_uint64_g(words, right) == 5, "p and g");
  chime_barrier_all();  // the left neighbour's data is sent on below
  chimex_signal_op(words + 1, 2, CHIME_SIGNAL_ADD, right);
  chimex_signal_op(words + 1, 2, CHIME_SIGNAL_ADD, me);
  chime_uint64_atomic_add(words + 1, 3, right);
  check(chime_uint64_atomic_fetch_add(words + 1, 0, right) >= 5, "additions are seen");
  before = library_kernels_launched();
  chime_putmem_signal(words + 2, words, 8, words + 3, 9, CHIME_SIGNAL_SET, right);
  check(library_kernels_launched() == before + 2, "data of the heap needs no copy");
  chime_barrier_all();
  check(words[1] == 7 && words[2] == 5 && words[3] == 9, "what the left one sent");
  chime_getmem(&value, words, 8, right);
  check(value == 5, "get");
  chime_barrier_all();
  chime_free(words);
}

unsigned char byte_of(int pe, std::size_t i) {
  return static_cast<unsigned char>(i % 251 + unsigned(pe));
}

// Memory that requests cannot name goes in pieces of the bounce room, each to and from its place.
void the_hosts_pieces_are_bytes() {
  constexpr std::size_t kBytes = 3 * chime::host::kBounceRoom + 5;
  auto* inbox = symmetric<unsigned char>(kBytes + 1);
  std::vector<unsigned char> source(kBytes), fetched(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) source[i] = byte_of(me, i);
  chime_putmem(inbox, source.data(), kBytes, right);
  chime_barrier_all();
  chime_getmem(fetched.data(), inbox, kBytes, right);
  for (std::size_t i = 0; i < kBytes; ++i)
    check(inbox[i] == byte_of(left, i), "pieces of the host's put");
  check(inbox[kBytes] == 0, "nothing behind them");
  check(fetched == source, "pieces of the host's get");
  chime_barrier_all();
  chime_free(inbox);
}

// On both sides, each with a separate stride: a piece has fewer elements than a room has bytes.
void the_hosts_pieces_are_elements() {
  constexpr std::size_t kCount = chime::host::kBounceRoom;
  constexpr std::ptrdiff_t kFar = 3, kNear = 2;
  auto* inbox = symmetric<std::uint16_t>(kCount * kFar);
  std::vector<std::uint16_t> source(kCount * kNear), fetched(kCount * kNear, 1);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = std::uint16_t(2 * i + unsigned(me));
  chime_uint16_iput(inbox, source.data(), kFar, kNear, kCount, right);
  chime_barrier_all();
  chime_uint16_iget(fetched.data(), inbox, kNear, kFar, kCount, right);
  for (std::size_t i = 0; i < kCount * kFar; ++i) {
    const std::size_t of = i / kFar * kNear;
    check(inbox[i] == (i % kFar == 0 ? std::uint16_t(2 * of + unsigned(left)) : 0),
          "elements of the host's iput");
  }
  check(chime::host::is_untouched_behind_the_bounce_room(), "behind the room");
  for (std::size_t i = 0; i < fetched.size(); ++i)
    check(fetched[i] == (i % kNear == 0 ? source[i] : 1), "elements of the host's iget");
  chime_barrier_all();
  chime_free(inbox);
}

// A reader that sees the signal sees the data, most of which is still to be moved at first.
void the_hosts_signal_follows_its_data() {
  constexpr std::size_t kBytes = 64 * chime::host::kBounceRoom;
  auto* inbox = symmetric<unsigned char>(kBytes);
  auto* sent = symmetric<std::uint64_t>(1);
  if (me == 0) {
    std::vector<unsigned char> source(kBytes, 9);
    chime_putmem_signal(inbox, source.data(), kBytes, sent, 1, CHIME_SIGNAL_SET, right);
  }
  if (me == 1 % n) {
    chime_signal_wait_until(sent, CHIME_CMP_EQ, 1);
    for (std::size_t i = 0; i < kBytes; ++i) check(inbox[i] == 9, "data before the signal");
  }
  chime_barrier_all();
  chime_free(sent);
  chime_free(inbox);
}

// No operation begins, and each reports the reason.
void refuses_as_on_the_cpu() {
  auto* words = symmetric<std::uint64_t>(2);
  std::uint64_t one = 1;
  chime_putmem(words, &one, 8, n);
  says("there is no PE", "put of the host");
  chime_putmem(&one, words, 8, right);
  says("outside the heap of this PE", "put to what is not symmetric");
  chime_getmem(&one, words, std::size_t{1} << 40, right);
  says("reach beyond the heap's end", "get of what is not there");
  chime_uint64_p(reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(words) + 1), 1, right);
  says("is not aligned", "p");
  chime_uint64_iput(words, &one, 0, 1, 2, right);
  says("more bytes than size_t counts", "iput of no stride");
  chimex_signal_op(words, 1, 7, right);
  says("there is no signal operation 7", "signal of the host");
  chimex_signal_op_on_stream(words, 1, 7, right, nullptr);
  says("there is no signal operation 7", "signal on a stream");
  chimex_putmem_signal_on_stream(words, &one, 8, words + 1, 1, 7, right, nullptr);
  says("there is no signal operation 7", "put_signal on a stream");
  chimex_getmem_on_stream(&one, &one, 8, right, nullptr);
  says("outside the heap of this PE", "get on a stream");
  chime_barrier_all();
  check(words[0] == 0 && words[1] == 0, "nothing was sent");
  chime_free(words);
}

CHIME_KERNEL void put_to(std::uint64_t* word, int pe) {
  chime_uint64_put_nbi(word, word + 1, 1, pe);
}

// A later operation of the stream may rely on the puts of kernels.
void quiets_what_kernels_have_put() {
  exec::Stream stream = make_stream();
  auto* words = symmetric<std::uint64_t>(2);
  words[1] = 7;
  const int before = library_kernels_launched();
  exec::LaunchConfig config;
  config.stream = stream;
  exec::launch(config, put_to, words, right);
  chimex_quiet_on_stream(stream);
  exec::stream_synchronize(stream);
  check(library_kernels_launched() == before + 1, "quiet is a kernel's");
  chime_barrier_all();
  check(words[0] == 7, "what the kernel put");
  exec::stream_destroy(stream);
  chime_free(words);
}

// So may the host, after its quiet or barrier.
void quiets_by_the_host() {
  auto* words = symmetric<std::uint64_t>(2);
  words[1] = 8;
  exec::launch({}, put_to, words, right);
  exec::device_synchronize();
  const int before = library_kernels_launched();
  chime_quiet();
  check(library_kernels_launched() == before + 1, "the host's quiet is a kernel's");
  chime_barrier_all();
  check(library_kernels_launched() == before + 2, "and so is that of its barrier");
  check(words[0] == 8, "what the kernel put");
  chime_free(words);
}
#endif

}  // namespace

int main(int argc, char** argv) {
  setenv("CHIME_ON_ERROR", "return", 1);
  setenv("CHIME_LOG", "off", 1);
  chime_init();
#ifdef PRETEND_TO_HAVE_A_GPU
  chime::host::pretend_to_have_a_gpu();
#endif
  me = chime_my_pe();
  n = chime_n_pes();
  right = (me + 1) % n;
  left = (me + n - 1) % n;
#ifdef PRETEND_TO_HAVE_A_GPU
  if (argc > 1 && std::strcmp(argv[1], "beside_a_nic") == 0) {
    puts_and_gets();
    signals_order_streams();
    waits_for_no_stream();
    lends_captured_streams_no_room();
    waits_for_what_comes_before();
    the_hosts_are_kernels();
    the_hosts_pieces_are_bytes();
    the_hosts_pieces_are_elements();
    the_hosts_signal_follows_its_data();
    refuses_as_on_the_cpu();
    quiets_what_kernels_have_put();
    quiets_by_the_host();
    return chime_finalize(), 0;
  }
#endif
  static_cast<void>(argc);
  static_cast<void>(argv);
  puts_and_gets();
  signals_order_streams();
  launches_kernels_that_wait_for_pes();
  refuses_at_the_call();
#ifdef PRETEND_TO_HAVE_A_GPU
  check(chime::host::library_kernels_launched() > 0, "the GPU's path was not taken");
#endif
  chime_finalize();
}
