# Debian packages, by `cpack -G DEB` in the build folder: libchime<soversion>, libchime-mpi, libchime-dev, chime-tools and python3-chime, which are the
# components of the install rules. All that Chime can have must be in them, or CHIME_PACKAGES_LACK says what is left out:
#
#   cmake --preset softgpu && cmake --build build/softgpu --target installed chime_python && cd build/softgpu && cpack -G DEB
#   cpack -G DEB -D CHIME_PACKAGES_LACK="softgpu;mpi"
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME chime)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # else the project's description is the synopsis of all packages
set(CPACK_PACKAGE_VENDOR "Chime developers")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "Chime developers <chime@example.invalid>")  # the format wants an address
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL libchime libchime-dev chime-tools)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
# Packages of programs depend on the library's package, which is called after the library, as Debian does it, at the release that they were built with
# or a later one of the same binary interface.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(library_package libchime${CHIME_SOVERSION})
# Names of libraries in Depends are found by dpkg-shlibdeps, and those of Chime's own in the build. Those that are opened at run time are recommended.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/host)
set(same_release "${library_package} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")

# chime_package(<component> <package> <section> <description> [<field>=<value>...])
function(chime_package component package section description)
  string(TOUPPER ${component} name)
  set(CPACK_DEBIAN_${name}_DESCRIPTION "${description}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  foreach(field ${ARGN})
    string(REGEX MATCH "^([A-Z]+)=(.*)$" field "${field}")
    set(CPACK_DEBIAN_${name}_PACKAGE_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}" PARENT_SCOPE)
  endforeach()
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} RENAME copyright COMPONENT ${component})
endfunction()

# Two of different interfaces would both have libsoftnic.so and libsoftgpu.so: one at a time.
chime_package(libchime ${library_package} libs "GPU-initiated PGAS runtime: library
 Kernels put, get, signal and do atomics on other processes' memory. With the
 emulated NIC, and the emulated GPU where it is built."
  "PROVIDES=libchime" "CONFLICTS=libchime" "REPLACES=libchime"
  "RECOMMENDS=libibverbs1, ibverbs-providers, libfabric1, libpmix2, libhwloc15" "SUGGESTS=libchime-dev, libchime-mpi")
chime_package(libchime-dev libchime-dev libdevel "GPU-initiated PGAS runtime: headers, CMake package, pkg-config
 Also NVSHMEM's names of files, below nvshmem-compat." "DEPENDS=${same_release}" "RECOMMENDS=g++, cmake, pkg-config")
set(compiler "")
if(CHIME_SOFTGPU)  # chime-cc
  set(compiler ", clang-19")
endif()
chime_package(chime-tools chime-tools utils "GPU-initiated PGAS runtime: chime-run, chime-info, chime-doctor and others
 They start jobs, explain paths, and look for what is wrong with a machine."
  "DEPENDS=${same_release}" "RECOMMENDS=libchime-dev, openssh-client${compiler}")
if(TARGET chime_mpi)
  list(APPEND CPACK_COMPONENTS_ALL libchime-mpi)
  chime_package(libchime-mpi libchime-mpi libs "GPU-initiated PGAS runtime: plug-in for MPI communicators" "DEPENDS=${same_release}")
endif()
if(TARGET chime_python)
  list(APPEND CPACK_COMPONENTS_ALL python3-chime)
  chime_package(python3-chime python3-chime python "GPU-initiated PGAS runtime: package chime for Python
 Symmetric arrays, put and get, signals, atomics, collectives, and kernels from
 their text, which a compiler makes when the program runs."
    "DEPENDS=${same_release}, ${CHIME_PACKAGE_PYTHON}" "RECOMMENDS=chime-tools, libchime-dev, g++" "SUGGESTS=python3-mpi4py")
endif()

# What this build lacks. cpack refuses to leave it out unasked.
set(lacks)
foreach(part softgpu softnic mpi python)
  if(NOT TARGET ${part} AND NOT TARGET chime_${part} OR (part STREQUAL softgpu AND NOT CHIME_SOFTGPU))
    list(APPEND lacks ${part})
  endif()
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/packages_are_whole.cmake @ONLY CONTENT "set(lacks \"@lacks@\")
list(REMOVE_ITEM lacks \${CHIME_PACKAGES_LACK})
if(lacks)
  list(JOIN lacks \", \" lacks)
  message(FATAL_ERROR \"No packages are made, because this build lacks: \${lacks}. \"
    \"softgpu: build preset softgpu; softnic: apt-get install libcli11-dev libibverbs-dev; mpi: apt-get install libopenmpi-dev; \"
    \"python: apt-get install pybind11-dev python3-dev python3-numpy. \"
    \"To leave some out: cpack -G DEB -D CHIME_PACKAGES_LACK='softgpu;mpi'\")
endif()
")
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/packages_are_whole.cmake)
include(CPack)
