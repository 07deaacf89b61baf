#include "hca.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace direct {

void throw_errno(const std::string& what, int error) {
  throw std::runtime_error(what + ": " + std::strerror(error < 0 ? -error : error));
}

Hca::Hca() {
  int devices = 0;
  ibv_device** list = ibv_get_device_list(&devices);
  if (devices != 1)
    throw std::runtime_error("there is no emulated device: run this by softnic-run");
  mlx5dv_context_attr attributes{};
  attributes.flags = MLX5DV_CONTEXT_FLAGS_DEVX;
  context_ = check(mlx5dv_open_device(list[0], &attributes), "mlx5dv_open_device");
  ibv_free_device_list(list);
  pd_ = check(ibv_alloc_pd(context_), "ibv_alloc_pd");
  mlx5dv_pd dv{};
  mlx5dv_obj object{};
  object.pd = {pd_, &dv};
  check_zero(mlx5dv_init_obj(&object, MLX5DV_OBJ_PD), "mlx5dv_init_obj(PD)");
  pdn_ = dv.pdn;
  check_zero(ibv_query_port(context_, 1, &port_), "ibv_query_port");
  check_zero(ibv_query_gid(context_, 1, static_cast<int>(gid_index()), &gid_), "ibv_query_gid");
}

Hca::~Hca() {
  ibv_dealloc_pd(pd_);
  ibv_close_device(context_);
}

Hca& Hca::instance() {
  static Hca hca;
  return hca;
}

ibv_ah_attr Hca::path() const {
  ibv_ah_attr path{};
  path.port_num = 1;
  path.dlid = port_.lid;
  if (is_ethernet()) {
    path.is_global = 1;
    path.grh.dgid = gid_;
    path.grh.sgid_index = static_cast<std::uint8_t>(gid_index());
    path.grh.hop_limit = 64;
  }
  return path;
}

std::vector<std::uint8_t> Hca::address_vector() const {
  ibv_ah_attr attributes = path();
  ibv_ah* ah = check(ibv_create_ah(pd_, &attributes), "ibv_create_ah");
  mlx5dv_ah dv{};
  mlx5dv_obj object{};
  object.ah = {ah, &dv};
  check_zero(mlx5dv_init_obj(&object, MLX5DV_OBJ_AH), "mlx5dv_init_obj(AH)");
  const auto* av = reinterpret_cast<const std::uint8_t*>(dv.av);
  std::vector<std::uint8_t> path(av + 12, av + 48);
  ibv_destroy_ah(ah);
  return path;
}

Memory::Memory(std::size_t bytes, unsigned access, ibv_pd* pd) : bytes_(bytes) {
  data_ = static_cast<std::uint8_t*>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
  std::memset(data_, 0, bytes);
  mr_ = check(ibv_reg_mr(pd ? pd : Hca::instance().pd(), data_, bytes, static_cast<int>(access)),
              "ibv_reg_mr");
}

Memory::~Memory() {
  ibv_dereg_mr(mr_);
  std::free(data_);
}

std::uint64_t Memory::word(std::size_t offset) const {
  return __atomic_load_n(as<std::uint64_t>(offset), __ATOMIC_ACQUIRE);
}

void Memory::set_word(std::size_t offset, std::uint64_t value) const {
  __atomic_store_n(as<std::uint64_t>(offset), value, __ATOMIC_RELEASE);
}

void Memory::fill(std::size_t offset, std::size_t count, unsigned seed) const {
  std::uint32_t x = seed * 2654435761u + 1;
  for (std::size_t i = 0; i < count; ++i) {
    x = x * 1664525u + 1013904223u;
    data_[offset + i] = static_cast<std::uint8_t>(x >> 24);
  }
}

}  // namespace direct
