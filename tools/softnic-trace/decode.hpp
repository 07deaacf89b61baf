// The fields of a record, by name: work requests, completions, doorbells and mailboxes taken apart
// as the PRM describes them. Every byte that is not zero ends up in a field, so that two records
// with the same fields have the same bytes.
#pragma once

#include <string>
#include <vector>

#include "record.hpp"

// The kind of value that a field holds: diff can leave out a kind.
enum class Group { kPlain, kTime, kAddress, kKey, kNumber, kIndex, kCe, kFence, kDoorbell };

struct Field {
  std::string name;
  std::string value;
  Group group = Group::kPlain;
};

// Throws BadTrace.
std::vector<Field> decode(const Record& record);

// The groups' names, as diff's --ignore takes them.
const char* name_of(Group group);
constexpr Group kAllGroups[] = {Group::kTime,  Group::kAddress, Group::kKey,   Group::kNumber,
                                Group::kIndex, Group::kCe,      Group::kFence, Group::kDoorbell};
