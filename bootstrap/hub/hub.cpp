#include "bootstrap/hub/hub.hpp"

#include <thread>

#include "bootstrap/hub/hub_server.hpp"
#include "chime/abi/start_thread.h"

namespace chime::bootstrap {

class Hub::Server {
 public:
  Server(std::vector<net::Descriptor> listeners, Options options)
      : hub(std::move(listeners), std::move(options)),
        thread_(abi::start_thread([this] { hub.serve(); })) {}
  ~Server() {
    hub.stop();
    thread_.join();
  }
  HubServer hub;

 private:
  std::thread thread_;
};

Hub::Hub(std::vector<net::Descriptor> listeners, Options options)
    : server_(std::make_unique<Server>(std::move(listeners), std::move(options))) {}
Hub::~Hub() = default;
void Hub::tell_lost(int pe, std::string why) { server_->hub.tell_lost(pe, std::move(why)); }
void Hub::ask_activity(std::function<void()> said) { server_->hub.ask_activity(std::move(said)); }

}  // namespace chime::bootstrap
