// put and put_nbi: the named elements arrive at the named PE, and no other byte changes.
#include "chime/device/rma.cuh"
#include "chime/device/sync.cuh"
#include "conformance/transfer.hpp"

namespace chime::tests {
namespace {

struct Put {
  template <class Group, class T>
  CHIME_DEVICE static void move(const Context& context, Group group, T* target, const T* source,
                                std::size_t n, int pe) {
    put(context, group, target, source, n, pe);
  }
};

struct PutNbi {
  template <class Group, class T>
  CHIME_DEVICE static void move(const Context& context, Group group, T* target, const T* source,
                                std::size_t n, int pe) {
    put_nbi(context, group, target, source, n, pe);
    quiet(context);
  }
};

IN_EVERY_WORLD(Put, MovesExactlyTheNamedElements) {
  world.spawn(1, [](Pe& pe) {
    for_each_rma_type([&]<class T>(Row<T>) {
      for_each_group([&]<class Group>(GroupTag<Group>) { expect_put_is_exact<Put, T, Group>(pe); });
    });
  });
}

IN_EVERY_WORLD(PutNbi, MovesExactlyTheNamedElementsByQuiet) {
  world.spawn(1, [](Pe& pe) {
    for_each_rma_type([&]<class T>(Row<T>) {
      for_each_group(
          [&]<class Group>(GroupTag<Group>) { expect_put_is_exact<PutNbi, T, Group>(pe); });
    });
  });
}

}  // namespace
}  // namespace chime::tests
