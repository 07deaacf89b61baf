// NVSHMEM's regions and its hand-over of shared memory: hints that Chime takes and does not need.
// Included by nvshmem.h alone; C++ with kernels has the device side, too.
#ifndef CHIME_COMPAT_REGIONS_H_
#define CHIME_COMPAT_REGIONS_H_

#include <limits.h>
#include <stdint.h>

#include "chime/chime.h"

// ---- Constants and structs ----------------------------------------------------------------------

// How much shared memory nvshmemx_ask_smem is asked about.
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

// ---- The host's ---------------------------------------------------------------------------------

#ifdef __cplusplus
extern "C" {
#endif

// A region of the calling thread's PE begins: `*handle` names it, `attrs` (null: none) says how its
// operations may be treated. What is called in it is done as it is without. At most one is open.
// Return 0, or a nvshmemx_status: INVALID_VALUE for a null handle, a hint that does not exist, a
// region in a region, and for a handle of none that is open.
CHIME_EXPORT int nvshmemx_region_start(nvshmemx_region_handle_t* handle,
                                       const nvshmemx_region_attrs_t* attrs);
CHIME_EXPORT int nvshmemx_region_stop(nvshmemx_region_handle_t handle);

// `*active`: whether a region is open whose attributes have all of `hints`. In a kernel: of the
// calling thread's block.
CHIME_EXPORT int chime_host_region_is_active(uint32_t hints, int* active);
#if !defined(__cplusplus) || defined(CHIME_HOST_ONLY)
CHIME_EXPORT int nvshmemx_region_is_active(uint32_t hints, int* active);

// How many bytes of shared memory a block gives to nvshmemx_give_smem: 0, for copies of Chime's are
// made without.
CHIME_EXPORT int nvshmemx_ask_smem(nvshmemx_smem_amount_t amount);
#endif

#ifdef __cplusplus
}  // extern "C"
#endif

// ---- Kernels' -----------------------------------------------------------------------------------

#if defined(__cplusplus) && !defined(CHIME_HOST_ONLY)

namespace chime::nvshmem {

// The region of a block. Shared memory holds anything when a kernel begins: what is open says so in
// 128 bits. A region that a block leaves open may stand there for a later one (docs/porting.md).
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

// As nvshmemx_region_start and _stop, of the block: all its threads call with the same arguments,
// and meet. Each gets the handle. What is wrong at one thread fails the call of all.
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

// How many bytes of shared memory a block gives to nvshmemx_give_smem: 0, for copies of Chime's are
// made without.
[[maybe_unused]] static CHIME_HOST_DEVICE int nvshmemx_ask_smem(nvshmemx_smem_amount_t) {
  return 0;
}

// The shared memory stays the block's: nothing is done with it.
[[maybe_unused]] static CHIME_DEVICE void nvshmemx_give_smem(void*, std::size_t) {}
[[maybe_unused]] static CHIME_DEVICE void nvshmemx_release_smem() {}

#endif

#endif  // CHIME_COMPAT_REGIONS_H_
