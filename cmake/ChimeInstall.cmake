# Install prefix: headers, libchime.so, tools, the CMake package (find_package(Chime)) and chime.pc.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME libchime-dev)

# Headers keep the names that programs say: chime/..., and chime/device/... for the device side; compat/ has NVSHMEM's.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.cuh")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/chime/nvrtc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/chime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/device/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/chime/device
  FILES_MATCHING PATTERN "*.cuh" PATTERN "*.hpp")

set_target_properties(chime_include PROPERTIES EXPORT_NAME include)
set_target_properties(chime_device PROPERTIES EXPORT_NAME device)
set_target_properties(chime_nvshmem PROPERTIES EXPORT_NAME nvshmem)
install(TARGETS chime chime_include chime_device chime_nvshmem EXPORT ChimeTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libchime NAMELINK_COMPONENT libchime-dev)

# The tools find the library that was installed with them, wherever the prefix is moved to.
foreach(tool chime-run chime-info chime-doctor)
  if(TARGET ${tool})
    file(RELATIVE_PATH library_from_tool
      ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
    set_target_properties(${tool} PROPERTIES INSTALL_RPATH "$ORIGIN/${library_from_tool}")
    install(TARGETS ${tool} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT chime-tools)
  endif()
endforeach()

include(ChimeNvshmem)

# One name for all targets that are installed. An install that finds one missing says so before it copies anything.
add_custom_target(installed)
set(missing_tests "")
set(installed_targets chime chime-run chime-info chime-doctor chime-trace chime_mpi nvshmem_device softnic softnic-run softnic-trace)
if(CHIME_SOFTGPU)
  list(APPEND installed_targets softgpu)
endif()
foreach(target ${installed_targets})
  if(TARGET ${target})
    add_dependencies(installed ${target})
    string(APPEND missing_tests "if(NOT EXISTS \"$<TARGET_FILE:${target}>\")\n  list(APPEND missing ${target})\nendif()\n")
  endif()
endforeach()
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/everything_is_built.cmake CONTENT "set(missing)
${missing_tests}if(missing)
  list(JOIN missing \", \" missing)
  message(FATAL_ERROR \"Nothing was installed, because these are not built: \${missing}. \"
    \"Build all that is installed: cmake --build ${PROJECT_BINARY_DIR} --target installed\")
endif()
")

set(CHIME_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Chime)
install(EXPORT ChimeTargets NAMESPACE Chime:: DESTINATION ${CHIME_CMAKE_DIR})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/ChimeConfig.cmake.in
  ${PROJECT_BINARY_DIR}/ChimeConfig.cmake INSTALL_DESTINATION ${CHIME_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ChimeConfigVersion.cmake
  COMPATIBILITY ${CHIME_COMPATIBILITY})
install(FILES ${PROJECT_BINARY_DIR}/ChimeConfig.cmake ${PROJECT_BINARY_DIR}/ChimeConfigVersion.cmake
  DESTINATION ${CHIME_CMAKE_DIR})

# Folders may be absolute paths, which lie anywhere: packages of Nix have such.
file(RELATIVE_PATH CHIME_PREFIX_FROM_PC ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(kind LIB INCLUDE)
  file(RELATIVE_PATH CHIME_${kind}_FROM_PREFIX ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_${kind}DIR})
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/cmake/chime.pc.in ${PROJECT_BINARY_DIR}/chime.pc @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/cmake/chime-nvshmem.pc.in ${PROJECT_BINARY_DIR}/chime-nvshmem.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/chime.pc ${PROJECT_BINARY_DIR}/chime-nvshmem.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
