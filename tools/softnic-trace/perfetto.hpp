// A trace as JSON for ui.perfetto.dev and chrome://tracing. In each process a queue pair has a
// track of doorbells and completions, and one for each kind of work request, which lasts from when
// the NIC read it to its completion.
#pragma once

#include <nlohmann/json.hpp>

#include "record.hpp"

nlohmann::json perfetto_of(const std::vector<Record>& records);
