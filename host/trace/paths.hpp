// The names of a timeline's files: the one that users asked for, and the folder beside it with the
// parts of its processes, until they are merged.
#pragma once

#include <string>

namespace chime::trace {

std::string folder_of_parts(const std::string& path);
std::string part_of(const std::string& path, int first_pe);

// Makes the folder, so that a path that cannot be written is found before the job begins. Throws
// host::Error{CHIME_TRACE} that says what to do.
void prepare(const std::string& path);

// Takes away the timeline of an earlier job: after this the file is whole, or not there.
void remove_earlier(const std::string& path);

// For a launcher, before the job's processes begin: parts that a job of the same file has left.
void remove_parts_of_earlier(const std::string& path);
// A part that was sent elsewhere, and its folder if nothing else is in it.
void remove_part(const std::string& file, const std::string& path);
// Takes away the folder of parts if nothing is in it.
void remove_empty_folder(const std::string& path);

// `path` as each process can find it; `number`: how many timelines the process has had. The second
// one of run.json is run.2.json.
std::string numbered(const std::string& path, int number);

}  // namespace chime::trace
