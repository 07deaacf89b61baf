// How a call of the driver fails: by an exception up to its frame (calls.hpp), which returns the
// code.
#pragma once

#include <cuda.h>

namespace softgpu::driver {

struct Failure {
  CUresult result;
};

// `format`: what is wrong, with the numbers; CHIME_SOFTGPU_TRACE shows it.
[[noreturn]] void fail(CUresult result, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

// The same for what users meet in programs that are right on a GPU: always said on stderr.
[[noreturn]] void fail_aloud(CUresult result, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

// A line of the softgpu on stderr, with this process's number.
void say(const char* format, ...) __attribute__((format(printf, 1, 2)));

// CHIME_SOFTGPU_TRACE: calls that fail say why.
bool is_traced();

}  // namespace softgpu::driver
