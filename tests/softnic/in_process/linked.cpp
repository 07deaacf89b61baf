// A program that is linked with the softnic. It needs nothing else. Under a sanitizer, whose
// interceptors come before the softnic, it activates the NIC itself: argument "activate".

#include <cstdio>
#include <cstring>

#include "softnic/softnic.h"
#include "verbs.hpp"

int main(int argc, char**) try {
  if (argc > 1 && softnic_activate(nullptr) != SOFTNIC_OK)
    throw std::runtime_error(softnic_error());
  const Verbs verbs(RTLD_DEFAULT);
  Endpoint endpoint(verbs);
  const Address self = endpoint.address();
  endpoint.connect(self);
  endpoint.word(0) = 11;
  if (endpoint.write(self, 0, 1) != IBV_WC_SUCCESS || endpoint.word(1) != 11)
    throw std::runtime_error("the write did not arrive");
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
