// Questions to the kernel about network interfaces, where no file has the answer.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace chime::net {

// The message that answers `request`, a whole one of rtnetlink(7); empty, with errno: there is
// none. May wait for the interface's driver.
std::vector<std::byte> ask_rtnetlink(std::span<const std::byte> request);

// Whether the interface's driver has filled `command`, a struct of linux/ethtool.h that begins with
// the command's number; else errno says why not.
bool ask_ethtool(const std::string& interface, void* command);

}  // namespace chime::net
