// Everything that translated code includes: compiled once, before any kernel.
#pragma once

#include "softgpu/vocabulary/async.hpp"
#include "softgpu/vocabulary/calls.hpp"
#include "softgpu/vocabulary/counting.hpp"
#include "softgpu/vocabulary/env.hpp"
#include "softgpu/vocabulary/floating.hpp"
#include "softgpu/vocabulary/integer.hpp"
#include "softgpu/vocabulary/mathematics.hpp"
#include "softgpu/vocabulary/meetings.hpp"
#include "softgpu/vocabulary/memory.hpp"
#include "softgpu/vocabulary/multimem.hpp"
#include "softgpu/vocabulary/values.hpp"
