// How a call of the driver fails: an exception reaches its frame (calls/calls.hpp), which returns
// the code.
#pragma once

#include <cuda.h>

namespace softgpu::driver {

struct Failure {
  CUresult result;
};

// `format`: the message, with the numbers; CHIME_SOFTGPU_TRACE shows it.
[[noreturn]] void fail(CUresult result, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

// The same for errors of programs that are right on a GPU: always printed on stderr.
[[noreturn]] void fail_aloud(CUresult result, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

// Prints a line of the softgpu on stderr, with this process's number.
void say(const char* format, ...) __attribute__((format(printf, 1, 2)));

// CHIME_SOFTGPU_TRACE: calls that fail print why.
bool is_traced();

}  // namespace softgpu::driver
