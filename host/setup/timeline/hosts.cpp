#include "host/setup/timeline/hosts.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <vector>

#include "host/errors/error.hpp"
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
Value look_up(const Runtime& runtime, int pe, const std::string& key) {
  const bootstrap::Bytes bytes = runtime.bootstrap->lookup(pe, key, deadline_of_end(runtime));
  Value value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

// The PEs, but PE 0, after which parts are named.
std::vector<int> pes_with_parts(const Runtime& runtime) {
  std::vector<int> pes;
  for (int pe = 1; pe < runtime.n_pes(); ++pe)
    if (look_up<Clock>(runtime, pe, kClockKey).part == pe) pes.push_back(pe);
  return pes;
}

// ---- Clocks -------------------------------------------------------------------------------------

void tell_time(const Runtime& runtime) {
  for (const int pe : pes_with_parts(runtime)) {
    if (look_up<Clock>(runtime, pe, kClockKey).number == trace::number_of_clock()) continue;
    for (int round = 0; round < kRounds; ++round) {
      look_up<std::uint64_t>(runtime, pe, ping_key(round));
      publish(runtime, pong_key(pe, round), trace::now_ns());
    }
  }
}

// PE 0's time lies between the question and the answer: the quickest answer says it best.
void ask_time(const Runtime& runtime, trace::PartFile& part) {
  std::uint64_t best_ns = ~std::uint64_t{0};
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t asked = trace::now_ns();
    publish(runtime, ping_key(round), asked);
    const auto told = look_up<std::uint64_t>(runtime, 0, pong_key(runtime.my_pe(), round));
    const std::uint64_t took = trace::now_ns() - asked;
    if (took >= best_ns) continue;
    best_ns = took;
    part.set_offset(static_cast<std::int64_t>(told - (asked + took / 2)), took / 2 + 1);
  }
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
  const auto bytes = look_up<std::uint64_t>(runtime, pe, kSizeKey);
  std::ofstream out(file, std::ios::binary);
  for (std::size_t at = 0; at < bytes; at += bootstrap::kMaxValueBytes) {
    const bootstrap::Bytes piece = runtime.bootstrap->lookup(
        pe, piece_key(at / bootstrap::kMaxValueBytes), deadline_of_end(runtime));
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

void compare_clocks(const Runtime& runtime, trace::PartFile& part) {
  if (runtime.my_pe() == 0) return tell_time(runtime);
  const bool is_named_after_me = part.header().first_pe == runtime.my_pe();
  if (!is_named_after_me) return;
  if (look_up<Clock>(runtime, 0, kClockKey).number != part.header().clock) ask_time(runtime, part);
}

bool carry_parts(const Runtime& runtime, const std::string& path, const trace::PartFile& part) {
  if (runtime.my_pe() != 0) {
    if (part.header().first_pe != runtime.my_pe()) return false;
    const auto parts_of_first = static_cast<int>(look_up<Clock>(runtime, 0, kClockKey).part);
    if (has_part(path, parts_of_first, part)) return false;
    send_part(runtime, part);
    return true;
  }
  for (const int pe : pes_with_parts(runtime))
    if (!has_part(path, pe, part)) receive_part(runtime, trace::part_of(path, pe), pe);
  return false;
}

}  // namespace chime::host
