// The processors that the calling thread may use.
#pragma once

namespace chime::proxy {

int processors_of_thread();

// Goes to the next of them, where it is the scheduler's again to move. False: there is no other.
bool leave_processor();

}  // namespace chime::proxy
