#include "strict.hpp"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "log.hpp"
#include "softnic/engine/dma.hpp"

namespace softnic::strict {
namespace {

std::atomic<std::uint64_t> violations{0};

// The reported names, by queue pair. Never destroyed: the NIC's thread runs longer than
// destructors.
struct Seen {
  std::mutex lock;
  std::map<std::uint32_t, std::set<std::string>> names;
};
Seen& seen() {
  static Seen& all = *new Seen;
  return all;
}

// True when this name is reported for this queue pair for the first time.
bool is_new(const char* name, std::uint32_t qpn) {
  violations.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard guard(seen().lock);
  return settings().strict && seen().names[qpn].emplace(name).second;
}

}  // namespace

void report(const char* name, std::uint32_t qpn, const char* format, ...) {
  if (!is_new(name, qpn)) return;
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  print("softnic: strict: %s: queue pair %#x: %s\n", name, qpn, text);
}

void report_bytes(const char* name, std::uint32_t qpn, std::span<const std::byte> bytes) {
  if (!is_new(name, qpn)) return;
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    char two[8];
    std::snprintf(two, sizeof two,
                  i % 16 == 0  ? "\n  %02x"
                  : i % 4 == 0 ? "  %02x"
                               : " %02x",
                  std::to_integer<unsigned>(bytes[i]));
    text += two;
  }
  print("softnic: strict: %s: queue pair %#x: the work request is%s\n", name, qpn, text.c_str());
}

void report_access(const char* name, std::uint32_t qpn, const Attempt& a) {
  report(name, qpn, "%s %#x, address %#llx, %llu bytes", a.key_name, a.key,
         static_cast<unsigned long long>(a.address), static_cast<unsigned long long>(a.bytes));
}

void forget(std::uint32_t qpn) {
  const std::lock_guard guard(seen().lock);
  seen().names.erase(qpn);
}

std::uint64_t count() { return violations.load(std::memory_order_relaxed); }

std::uint64_t fingerprint(const QueuePair& qp, std::uint32_t first_block, std::uint32_t blocks) {
  if (!settings().strict) return 0;
  std::byte control[kSegment];
  dma_read(control,
           qp.send_ring + static_cast<std::size_t>(first_block & (qp.send_blocks - 1)) * kBlock,
           sizeof control);
  const std::uint32_t last_bytes = (segments_of(control) * kSegment - 1) % kBlock + 1;
  std::uint64_t h = 0xcbf29ce484222325ull;
  for (std::uint32_t b = 0; b < blocks; ++b) {
    const std::byte* block =
        qp.send_ring + static_cast<std::size_t>((first_block + b) & (qp.send_blocks - 1)) * kBlock;
    const std::uint32_t used = b + 1 == blocks ? last_bytes : kBlock;
    std::byte seen[kBlock];
    dma_read(seen, block, used);
    for (std::uint32_t at = 0; at < used; at += 8)
      h = (h ^ load<std::uint64_t>(seen + at)) * 0x100000001b3ull;
  }
  return h;
}

void check_unchanged(const QueuePair& qp, const Outstanding& o) {
  if (!settings().strict || o.fingerprint == 0 || qp.send_ring == nullptr) return;
  if (o.syndrome == Syndrome::kFlushed) return;
  if (fingerprint(qp, qp.send_retired, o.request.blocks()) != o.fingerprint)
    report("wqe-changed", qp.qpn,
           "work request %u was written to between its doorbell and its completion",
           o.request.index);
}

}  // namespace softnic::strict
