#include "host/setup/timeline/hosts.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <vector>

#include "host/errors/error.hpp"
#include "host/settings/deadline.hpp"
#include "host/trace/merge/parts.hpp"
#include "host/trace/paths.hpp"

namespace chime::host {
namespace {

constexpr int kRounds = 4;
constexpr const char kClockKey[] = "timeline/clock";
constexpr const char kSizeKey[] = "timeline/bytes";

std::string ping_key(int round) { return fmt::format("timeline/ping/{}", round); }
std::string pong_key(int pe, int round) { return fmt::format("timeline/pong/{}/{}", pe, round); }
std::string piece_key(std::size_t piece) { return fmt::format("timeline/piece/{}", piece); }

// What a PE says at the start.
struct Clock {
  std::uint64_t number;
  std::int64_t part;  // the PE that its part is named after
};

template <class Value>
void publish(const Runtime& runtime, const std::string& key, const Value& value) {
  runtime.bootstrap->publish(key, std::as_bytes(std::span(&value, 1)));
}

template <class Value>
Value look_up(const Runtime& runtime, int pe, const std::string& key,
              bootstrap::Deadline deadline) {
  const bootstrap::Bytes bytes = runtime.bootstrap->lookup(pe, key, deadline);
  Value value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

// The PEs, but PE 0, after which parts are named.
std::vector<int> pes_with_parts(const Runtime& runtime, bootstrap::Deadline deadline) {
  std::vector<int> pes;
  for (int pe = 1; pe < runtime.n_pes(); ++pe)
    if (look_up<Clock>(runtime, pe, kClockKey, deadline).part == pe) pes.push_back(pe);
  return pes;
}

// ---- Clocks -------------------------------------------------------------------------------------

// The rounds of a comparison, and how long PEs wait for each other.
struct Rounds {
  int first, end;
  bootstrap::Deadline deadline;
};
Rounds rounds_of(const Runtime& runtime, Comparison which) {
  if (which == Comparison::kAtStart) return {0, kRounds, init_deadline(runtime.settings)};
  return {kRounds, 2 * kRounds, deadline_of_end(runtime)};
}

void tell_time(const Runtime& runtime, const Rounds& rounds) {
  for (const int pe : pes_with_parts(runtime, rounds.deadline)) {
    const auto clock = look_up<Clock>(runtime, pe, kClockKey, rounds.deadline);
    if (clock.number == trace::number_of_clock()) continue;
    for (int round = rounds.first; round < rounds.end; ++round) {
      look_up<std::uint64_t>(runtime, pe, ping_key(round), rounds.deadline);
      publish(runtime, pong_key(pe, round), trace::now_ns());
    }
  }
}

// PE 0's time lies between the question and the answer: the quickest answer says it best.
void ask_time(const Runtime& runtime, trace::PartFile& part, const Rounds& rounds) {
  std::uint64_t best_ns = ~std::uint64_t{0};
  std::int64_t offset_ns = 0;
  for (int round = rounds.first; round < rounds.end; ++round) {
    const std::uint64_t asked = trace::now_ns();
    publish(runtime, ping_key(round), asked);
    const std::string pong = pong_key(runtime.my_pe(), round);
    const auto told = look_up<std::uint64_t>(runtime, 0, pong, rounds.deadline);
    const std::uint64_t took = trace::now_ns() - asked;
    if (took >= best_ns) continue;
    best_ns = took;
    offset_ns = static_cast<std::int64_t>(told - (asked + took / 2));
  }
  part.set_offset(offset_ns, best_ns / 2 + 1);
}

// ---- Parts --------------------------------------------------------------------------------------

// Whether the part of `pe`, of this job, is on this PE's disk.
bool has_part(const std::string& path, int pe, const trace::PartFile& mine) {
  try {
    return trace::Part(trace::part_of(path, pe)).header().job == mine.header().job;
  } catch (const Error&) {
    return false;
  }
}

void send_part(const Runtime& runtime, const trace::PartFile& part) {
  const trace::PartHeader& h = part.header();
  const std::size_t bytes = trace::part_bytes(std::min(h.chunks, h.most_chunks));
  const std::span all(reinterpret_cast<const std::byte*>(&h), bytes);
  publish(runtime, kSizeKey, std::uint64_t{bytes});
  for (std::size_t at = 0; at < bytes; at += bootstrap::kMaxValueBytes)
    runtime.bootstrap->publish(piece_key(at / bootstrap::kMaxValueBytes),
                               all.subspan(at, std::min(bootstrap::kMaxValueBytes, bytes - at)));
}

void receive_part(const Runtime& runtime, const std::string& file, int pe) {
  const bootstrap::Deadline deadline = deadline_of_end(runtime);
  const auto bytes = look_up<std::uint64_t>(runtime, pe, kSizeKey, deadline);
  std::ofstream out(file, std::ios::binary);
  for (std::size_t at = 0; at < bytes; at += bootstrap::kMaxValueBytes) {
    const bootstrap::Bytes piece =
        runtime.bootstrap->lookup(pe, piece_key(at / bootstrap::kMaxValueBytes), deadline);
    out.write(reinterpret_cast<const char*>(piece.data()),
              static_cast<std::streamsize>(piece.size()));
  }
  if (!out.flush()) throw system_error("timeline", fmt::format("cannot write {}", file));
}

}  // namespace

bootstrap::Deadline deadline_of_end(const Runtime& runtime) {
  const std::uint64_t bound_ns = runtime.settings.wait_timeout_ns;
  return std::chrono::steady_clock::now() +
         (bound_ns != 0 ? std::chrono::nanoseconds(bound_ns) : std::chrono::hours(24));
}

void tell_clock(const Runtime& runtime, const trace::PartFile& part) {
  publish(runtime, kClockKey, Clock{part.header().clock, part.header().first_pe});
}

void compare_clocks(const Runtime& runtime, trace::PartFile& part, Comparison which) {
  const Rounds rounds = rounds_of(runtime, which);
  if (runtime.my_pe() == 0) return tell_time(runtime, rounds);
  const bool is_named_after_me = part.header().first_pe == runtime.my_pe();
  if (!is_named_after_me) return;
  if (look_up<Clock>(runtime, 0, kClockKey, rounds.deadline).number != part.header().clock)
    ask_time(runtime, part, rounds);
}

bool carry_parts(const Runtime& runtime, const std::string& path, const trace::PartFile& part) {
  if (runtime.my_pe() != 0) {
    if (part.header().first_pe != runtime.my_pe()) return false;
    const auto first = look_up<Clock>(runtime, 0, kClockKey, deadline_of_end(runtime));
    if (has_part(path, static_cast<int>(first.part), part)) return false;
    send_part(runtime, part);
    return true;
  }
  for (const int pe : pes_with_parts(runtime, deadline_of_end(runtime)))
    if (!has_part(path, pe, part)) receive_part(runtime, trace::part_of(path, pe), pe);
  return false;
}

}  // namespace chime::host
