# <libdir>/nvshmem-compat: the prefix of an NVSHMEM, for builds that name one (NVSHMEM_HOME, find_package(NVSHMEM)). It is Chime by
# NVSHMEM's names of files. Only a build that names it finds it, so that it hides no NVSHMEM.
include(${CMAKE_CURRENT_LIST_DIR}/ChimeSoversion.cmake)
set(nvshmem_prefix ${CMAKE_INSTALL_LIBDIR}/nvshmem-compat)
set(nvshmem_full_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/nvshmem-compat)

# Links into Chime's prefix, relative, since it may be moved: headers, and the library by each name that is linked or looked for.
# libchime.so.<soversion> lies beside them for a program whose rpath or LD_LIBRARY_PATH has no other folder.
set(nvshmem_links "")
function(chime_nvshmem_link name target)
  cmake_path(GET name PARENT_PATH folder)
  file(RELATIVE_PATH there ${nvshmem_full_prefix}/${folder} ${target})
  set(nvshmem_links "${nvshmem_links}link(\"${name}\" \"${there}\")\n" PARENT_SCOPE)
endfunction()
chime_nvshmem_link(include/chime ${CMAKE_INSTALL_FULL_INCLUDEDIR}/chime)
chime_nvshmem_link(include/compat ${CMAKE_INSTALL_FULL_INCLUDEDIR}/compat)
file(GLOB nvshmem_headers RELATIVE ${PROJECT_SOURCE_DIR}/include/compat CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/include/compat/nvshmem*.h ${PROJECT_SOURCE_DIR}/include/compat/*_api
  ${PROJECT_SOURCE_DIR}/include/compat/*host ${PROJECT_SOURCE_DIR}/include/compat/device ${PROJECT_SOURCE_DIR}/include/compat/non_abi)
foreach(header ${nvshmem_headers})
  chime_nvshmem_link(include/${header} ${CMAKE_INSTALL_FULL_INCLUDEDIR}/compat/${header})
endforeach()
# libnvshmem.a had both halves once: linkers look at what a file is, not at its name.
foreach(name libnvshmem_host.so libnvshmem_host.so.3 libnvshmem.so libnvshmem.a libchime.so.${CHIME_SOVERSION})
  chime_nvshmem_link(lib/${name} ${CMAKE_INSTALL_FULL_LIBDIR}/libchime.so)
endforeach()
install(CODE "
  function(link name target)
    set(nvshmem_prefix \"${nvshmem_prefix}\")
    cmake_path(ABSOLUTE_PATH nvshmem_prefix BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
    set(path \"\$ENV{DESTDIR}\${nvshmem_prefix}/\${name}\")
    cmake_path(GET path PARENT_PATH folder)
    file(MAKE_DIRECTORY \"\${folder}\")
    file(CREATE_LINK \"\${target}\" \"\${path}\" SYMBOLIC)
  endfunction()
  ${nvshmem_links}" COMPONENT ${CMAKE_INSTALL_DEFAULT_COMPONENT_NAME})

# The library of device code has none: kernels have all from the headers. An object of nothing keeps nvlink from a warning.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/nvshmem/nothing.c CONTENT "typedef int nothing;\n")
add_library(nvshmem_device STATIC ${PROJECT_BINARY_DIR}/nvshmem/nothing.c)
install(TARGETS nvshmem_device ARCHIVE DESTINATION ${nvshmem_prefix}/lib)

# The release of NVSHMEM's that the headers name.
set(nvshmem_version "")
foreach(part MAJOR MINOR PATCH)
  file(STRINGS ${PROJECT_SOURCE_DIR}/include/compat/nvshmem.h line REGEX "^#define NVSHMEM_VENDOR_${part}_VERSION [0-9]+$")
  string(REGEX MATCH "[0-9]+$" number "${line}")
  list(APPEND nvshmem_version ${number})
endforeach()
list(JOIN nvshmem_version . nvshmem_version)
file(RELATIVE_PATH CHIME_CMAKE_FROM_NVSHMEM ${nvshmem_full_prefix} ${CMAKE_INSTALL_FULL_LIBDIR}/cmake/Chime)
configure_file(${PROJECT_SOURCE_DIR}/cmake/NVSHMEMConfig.cmake.in ${PROJECT_BINARY_DIR}/nvshmem/NVSHMEMConfig.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nvshmem/NVSHMEMConfigVersion.cmake VERSION ${nvshmem_version} COMPATIBILITY AnyNewerVersion)
install(FILES ${PROJECT_BINARY_DIR}/nvshmem/NVSHMEMConfig.cmake ${PROJECT_BINARY_DIR}/nvshmem/NVSHMEMConfigVersion.cmake
  DESTINATION ${nvshmem_prefix}/lib/cmake/nvshmem)
