// CUDA C++ for clang and the softgpu, by the names that NVIDIA's documentation publishes:
// declarations and definitions of our own. clang includes it before everything else in a program.
#pragma once

#include "qualifiers.h"

// Device functions with the names of the standard library's must be declared before its headers
// take those names into std.
#ifdef __CUDA__
#include "device_math.h"
#endif

#include "vector_types.h"

#ifdef __CUDA__
#include "builtin_variables.h"
#include "device_atomics.h"
#include "device_bits.h"
#include "device_memory.h"
#include "device_output.h"
#include "device_threads.h"
#endif
#include "runtime_calls.h"

// Headers that nvcc also includes implicitly.
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <new>
