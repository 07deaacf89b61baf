// Messages between a PE and the hub, as bytes on a stream socket.
//
//   | u32 length of what follows | u8 type | fields |      little endian; text and bytes are u32
//   length + content
//
// A life: the hub sends kChallenge; the PE answers kHello; the hub says kWelcome, or kRefused and
// closes. Then each request carries an id that its kReply or kFailed repeats; kLost and kAborted
// come unasked, and so does kAskActivity.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/secret.hpp"

namespace chime::bootstrap {

static_assert(std::endian::native == std::endian::little, "the wire format is the memory's");

inline constexpr std::uint32_t kWireVersion = 3;
inline constexpr std::size_t kMaxMessageBytes = kMaxValueBytes + 4096;
inline constexpr std::size_t kMaxHelloBytes =
    512;  // before it has proved the token, a peer may send no more

enum class Message : std::uint8_t {
  // before the connection is authenticated
  kChallenge = 1,  // hub: u32 version, hub's nonce
  kHello = 2,      // PE: i32 pe, i32 n_pes, PE's nonce, node, proof of the token
  kWelcome = 3,    // hub: proof of the token
  kRefused = 4,    // hub: proof of the token, why
  // requests: u32 id, then
  kPublish = 10,    // key, value                 -> empty reply
  kLookup = 11,     // i32 pe, key, u8 wait       -> value, when it is there
  kBarrier = 12,    // -                          -> empty reply, when all PEs have entered
  kNodePeers = 13,  // -                          -> i32 each, when all PEs have joined
  kExplain = 14,    // u32 id of a request        -> why it has no reply yet, in words
  kGiveUp = 15,     // - ; id: of a kBarrier     -> its answer: failed, unless all have entered
  // answers: u32 id, then
  kReply = 20,   // bytes
  kFailed = 21,  // why
  // without an answer
  kAbort = 30,         // PE: i32 code, why
  kGoodbye = 31,       // PE: leaves the job
  kLost = 32,          // hub: i32 pe, why
  kAborted = 33,       // hub: i32 pe, i32 code, why
  kAskActivity = 34,   // hub: say on stderr what you are doing
  kToldActivity = 35,  // PE: it has been said
};

// Builds one message.
class MessageWriter {
 public:
  explicit MessageWriter(Message type) : bytes_(4) { put(type); }

  template <class T>
  requires std::is_trivially_copyable_v<T> MessageWriter& put(const T& value) {
    auto raw = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
    return *this;
  }
  MessageWriter& bytes(std::span<const std::byte> content) {
    put(static_cast<std::uint32_t>(content.size()));
    bytes_.insert(bytes_.end(), content.begin(), content.end());
    return *this;
  }
  MessageWriter& text(std::string_view content) { return bytes(std::as_bytes(std::span(content))); }

  // The finished message.
  Bytes take() {
    const auto length = static_cast<std::uint32_t>(bytes_.size() - 4);
    std::memcpy(bytes_.data(), &length, 4);
    return std::move(bytes_);
  }

 private:
  Bytes bytes_;
};

// Takes one message apart. Throws BootstrapError on a field that is not there: the other side does
// not speak this protocol.
class MessageReader {
 public:
  explicit MessageReader(Bytes message) : message_(std::move(message)) { type_ = get<Message>(); }

  Message type() const { return type_; }

  template <class T>
  requires std::is_trivially_copyable_v<T> T get() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::span<const std::byte> bytes() { return take(get<std::uint32_t>()); }
  std::string text() {
    auto content = bytes();
    return {reinterpret_cast<const char*>(content.data()), content.size()};
  }

 private:
  std::span<const std::byte> take(std::size_t n) {
    if (message_.size() - at_ < n)
      throw BootstrapError("a message of the start-up exchange is too short");
    at_ += n;
    return std::span(message_).subspan(at_ - n, n);
  }

  Bytes message_;
  std::size_t at_ = 0;
  Message type_;
};

// Cuts a stream of bytes into messages.
class MessageStream {
 public:
  void add(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }

  // The next whole message (without its length), if there is one. Throws when it announces more
  // than `limit`.
  std::optional<Bytes> next(std::size_t limit);

 private:
  Bytes bytes_;
};

// A PE's proof to the hub that it knows `token`, and the hub's proof to the PE. Both nonces are in
// both, so that neither can be replayed; the words at the start keep one from serving as the other.
Digest pe_proof(const Token& token, const Token& hub_nonce, const Token& pe_nonce, int pe,
                int n_pes);
Digest hub_proof(const Token& token, const Token& hub_nonce, const Token& pe_nonce);

// The secret that PEs of the token's job share. It never travels.
Bytes job_secret_of(const Token& token);
// A public name of the token's job.
std::string job_id_of(const Token& token);

}  // namespace chime::bootstrap
