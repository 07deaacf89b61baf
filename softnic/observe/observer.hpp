// What the program that the softnic is in wants to hear of requests (softnic_observe). Called under
// the device's lock.
#pragma once

#include "softnic/firmware/objects.hpp"

namespace softnic::observer {

// A request was fetched. Returns what its end gets; null: nobody listens.
void* begin(const QueuePair& qp, const Request& request);
void end(const Outstanding& request);

}  // namespace softnic::observer
