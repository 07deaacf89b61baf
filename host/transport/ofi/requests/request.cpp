#include "host/transport/ofi/requests/request.hpp"

namespace chime::host::ofi {

Request& Requests::take(const HostRequest& wanted, std::uint64_t completion) {
  if (free_.empty()) free_.push_back(&all_.emplace_back(static_cast<std::uint32_t>(all_.size())));
  Request& request = *free_.back();
  free_.pop_back();
  request.wanted = wanted;
  request.completion = completion;
  request.moved = request.piece = 0;
  request.begun = 0;
  request.pieces = request.copies = 0;
  request.internal_request = nullptr;
  request.turn = nullptr;
  request.is_asked = request.was_in_flight = false;
  request.is_live = request.is_in_use = true;
  request.status = CHIMEX_OK;
  return request;
}

void Requests::free(Request& request) {
  request.generation = (request.generation + 1) % Request::kGenerations;
  free_.push_back(&request);
}

Request* Requests::find(std::uint64_t id) {
  const auto index = static_cast<std::uint32_t>(id);
  if (index >= all_.size()) return nullptr;
  Request& request = all_[index];
  return request.is_live && request.id() == id ? &request : nullptr;
}

}  // namespace chime::host::ofi
