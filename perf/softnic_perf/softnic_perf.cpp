// softnic_perf: how fast the emulated NIC is, beside libfabric's paths between two processes.
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cstdio>
#include <vector>

#include "endpoint.hpp"
#include "libfabric.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "sweep.hpp"

namespace {

using namespace chime::perf;

constexpr std::size_t kMaxBytes = 1 << 20;
constexpr std::uint32_t kWindow = 128;
constexpr std::size_t kBytesPerRepeat = 128 << 20;
constexpr std::uint32_t kMostWrites = 1 << 15;
constexpr int kLatencyWrites = 500;
constexpr int kRoundTrips = 500;
constexpr unsigned kIdleSeconds = 2;

void send_all(int socket, const void* data, std::size_t bytes) {
  if (::send(socket, data, bytes, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes))
    throw std::runtime_error("the other process is gone");
}
void receive_all(int socket, void* data, std::size_t bytes) {
  if (::recv(socket, data, bytes, MSG_WAITALL) != static_cast<ssize_t>(bytes))
    throw std::runtime_error("the other process is gone");
}

double processor_seconds(int processes) {
  rusage usage;
  ::getrusage(processes, &usage);
  const auto seconds = [](const timeval& t) { return t.tv_sec + t.tv_usec * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Processor time of this process's NIC: of all threads but this one.
double nic_seconds() { return processor_seconds(RUSAGE_SELF) - processor_seconds(RUSAGE_THREAD); }

// The parent's orders to the child. Without work the child sleeps, as the target of a write may.
enum class Order : std::uint32_t { kEnd, kRoundTrips, kTellTime };
struct Task {
  Order order;
  std::uint32_t bytes;
  std::uint64_t times;
  std::uint64_t before;  // the value of the last message so far
};

// Sends first or answers first; in us, half a round trip. Both sides poll memory.
double round_trips(Endpoint& endpoint, const Task& task, bool first) {
  const double us = host_us(static_cast<int>(task.times), [&, value = task.before]() mutable {
    ++value;
    const auto arrived = [&] { return endpoint.last_word(task.bytes) >= value; };
    if (!first) wait_for("message", arrived);
    endpoint.write_value(value, task.bytes);
    if (first) wait_for("answer", arrived);
    wait_for("completion", [&] { return endpoint.poll(); });
  });
  return us / 2;
}

int child(int socket) {
  Endpoint endpoint(kMaxBytes);
  const Address mine = endpoint.address();
  Address peer;
  send_all(socket, &mine, sizeof mine);
  receive_all(socket, &peer, sizeof peer);
  endpoint.connect(peer);
  send_all(socket, &mine, sizeof mine);  // ready
  for (Task task{};;) {
    receive_all(socket, &task, sizeof task);
    if (task.order == Order::kEnd) return 0;
    if (task.order == Order::kRoundTrips) round_trips(endpoint, task, false);
    if (task.order != Order::kTellTime) continue;
    const double seconds = nic_seconds();
    send_all(socket, &seconds, sizeof seconds);
  }
}

// The share of a core that a connected NIC takes while it is not used, in percent.
double idle_percent() {
  ::usleep(100'000);
  const double start = nic_seconds();
  ::sleep(kIdleSeconds);
  return (nic_seconds() - start) / kIdleSeconds * 100;
}

double latency_us(Endpoint& endpoint, std::uint32_t bytes, int writes) {
  return host_us(writes, [&] { endpoint.write_windowed(bytes, 1, 1); });
}

struct Sides {
  Endpoint& remote;  // its peer is the other process
  Endpoint& local;   // its peer is this process
  int socket;
  std::uint64_t messages = 0;  // of round trips: their values only grow
};

// Processor time of both NICs.
double all_nic_seconds(const Sides& sides) {
  const Task task{Order::kTellTime, 0, 0, 0};
  send_all(sides.socket, &task, sizeof task);
  double seconds = 0;
  receive_all(sides.socket, &seconds, sizeof seconds);
  return seconds + nic_seconds();
}

std::vector<double> measure(Sides& sides, std::uint32_t bytes, const Options& options) {
  const int writes = options.iterations(kLatencyWrites);
  const auto times = static_cast<std::uint64_t>(options.iterations(kRoundTrips));
  const auto most = std::min<std::size_t>(kMostWrites, kBytesPerRepeat / bytes);
  const auto count = static_cast<std::uint32_t>(most / kWindow * kWindow);
  Best windowed, work, latency, loopback, half, shm, tcp;
  for (int r = 0; r < options.repeats; ++r) {
    const double before = all_nic_seconds(sides);
    windowed.take(host_us(1, [&] { sides.remote.write_windowed(bytes, count, kWindow); }) / count);
    work.take((all_nic_seconds(sides) - before) * 1e6 / count);
    latency.take(latency_us(sides.remote, bytes, writes));
    loopback.take(latency_us(sides.local, bytes, writes));
    const Task task{Order::kRoundTrips, bytes, times, sides.messages += times};
    send_all(sides.socket, &task, sizeof task);
    half.take(round_trips(sides.remote, task, true));
    if (r >= 3) continue;  // whole jobs
    shm.take(libfabric_half_round_trip_us("shm", bytes, 2000));
    tcp.take(libfabric_half_round_trip_us("tcp", bytes, 500));
  }
  return {1 / windowed.value(), bytes / windowed.value(),
          work.value(),         latency.value(),
          loopback.value(),     half.value(),
          shm.value(),          tcp.value()};
}

int parent(int socket, const Options& options) {
  Endpoint remote(kMaxBytes), local(kMaxBytes);
  Address peer;
  receive_all(socket, &peer, sizeof peer);
  const Address mine = remote.address();
  send_all(socket, &mine, sizeof mine);
  remote.connect(peer);
  local.connect(local.address());
  receive_all(socket, &peer, sizeof peer);  // the child is ready

  remote.write_windowed(8, kWindow, kWindow);
  char idle[64];
  std::snprintf(idle, sizeof idle, "an idle NIC takes %.2f %% of a core", idle_percent());
  Table table("softnic", "Size",
              {"Rate (M/s)", "Bandwidth (MB/s)", "Work (us)", "Write (us)", "Loopback (us)",
               "Pingpong (us)", "fi shm (us)", "fi tcp (us)"},
              {"Rate, Bandwidth: windows of 128 writes to another process, which sleeps",
               "Work: processor time of both NICs for one of these writes",
               "Write: one write to it, from the post to the completion; Loopback: in one process",
               "Pingpong: half a round trip of writes, both processes poll memory",
               "fi: half a round trip of fi_pingpong -e rdm over libfabric's shm and tcp",
               "best of " + std::to_string(options.repeats) + " loops (fi: of 3)", idle});
  Sides sides{remote, local, socket};
  sweep(table, options, true, sizes_of(options), [&](const Options& chosen, Size size) {
    return measure(sides, static_cast<std::uint32_t>(size.bytes), chosen);
  });
  const Task end{Order::kEnd, 0, 0, 0};
  send_all(socket, &end, sizeof end);
  return table.write_json(options.json) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.min_bytes = 8;
  options.max_bytes = 65536;
  parse(options, argc, argv, "Speed of the emulated NIC; run it as: softnic-run softnic_perf",
        true);
  if (options.min_bytes < 8 || options.max_bytes > kMaxBytes) {
    std::fprintf(stderr, "softnic_perf: sizes may be 8 to %zu bytes\n", kMaxBytes);
    return 2;
  }
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) return std::perror("socketpair"), 1;
  const pid_t other = ::fork();  // before either has opened the device
  const bool is_child = other == 0;
  ::close(sockets[is_child ? 0 : 1]);
  int status = 1;
  try {
    status = is_child ? child(sockets[1]) : parent(sockets[0], options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "softnic_perf: %s\n", error.what());
  }
  ::close(sockets[is_child ? 1 : 0]);
  if (!is_child) ::waitpid(other, nullptr, 0);
  return status;
}
