// libfabric as Chime uses it: the functions of libfabric.so.1, found at run time, and owners of the
// objects that these make. All else in its headers is inline and goes through an object's own
// table.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <cstdint>
#include <memory>
#include <string>

namespace chime::host::ofi {

// With the version of the interface that headers since 1.7 stand for: a later library has others
// beside it, for programs whose structs are longer.
#define CHIME_FABRIC_FUNCTIONS(X) \
  X(fi_getinfo, "FABRIC_1.3")     \
  X(fi_freeinfo, "FABRIC_1.3")    \
  X(fi_dupinfo, "FABRIC_1.3")     \
  X(fi_fabric, "FABRIC_1.1")      \
  X(fi_strerror, "FABRIC_1.0")    \
  X(fi_version, "FABRIC_1.0")

struct Libfabric {
#define CHIME_FABRIC_MEMBER(name, version) decltype(&::name) name{};
  CHIME_FABRIC_FUNCTIONS(CHIME_FABRIC_MEMBER)
#undef CHIME_FABRIC_MEMBER
};

// The library, loaded at the first call. Throws Error with the loader's words and the package to
// install, each time.
const Libfabric& libfabric();

// "1.17"
std::string version_text(std::uint32_t version);

// libfabric's words for an error, which is positive.
std::string words_of(int error);

// Throws an Error of the fabric: `what`, libfabric's words for `error`, and `advice`.
[[noreturn]] void fail_fabric(const std::string& what, long error, const std::string& advice = {});

// The same, where `result` of a call is an error: errors are negative.
inline void check_fabric(long result, const std::string& what, const std::string& advice = {}) {
  if (result < 0) fail_fabric(what, -result, advice);
}

// ---- Owners. ----

struct FreeInfo {
  void operator()(fi_info* info) const { libfabric().fi_freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

struct CloseObject {
  template <class Object>
  void operator()(Object* object) const {
    fi_close(&object->fid);
  }
};
template <class Object>
using Owned = std::unique_ptr<Object, CloseObject>;

// The object of `make(&object)`, a libfabric function's last parameters but its context.
template <class Object, class Make>
Owned<Object> own(const std::string& what, Make make) {
  Object* object = nullptr;
  check_fabric(make(&object), what);
  return Owned<Object>(object);
}

}  // namespace chime::host::ofi
