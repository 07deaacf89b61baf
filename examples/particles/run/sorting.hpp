// Sorting, selecting and scanning integers on the device: the program's only use of Thrust. Each
// call waits for the kernels launched before it, and is done when it returns.
#pragma once

#include <cstdint>

namespace particles {

// Positions 0 .. count-1 at which `value` is (or is not) `wanted`, ascending; returns how many.
int select_equal(const std::int32_t* value, int count, std::int32_t wanted, std::int32_t* chosen);
int select_other(const std::int32_t* value, int count, std::int32_t unwanted, std::int32_t* chosen);

// to[k] = from[at[k]]
void gather(const std::int32_t* from, const std::int32_t* at, int count, std::int32_t* to);

// 0, 1, ... count-1
void fill_sequence(std::int32_t* to, int count);

// Sorts keys, and values with them; equal keys keep their order, so results do not depend on the
// number of threads.
void sort_by_key(std::int32_t* key, std::int32_t* value, int count);

// start[b] = how many of the sorted keys are below b, for b = 0 .. bounds-1.
void find_starts(const std::int32_t* sorted_key, int count, std::int32_t* start, int bounds);

// to[i] = sum of the values before i; returns the sum of all.
int exclusive_sum(const std::int32_t* value, int count, std::int32_t* to);

int maximum(const std::int32_t* value, int count);
int minimum(const std::int32_t* value, int count);

}  // namespace particles
