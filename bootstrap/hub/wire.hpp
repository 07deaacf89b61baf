// Messages between a PE and the hub: payloads of the frames of an authenticated connection
// (net/README.md).
//
//   | u8 type | fields |      little endian; text and bytes are u32 length + content
//
// A life: the PE introduces itself with | i32 n_pes | text node |. When the hub has let it in, each
// request carries an id that its kReply or kFailed repeats; kLost and kAborted come unasked, and so
// does kAskActivity.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "bootstrap/bootstrap.hpp"
#include "net/mesh/fields.hpp"
#include "net/socket/connection.hpp"

namespace chime::bootstrap {

inline constexpr std::size_t kMaxMessageBytes = kMaxValueBytes + 4096;
inline constexpr net::SecureChannel::Limits kHubLimits{.frame_bytes = kMaxMessageBytes};

enum class Message : std::uint8_t {
  // requests: u32 id, then
  kPublish = 10,    // key, value                 -> empty reply
  kLookup = 11,     // i32 pe, key, u8 wait       -> value, when it is there
  kNodePeers = 13,  // -                          -> i32 each, when all PEs have joined
  kExplain = 14,    // u32 id of a request        -> why it has no reply yet, in words
  // answers: u32 id, then
  kReply = 20,   // bytes
  kFailed = 21,  // i32 code (chimex_status), why
  // without an answer
  kAbort = 30,             // PE: i32 code, why
  kGoodbye = 31,           // PE: leaves the job
  kLost = 32,              // hub: i32 pe, why
  kAborted = 33,           // hub: i32 pe, i32 code, why
  kAskActivity = 34,       // hub: say on stderr what you are doing
  kActivityReported = 35,  // PE: it has been said
};

// Builds one message.
class MessageWriter {
 public:
  explicit MessageWriter(Message type) { fields_.put(type); }

  template <class T>
  requires std::is_trivially_copyable_v<T> MessageWriter& put(const T& value) {
    fields_.put(value);
    return *this;
  }
  MessageWriter& bytes(std::span<const std::byte> content) {
    fields_.bytes(content);
    return *this;
  }
  MessageWriter& text(std::string_view content) {
    fields_.text(content);
    return *this;
  }

  // The finished message.
  Bytes take() { return fields_.take(); }

 private:
  net::Writer fields_;
};

// Takes one message apart, which must outlive it. Throws net::Error on a field that is not there:
// the other side does not speak this protocol.
class MessageReader : public net::Reader {
 public:
  explicit MessageReader(std::span<const std::byte> message)
      : net::Reader(message), type_(get<Message>()) {}

  Message type() const { return type_; }

 private:
  Message type_;
};

[[noreturn]] inline void throw_nonsense(const char* what) {
  throw net::Error(net::Fault::kProtocol, what);
}

}  // namespace chime::bootstrap
