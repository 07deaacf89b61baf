// Two traces side by side. Events are compared in order, each queue with its counterpart: the n-th
// queue pair of one trace with the n-th of the other. Between queues, and between kinds of events,
// order is a matter of timing and not compared.
#pragma once

#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "record.hpp"

struct DiffOptions {
  std::set<std::string> ignore;  // groups, or fields by name
  std::set<std::string> events;  // which kinds are compared
  std::size_t limit = 20;        // differences printed
};

// Prints what differs and a line that sums up. True when nothing does.
bool diff_traces(const std::vector<Record>& one, const std::vector<Record>& other,
                 const DiffOptions& options, std::ostream& out);
