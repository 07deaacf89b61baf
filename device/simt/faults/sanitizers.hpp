// Informs ASan and TSan about fibers and about the executor's own synchronisation. Empty without
// them.
//
// The executor's objects are never instrumented by TSan; CHIME_TSAN (set by the build) says whether
// the program is.
#pragma once

#include <cstddef>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define CHIME_SIMT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHIME_SIMT_ASAN 1
#endif
#endif
#ifndef CHIME_SIMT_ASAN
#define CHIME_SIMT_ASAN 0
#endif

#if CHIME_SIMT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(CHIME_TSAN)
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void* address);
void __tsan_release(void* address);
void AnnotateIgnoreSyncBegin(const char* file, int line);
void AnnotateIgnoreSyncEnd(const char* file, int line);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace chime::simt {

#if defined(CHIME_TSAN)
inline constexpr bool kTsan = true;
#else
inline constexpr bool kTsan = false;
#endif
inline constexpr bool kAsan = CHIME_SIMT_ASAN != 0;

// A sanitizer's data about a fiber.
struct SanitizerFiber {
  void* fake_stack = nullptr;  // ASan
  void* tsan = nullptr;
};

inline void sanitizer_before_switch([[maybe_unused]] SanitizerFiber* from,
                                    [[maybe_unused]] const SanitizerFiber& to,
                                    [[maybe_unused]] const std::byte* low,
                                    [[maybe_unused]] std::size_t bytes) {
#if defined(CHIME_TSAN)
  constexpr unsigned kNoSynchronisation = 1;
  __tsan_switch_to_fiber(to.tsan, kNoSynchronisation);
#endif
#if CHIME_SIMT_ASAN
  __sanitizer_start_switch_fiber(from ? &from->fake_stack : nullptr, low, bytes);
#endif
}

inline void sanitizer_after_switch([[maybe_unused]] const SanitizerFiber& self) {
#if CHIME_SIMT_ASAN
  __sanitizer_finish_switch_fiber(self.fake_stack, nullptr, nullptr);
#endif
}

// A reused stack carries the poison of its last owner's frames.
inline void asan_forget(const std::byte* low, std::size_t bytes) {
#if CHIME_SIMT_ASAN
  __asan_unpoison_memory_region(low, bytes);
#else
  static_cast<void>(low);
  static_cast<void>(bytes);
#endif
}

#if defined(CHIME_TSAN)

inline void* tsan_current_fiber() { return __tsan_get_current_fiber(); }
inline void* tsan_create_fiber() { return __tsan_create_fiber(0); }
inline void tsan_destroy_fiber(void* fiber) { __tsan_destroy_fiber(fiber); }

// Everything that this fiber did before happens before whatever follows a later happens_after on
// the same address.
inline void happens_before(const void* address) { __tsan_release(const_cast<void*>(address)); }
inline void happens_after(const void* address) { __tsan_acquire(const_cast<void*>(address)); }

// While an object of this class lives, TSan neither learns order from locks of the executor nor
// sees its memory: allocations made during that time start, and end, with an empty history.
class TsanIgnores {
 public:
  TsanIgnores() {
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~TsanIgnores() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
  }
  TsanIgnores(const TsanIgnores&) = delete;
};

#else

inline void* tsan_current_fiber() { return nullptr; }
inline void* tsan_create_fiber() { return nullptr; }
inline void tsan_destroy_fiber(void*) {}
inline void happens_before(const void*) {}
inline void happens_after(const void*) {}

class TsanIgnores {
 public:
  TsanIgnores() {}
  ~TsanIgnores() {}
  TsanIgnores(const TsanIgnores&) = delete;
};

#endif

}  // namespace chime::simt
