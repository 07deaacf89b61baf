// What the executor and the host's calls record: device/simt/trace/recorder.hpp.
#pragma once

#include "chime/device/simt/trace/recorder.hpp"

namespace chime::trace {

extern const simt::Recorder kExecutorsRecorder;

// How the recorder finds the PE of a call of the calling thread; -1: none.
void set_pe_of_call(int (*pe_of_call)());

}  // namespace chime::trace
