// A trace as JSON for ui.perfetto.dev and chrome://tracing: a track for each queue pair, on it a
// slice for each work request, from when the NIC read it to its completion.
#pragma once

#include <nlohmann/json.hpp>

#include "record.hpp"

nlohmann::json perfetto_of(const std::vector<Record>& records);
