// NVSHMEM's spelling of the PREFIX of a row of chime/families.h, and how a form is made with it.
#ifndef CHIME_COMPAT_SPELLING_H_
#define CHIME_COMPAT_SPELLING_H_

#if defined(__GNUC__) && !defined(__cplusplus)
#pragma GCC system_header  // why: chime/types.h
#endif

#define CHIME_NVSHMEM_chime_ nvshmem_
#define CHIME_NVSHMEM_chimex_ nvshmemx_

// FORM with its arguments. Macros in them are expanded first, because a form pastes its PREFIX.
#define CHIME_STAMP(FORM, ...) FORM(__VA_ARGS__)

#endif  // CHIME_COMPAT_SPELLING_H_
