// Leaving the job in order, by chime_finalize. pe/end.hpp ends it because something has failed.
#pragma once

#include "host/pe/pe.hpp"

namespace chime::host {

// From now on, if this process ends without chime_finalize, its local peers hear of it; if a
// kernel's trap ends it, the user hears why.
void watch_ends();

// Meets all PEs a last time, unless the job is aborted, and takes the PE down. Throws the pending
// asynchronous error, if there is one, after everything is freed; Error{INVALID}, and the PE stays,
// if other threads still use it.
void leave_job(PeSlot& slot);

}  // namespace chime::host
