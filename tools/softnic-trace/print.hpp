// A trace for the eye: a line for each event, with the fields of its bytes.
#pragma once

#include <ostream>

#include "record.hpp"

void print_trace(const std::vector<Record>& records, std::ostream& out);
