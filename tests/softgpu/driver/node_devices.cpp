// node_devices <PEs of the node>: a PE that takes the device of its rank before chime_init, as GPU
// programs do, keeps it, and its heap lies there.
#include <chime/chime.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace {

int complain(const char* what, int value) {
  std::fprintf(stderr, "%s: %d\n", what, value);
  return 1;
}

int rank() {
  for (const char* variable : {"CHIME_RUN_PE", "OMPI_COMM_WORLD_LOCAL_RANK"})
    if (const char* const value = std::getenv(variable)) return std::atoi(value);
  return -1;
}

}  // namespace

int main(int, char** argv) {
  int devices = 0, device = -1;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices != std::atoi(argv[1]))
    return complain("devices", devices);
  if (const cudaError_t error = cudaSetDevice(rank())) return complain("cudaSetDevice", error);
  chime_init();
  cudaGetDevice(&device);
  if (device != rank()) return complain("the device after chime_init", device);
  void* const heap = chime_malloc(64);
  cudaPointerAttributes attributes = {};
  if (cudaPointerGetAttributes(&attributes, heap) != cudaSuccess || attributes.device != rank())
    return complain("the device of the heap", attributes.device);
  chime_free(heap);
  chime_finalize();
  return 0;
}
