// NVSHMEM's regions and its hand-over of shared memory: hints that Chime accepts and does not need.
// Included by nvshmem.h alone; C++ with kernels has the device side, too.
#ifndef CHIME_COMPAT_REGIONS_H_
#define CHIME_COMPAT_REGIONS_H_

#include <limits.h>
#include <stdint.h>

#include "chime/chime.h"

// ---- Constants and structs ----------------------------------------------------------------------

// The purposes of shared memory, for nvshmemx_ask_smem.
typedef enum nvshmemx_smem_amount_t {
  NVSHMEMX_SMEM_RECOMMENDED = 0,
  NVSHMEMX_SMEM_MINIMUM = 1,
  NVSHMEMX_SMEM_BARRIERS_ONLY = 2,
  NVSHMEMX_SMEM_AMOUNT_MAX = INT_MAX
} nvshmemx_smem_amount_t;

typedef uint64_t nvshmemx_region_handle_t;
typedef enum {
  NVSHMEMX_REGION_HINT_NONE = 0,
  NVSHMEMX_REGION_HINT_BATCH_RMA = 1
} nvshmemx_region_hint_t;

typedef struct nvshmemx_region_attrs {
  uint32_t hints;  // NVSHMEMX_REGION_HINT_*, ored
  char reserved[60];
} nvshmemx_region_attrs_t;
#define NVSHMEMX_REGION_ATTRS_INITIALIZER \
  {                                       \
    NVSHMEMX_REGION_HINT_NONE, { 0 }      \
  }

// ---- On the host --------------------------------------------------------------------------------

#ifdef __cplusplus
extern "C" {
#endif

// Begins a region of the calling thread's PE. Operations in it work as they do without it. At most
// one is open.
//
//   handle  receives the region's handle
//   attrs   hints for the operations; may be null
//
// nvshmemx_region_stop ends it. Both return 0 or a nvshmemx_status. INVALID_VALUE: a null handle, a
// hint that does not exist, a region in a region, or a handle that is not open.
CHIME_EXPORT int nvshmemx_region_start(nvshmemx_region_handle_t* handle,
                                       const nvshmemx_region_attrs_t* attrs);
CHIME_EXPORT int nvshmemx_region_stop(nvshmemx_region_handle_t handle);

// Sets `*active` to whether a region is open whose attributes have all of `hints`. In a kernel: a
// region of the calling thread's block.
CHIME_EXPORT int chime_host_region_is_active(uint32_t hints, int* active);
#if !defined(__cplusplus) || defined(CHIME_HOST_ONLY)
CHIME_EXPORT int nvshmemx_region_is_active(uint32_t hints, int* active);

// The bytes of shared memory that a block gives to nvshmemx_give_smem: 0, because Chime's copies
// need none.
CHIME_EXPORT int nvshmemx_ask_smem(nvshmemx_smem_amount_t amount);
#endif

#ifdef __cplusplus
}  // extern "C"
#endif

// ---- In kernels ---------------------------------------------------------------------------------

#if defined(__cplusplus) && !defined(CHIME_HOST_ONLY)

namespace chime::nvshmem {

// The region of a block. Shared memory has any contents when a kernel begins, so an open region is
// marked by 128 bits. A region that a block leaves open may still be there for a later one
// (docs/porting.md).
struct BlockRegion {
  std::uint64_t handle, complement;
};
inline constexpr std::uint64_t kOpenRegion = 0x6368696d65000000;  // and its hints below

CHIME_DEVICE BlockRegion& block_region() {
  CHIME_SHARED_VAR(BlockRegion, region);
  return region;
}
CHIME_DEVICE bool is_open(const BlockRegion& region) {
  return region.handle == ~region.complement &&
         (region.handle & ~std::uint64_t{NVSHMEMX_REGION_HINT_BATCH_RMA}) == kOpenRegion;
}
CHIME_HOST_DEVICE constexpr bool are_hints(std::uint32_t hints) {
  return (hints & ~std::uint32_t{NVSHMEMX_REGION_HINT_BATCH_RMA}) == 0;
}

CHIME_DEVICE int region_is_active(std::uint32_t hints, int* active) {
  if (active == nullptr || !are_hints(hints)) return CHIMEX_ERR_INVALID;
  const BlockRegion region = block_region();
  *active = is_open(region) && (region.handle & hints) == hints;
  return CHIMEX_OK;
}

}  // namespace chime::nvshmem

[[maybe_unused]] static CHIME_HOST_DEVICE int nvshmemx_region_is_active(std::uint32_t hints,
                                                                        int* active) {
  CHIME_IF_DEVICE(return chime::nvshmem::region_is_active(hints, active),
                         return chime_host_region_is_active(hints, active));
}

// As nvshmemx_region_start and _stop, for the block: all its threads call with the same arguments,
// and meet. Each gets the handle. An error of one thread fails the call of all.
[[maybe_unused]] static CHIME_DEVICE int nvshmemx_region_start_block(
    nvshmemx_region_handle_t* handle, const nvshmemx_region_attrs_t* attrs) {
  using namespace chime::nvshmem;  // NOLINT: in a function
  const std::uint32_t hints = attrs != nullptr ? attrs->hints : 0;
  chime::exec::sync_block();
  const bool is_wrong = handle == nullptr || !are_hints(hints) || is_open(block_region());
  if (chime::exec::sync_block_or(is_wrong)) return CHIMEX_ERR_INVALID;
  if (chime::exec::thread_rank() == 0)
    block_region() = {kOpenRegion | hints, ~(kOpenRegion | hints)};
  chime::exec::sync_block();
  *handle = kOpenRegion | hints;
  return CHIMEX_OK;
}
[[maybe_unused]] static CHIME_DEVICE int nvshmemx_region_stop_block(
    nvshmemx_region_handle_t handle) {
  using namespace chime::nvshmem;  // NOLINT: in a function
  chime::exec::sync_block();
  const BlockRegion region = block_region();
  if (chime::exec::sync_block_or(!is_open(region) || region.handle != handle))
    return CHIMEX_ERR_INVALID;
  if (chime::exec::thread_rank() == 0) block_region() = {};
  chime::exec::sync_block();
  return CHIMEX_OK;
}

// The bytes of shared memory that a block gives to nvshmemx_give_smem: 0, because Chime's copies
// need none.
[[maybe_unused]] static CHIME_HOST_DEVICE int nvshmemx_ask_smem(nvshmemx_smem_amount_t) {
  return 0;
}

// The shared memory remains the block's; Chime does not use it.
[[maybe_unused]] static CHIME_DEVICE void nvshmemx_give_smem(void*, std::size_t) {}
[[maybe_unused]] static CHIME_DEVICE void nvshmemx_release_smem() {}

#endif

#endif  // CHIME_COMPAT_REGIONS_H_
