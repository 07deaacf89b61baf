// The messages between chime-run and its agent on another host, over the agent's standard input and
// output.
//
// The agent greets first, with a line; anything before that line is the remote shell's. Then both
// send frames,
//
//   | u32 length | u8 what | fields |     little endian; text is u32 length + content
//
// The order holds the job's secret. It goes by standard input only: other processes can read
// arguments and environment of a process. Standard input stays open as the agent's life line: at
// its end chime-run is gone, and the agent ends its PEs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "crew.hpp"
#include "net/mesh/fields.hpp"
#include "net/mesh/frame.hpp"
#include "processes/output.hpp"

namespace chime::run {

enum class ToAgent : std::uint8_t {
  kOrder = 1,  // text directory, order
  kEnd,        // i32 signal, to all PEs
  kPass,       // i32 signal, to those that listen
  kLook,       // say kLooked after all ends until now
  kInput,      // bytes that PE 0 reads; none: that was all
  kAsk,        // say kHere
};

enum class FromAgent : std::uint8_t {
  kStarted = 1,  // all PEs run
  kCannotRun,    // i32 code, text
  kOutput,       // i32 PE, u8 stream, bytes; none: that was all
  kWords,        // text: a sentence for the user
  kEnded,        // i32 PE, i32 process, i32 status
  kLooked,
  kTaken,  // u32: so many bytes of the input
  kHere,
};

// Bytes of PE 0's input that may be in transit: the agent keeps up to so many when PE 0 does not
// read.
inline constexpr std::uint32_t kInputWindow = 64 << 10;
// A command, and the environment of each PE.
inline constexpr std::size_t kLongestFrame = 64 << 20;

// "chime-run agent of Chime 0.1.0, talk 2": the agent and chime-run must be of one version.
inline constexpr std::string_view kGreetingBegins = "chime-run agent of Chime ";
std::string greeting();

// `fields` after `what`, as a frame, to `sink`.
template <class What>
void say(Sink& sink, What what, net::Writer fields = {}) {
  const net::Bytes frame = net::framed(net::Writer().put(what).raw(fields.written()).take());
  sink.add({reinterpret_cast<const char*>(frame.data()), frame.size()});
}

inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void write(net::Writer& fields, const Order& order);
// Throws net::Error if there is none.
Order order_in(net::Reader& fields);

}  // namespace chime::run
