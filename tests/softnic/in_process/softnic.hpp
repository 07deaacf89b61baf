// libsoftnic.so, loaded by a program that is not linked with it.
#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "softnic/softnic.h"

struct Softnic {
  decltype(&softnic_activate) activate = find<decltype(&softnic_activate)>("softnic_activate");
  decltype(&softnic_deactivate) deactivate =
      find<decltype(&softnic_deactivate)>("softnic_deactivate");
  decltype(&softnic_error) error = find<decltype(&softnic_error)>("softnic_error");
  decltype(&softnic_observe) observe = find<decltype(&softnic_observe)>("softnic_observe");

  void must_activate(const softnic_options* options = nullptr) const {
    if (activate(options) != SOFTNIC_OK) throw std::runtime_error(error());
  }

 private:
  template <class Function>
  static Function find(const char* name) {
    void* library = ::dlopen(SOFTNIC_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) throw std::runtime_error(::dlerror());
    return reinterpret_cast<Function>(::dlsym(library, name));
  }
};
