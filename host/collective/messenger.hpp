// What collective calls need of a side channel between PEs.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace chime::host {

class Messenger {
 public:
  // Who is told what comes. Calls come from one thread of the messenger, one at a time; they must
  // not wait, and may send.
  class Listener {
   public:
    virtual void on_message(int from, std::span<const std::byte> message) = 0;
    // `pe` is gone without goodbye, or cannot be reached. At most once a PE.
    virtual void on_lost(int pe, const std::string& why) = 0;

   protected:
    ~Listener() = default;
  };

  // What was sent before has left when this returns, or cannot; the listener hears nothing any
  // more.
  virtual ~Messenger() = default;

  virtual int my_pe() const = 0;
  virtual int n_pes() const = 0;

  // From now on `listener` is told, first of what has come already.
  virtual void start(Listener& listener) = 0;

  // Takes `message` for `pe`, and does not wait for it. Messages to one PE arrive in the order in
  // which they were sent, each once, unless that PE or this one ends; those to this PE itself
  // behind all that others have sent and that has arrived. Throws Error{PEER_DEAD} when it is lost.
  // From any thread.
  virtual void send(int pe, std::span<const std::byte> message) = 0;
};

}  // namespace chime::host
