# The content of the wheel: the component `python`, which pyproject.toml's back end installs, or target python_wheel without it. In the package lie
# lib/ and the extension that finds it there, and the tools become programs of the environment. Nothing else of Chime's need be installed.
set(python_component COMPONENT python EXCLUDE_FROM_ALL)
install(DIRECTORY chime DESTINATION . ${python_component} FILES_MATCHING ${package_patterns} PATTERN __pycache__ EXCLUDE)
chime_add_extension(chime_python_of_wheel wheel_files lib)
install(TARGETS chime_python_of_wheel LIBRARY DESTINATION chime ${python_component})

# A wheel holds no links: of the library's names it has the one that programs load.
set(loaded_name lib/libchime.so.${CHIME_SOVERSION})
install(TARGETS chime LIBRARY DESTINATION chime/lib NAMELINK_SKIP ${python_component})
install(CODE "set(package \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/chime\")
  file(RENAME \"\${package}/lib/$<TARGET_FILE_NAME:chime>\" \"\${package}/${loaded_name}\")" ${python_component})
if(TARGET chime_mpi)
  install(TARGETS chime_mpi LIBRARY DESTINATION chime/lib ${python_component})
endif()

# chime.kernel compiles with these.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION chime/include ${python_component} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.cuh")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/chime/nvrtc DESTINATION chime/include/chime ${python_component})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/device/ DESTINATION chime/include/chime/device ${python_component} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
chime_kernel_paths(paths ${loaded_name} bin/chime-cc nvcc include)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/wheel_paths.json "${paths}")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/wheel_paths.json DESTINATION chime RENAME kernel_paths.json ${python_component})

# The softgpu: its library, and chime-cc with what it compiles with, in the folders of a prefix. The program of the environment starts the package's.
set(softgpu_of_wheel)
if(CHIME_SOFTGPU)
  set(softgpu_of_wheel softgpu)
  install(TARGETS softgpu LIBRARY DESTINATION chime/lib ${python_component})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/softgpu/words ${PROJECT_SOURCE_DIR}/softgpu/vocabulary ${softgpu_toolkit} DESTINATION chime/include/softgpu
    ${python_component})
  chime_configure_moved_cc(${CMAKE_CURRENT_BINARY_DIR}/wheel_files/chime-cc ../include ../lib ../share :libchime.so.${CHIME_SOVERSION})
  install(PROGRAMS ${CMAKE_CURRENT_BINARY_DIR}/wheel_files/chime-cc DESTINATION chime/bin ${python_component})
  install(FILES ${PROJECT_SOURCE_DIR}/tools/chime-cc/unsupported DESTINATION chime/share ${python_component})
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/softgpu/check_headers DESTINATION chime/share ${python_component})
endif()

set(python_tools chime-run chime-info chime-doctor chime-trace)
set(python_programs chime_pgas-${PROJECT_VERSION}.data/scripts)
if(SKBUILD)
  set(python_programs ${SKBUILD_SCRIPTS_DIR})
endif()
install(TARGETS ${python_tools} RUNTIME DESTINATION ${python_programs} ${python_component})
if(CHIME_SOFTGPU)
  install(PROGRAMS chime-cc DESTINATION ${python_programs} ${python_component})
endif()

add_custom_target(python_wheel_files DEPENDS chime_python_of_wheel ${softgpu_of_wheel} ${python_tools})

# The same wheel without scikit-build-core, which Debian 12 lacks: <build>/python/wheel/*.whl.
add_custom_target(python_wheel COMMAND ${Python_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/pack_wheel.py ${PROJECT_BINARY_DIR} ${CMAKE_CURRENT_BINARY_DIR}/wheel
  DEPENDS python_wheel_files VERBATIM)
