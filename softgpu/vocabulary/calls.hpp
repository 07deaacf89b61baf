// Functions that kernels call and that have no PTX. They have the parameters of translated
// functions: addresses of bytes, results first.
#pragma once

#include <cstdio>

#include "chime/device/simt/trace/noting.hpp"
#include "softgpu/vocabulary/memory.hpp"

namespace softgpu {

inline void f_vprintf(Env& e, u8* result, u8* format, u8* arguments) {
  const u64 text = plain_ld<u64>(address_of(format));
  const u64 packed = plain_ld<u64>(address_of(arguments));
  plain_st<s32>(address_of(result),
                e.services->vprintf(at<const char>(text), at<const u8>(packed)));
}

inline void f_malloc(Env& e, u8* result, u8* bytes) {
  plain_st<u64>(address_of(result),
                address_of(e.services->malloc(plain_ld<u64>(address_of(bytes)))));
}
inline void f_free(Env& e, u8* memory) {
  e.services->free(at<void>(plain_ld<u64>(address_of(memory))));
}

// The event that a thread waits for, for reports of hangs. Chime's kernels call it
// (device/exec/exec_cuda_threads.cuh).
inline void f_chime_wait_lasts(Env&, u8* kind, u8* address, u8* expected, u8* pe, u8* bytes,
                               u8* comparison) {
  simt::wait_lasts({plain_ld<u32>(address_of(kind)), plain_ld<s32>(address_of(pe)),
                    at<const void>(plain_ld<u64>(address_of(address))),
                    plain_ld<u64>(address_of(expected)), plain_ld<u32>(address_of(bytes)),
                    plain_ld<s32>(address_of(comparison))});
}
inline void f_chime_wait_ended(Env& e) { simt::wait_ended(e.thread); }

// An operation on the timeline: the same header has the parameters.
inline void f_chime_trace_begin(Env&, u8* event, u8* my_pe, u8* heap, u8* heap_bytes, u8* operation,
                                u8* pe, u8* address, u8* bytes, u8* value, u8* how) {
  void* const begun = simt::begin_noted(
      {plain_ld<s32>(address_of(my_pe)), at<const void>(plain_ld<u64>(address_of(heap))),
       plain_ld<u64>(address_of(heap_bytes))},
      {plain_ld<u32>(address_of(operation)), plain_ld<s32>(address_of(pe)),
       at<const void>(plain_ld<u64>(address_of(address))), plain_ld<u64>(address_of(bytes)),
       plain_ld<u64>(address_of(value)), plain_ld<s32>(address_of(how))});
  plain_st<u64>(address_of(event), address_of(begun));
}
inline void f_chime_trace_seen(Env&, u8* event, u8* value) {
  simt::note_seen(at<void>(plain_ld<u64>(address_of(event))), plain_ld<u64>(address_of(value)));
}
inline void f_chime_trace_end(Env&, u8* event) {
  simt::end_traced(at<void>(plain_ld<u64>(address_of(event))));
}

// Line 0: the message is the caller's, and not that of an assertion.
inline void f___assertfail(Env&, u8* message, u8* file, u8* line, u8* function, u8*) {
  const char* words = at<const char>(plain_ld<u64>(address_of(message)));
  const u32 at_line = plain_ld<u32>(address_of(line));
  if (at_line == 0) simt::trap(words);
  char text[512];
  std::snprintf(text, sizeof text, "%s:%u: %s: assertion `%s' failed",
                at<const char>(plain_ld<u64>(address_of(file))), at_line,
                at<const char>(plain_ld<u64>(address_of(function))), words);
  simt::trap(text);
}

}  // namespace softgpu
