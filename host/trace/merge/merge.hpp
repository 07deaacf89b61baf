// Joins the parts of a timeline to the file that the user asked for.
#pragma once

#include <string>

#include "host/trace/merge/parts.hpp"

namespace chime::trace {

// Whether the folder of parts is there.
bool has_parts(const std::string& path);

// Whether all processes of the job have recorded to their end, so that nothing is missing.
bool parts_are_complete(const std::string& path);

// Makes the file, whole or not at all, and removes its parts. Returns a sentence about it: how many
// events, and what is missing. `ends`: what is known of processes that are gone. Throws
// host::Error.
std::string merge(const std::string& path, const EndsOfPes& ends = {});

}  // namespace chime::trace
