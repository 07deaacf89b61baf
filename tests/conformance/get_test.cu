// get and get_nbi: the named elements of the named PE arrive here, and no other byte changes.
#include "chime/device/rma.cuh"
#include "chime/device/sync.cuh"
#include "conformance/transfer.hpp"

namespace chime::tests {
namespace {

struct Get {
  template <class Group, class T>
  CHIME_DEVICE static void move(const Context& context, Group group, T* target, const T* source,
                                std::size_t n, int pe) {
    get(context, group, target, source, n, pe);
  }
};

struct GetNbi {
  template <class Group, class T>
  CHIME_DEVICE static void move(const Context& context, Group group, T* target, const T* source,
                                std::size_t n, int pe) {
    get_nbi(context, group, target, source, n, pe);
    quiet(context);
  }
};

IN_EVERY_WORLD(Get, MovesExactlyTheNamedElements) {
  world.spawn(1, [](Pe& pe) {
    for_each_rma_type([&]<class T>(Row<T>) {
      for_each_group([&]<class Group>(GroupTag<Group>) { expect_get_is_exact<Get, T, Group>(pe); });
    });
  });
}

IN_EVERY_WORLD(GetNbi, MovesExactlyTheNamedElementsByQuiet) {
  world.spawn(1, [](Pe& pe) {
    for_each_rma_type([&]<class T>(Row<T>) {
      for_each_group(
          [&]<class Group>(GroupTag<Group>) { expect_get_is_exact<GetNbi, T, Group>(pe); });
    });
  });
}

}  // namespace
}  // namespace chime::tests
