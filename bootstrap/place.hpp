// Where a process runs, in words that are equal for two processes exactly if the two can do
// something together. Containers of one machine may share any of it.
#pragma once

#include <string>

namespace chime::bootstrap {

// Equal: same kernel, same network namespace. Such processes meet at an abstract socket and pass
// each other descriptors. So each maps the other's memory, even across process-id spaces: one node.
std::string name_of_this_node();

// Equal: same kernel, same process-id space. A number names the same process to both, so each can
// watch the other.
std::string name_of_this_process_space();

}  // namespace chime::bootstrap
