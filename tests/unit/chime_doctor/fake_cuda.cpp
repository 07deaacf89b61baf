// A libcuda.so.1 of four GPUs, for chime-doctor's question. It answers by cuda.h's numbers, which
// are written here once more: a number that the doctor has wrong gets another attribute's answer.
#include <cstddef>
#include <cstdio>
#include <map>

#define CHIME_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kGpus = 4;
constexpr int kInvalid = 1;

// By attribute, of each GPU. No two that are yes or no have the same answers.
const std::map<int, const int (*)[kGpus]>& answers() {
  static constexpr int kBus[kGpus] = {0x1b, 0x9d, 0x1b, 0};
  static constexpr int kDevice[kGpus] = {0, 3, 0, 0x1f};
  static constexpr int kDomain[kGpus] = {0, 0, 1, 0xabcd};
  static constexpr int kVmmRdma[kGpus] = {1, 0, 0, 0};
  static constexpr int kRdma[kGpus] = {1, 1, 0, 0};
  static constexpr int kWritesOrdering[kGpus] = {0, 100, 200, 0};
  static constexpr int kDmaBuf[kGpus] = {0, 0, 0, 1};
  static const std::map<int, const int(*)[kGpus]> all = {
      {33, &kBus},   {34, &kDevice},          {50, &kDomain}, {110, &kVmmRdma},
      {116, &kRdma}, {118, &kWritesOrdering}, {124, &kDmaBuf}};
  return all;
}

}  // namespace

CHIME_EXPORT int cuInit(unsigned flags) { return flags == 0 ? 0 : kInvalid; }

CHIME_EXPORT int cuDriverGetVersion(int* version) {
  *version = 12070;
  return 0;
}

CHIME_EXPORT int cuDeviceGetCount(int* count) {
  *count = kGpus;
  return 0;
}

CHIME_EXPORT int cuDeviceGetName(char* name, int size, int gpu) {
  std::snprintf(name, static_cast<std::size_t>(size), "GPU %d", gpu);
  return 0;
}

CHIME_EXPORT int cuDeviceGetAttribute(int* value, int attribute, int gpu) {
  const auto found = answers().find(attribute);
  if (found == answers().end() || gpu < 0 || gpu >= kGpus) return kInvalid;
  *value = (*found->second)[gpu];
  return 0;
}

CHIME_EXPORT int cuGetErrorString(int, const char** text) {
  *text = "an error";
  return 0;
}
