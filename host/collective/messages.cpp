#include "host/collective/messages.hpp"

#include "net/mesh/fields.hpp"
#include "net/socket/error.hpp"

namespace chime::host {
namespace {

enum class Kind : std::uint8_t { kCome = 1, kGiveUp, kVerdict, kAsk };

// A sentence or two; what is longer is cut.
constexpr std::size_t kMostWords = 1024;

std::string_view short_of(std::string_view words) { return words.substr(0, kMostWords); }

}  // namespace

net::Bytes write(const Come& come) {
  return net::Writer().put(Kind::kCome).put(come.call).put(come.calls).take();
}

net::Bytes write(const GiveUp& give_up) {
  return net::Writer()
      .put(Kind::kGiveUp)
      .put(give_up.call)
      .put(give_up.by)
      .put(give_up.absent)
      .put(give_up.code)
      .text(short_of(give_up.why))
      .take();
}

net::Bytes write(const Ask& ask) {
  return net::Writer().put(Kind::kAsk).put(ask.call).put(ask.by).put(ask.what).take();
}

net::Bytes write(const Verdict& verdict) {
  return net::Writer()
      .put(Kind::kVerdict)
      .put(verdict.met)
      .put(verdict.calls)
      .put(verdict.given_up)
      .put(verdict.by)
      .put(verdict.absent)
      .put(verdict.code)
      .text(short_of(verdict.why))
      .take();
}

std::variant<Come, GiveUp, Ask, Verdict> read_message(std::span<const std::byte> message) {
  net::Reader fields(message);
  switch (fields.get<Kind>()) {
    case Kind::kCome: {
      const auto call = fields.get<std::uint64_t>();
      return Come{call, fields.get<CollectiveCalls>()};
    }
    case Kind::kGiveUp: {
      GiveUp give_up;
      give_up.call = fields.get<std::uint64_t>();
      give_up.by = fields.get<int>();
      give_up.absent = fields.get<int>();
      give_up.code = fields.get<chimex_status>();
      give_up.why = fields.text();
      return give_up;
    }
    case Kind::kAsk: {
      Ask ask;
      ask.call = fields.get<std::uint64_t>();
      ask.by = fields.get<int>();
      ask.what = fields.get<CollectiveCall>();
      return ask;
    }
    case Kind::kVerdict: {
      Verdict verdict;
      verdict.met = fields.get<std::uint64_t>();
      verdict.calls = fields.get<CollectiveCalls>();
      verdict.given_up = fields.get<std::uint64_t>();
      verdict.by = fields.get<int>();
      verdict.absent = fields.get<int>();
      verdict.code = fields.get<chimex_status>();
      verdict.why = fields.text();
      return verdict;
    }
  }
  throw net::Error(net::Fault::kProtocol, "no message about a collective call");
}

}  // namespace chime::host
