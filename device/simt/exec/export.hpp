// Marks the functions of libchime.so that user binaries may call: they contain inline code of the
// executor's headers.
#pragma once

#define CHIME_SIMT_EXPORT __attribute__((visibility("default")))

// 1 where this translation unit is instrumented by TSan. Then executor metadata must be read by
// functions out of line that are not instrumented: the race detector must see the kernel, not the
// executor.
#if defined(__SANITIZE_THREAD__)
#define CHIME_SIMT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CHIME_SIMT_TSAN 1
#endif
#endif
#ifndef CHIME_SIMT_TSAN
#define CHIME_SIMT_TSAN 0
#endif
