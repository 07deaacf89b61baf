// What each method of the kernel's interface takes: which attributes, how long, which of them must
// be there. drivers/infiniband/core/uverbs_ioctl.c checks a message against such a table before the
// method sees it.
#pragma once

#include <cstdint>

namespace softnic {

class Message;

// 0, or what the kernel answers to a message whose attributes are not those of its method.
// EPROTONOSUPPORT: an attribute that the method does not know, and that the program calls
// mandatory.
int check_attributes(const Message& message);

}  // namespace softnic
