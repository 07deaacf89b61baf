// The attributes of each method of the kernel's interface: which ones, how long, and which are
// mandatory. drivers/infiniband/core/uverbs_ioctl.c checks a message against such a table before
// the method sees it.
#pragma once

#include <cstdint>

namespace softnic {

class Message;

// 0, or the kernel's answer to a message with wrong attributes. EPROTONOSUPPORT: an attribute that
// the method does not know, and that the program marks as mandatory.
int check_attributes(const Message& message);

}  // namespace softnic
