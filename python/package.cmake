# The content of the Debian package python3-chime: the component `python3-chime`, in the folders of a prefix. The library, the headers and chime-cc are those of
# the other packages: the extension and chime.kernel find them from where they lie. `cmake --install` without a component leaves it out.
set(package_component COMPONENT python3-chime EXCLUDE_FROM_ALL)
set(package_folder lib/python3/dist-packages/chime)  # Debian's, whatever CMAKE_INSTALL_LIBDIR is
install(CODE "if(NOT EXISTS \"$<TARGET_FILE:chime_python>\")
  message(FATAL_ERROR \"The Python package was not installed, because it is not built: cmake --build ${PROJECT_BINARY_DIR} --target chime_python\")
endif()" ${package_component})
install(DIRECTORY chime/ DESTINATION ${package_folder} ${package_component} FILES_MATCHING ${package_patterns} PATTERN __pycache__ EXCLUDE)

foreach(kind LIB INCLUDE BIN)
  file(RELATIVE_PATH ${kind}_from_package ${CMAKE_INSTALL_PREFIX}/${package_folder} ${CMAKE_INSTALL_FULL_${kind}DIR})
  string(REGEX REPLACE "/$" "" ${kind}_from_package "${${kind}_from_package}")
endforeach()
chime_add_extension(chime_python chime ${LIB_from_package})  # that of the build folder's package, too
install(TARGETS chime_python LIBRARY DESTINATION ${package_folder} ${package_component})
chime_kernel_paths(paths ${LIB_from_package}/libchime.so.${CHIME_SOVERSION} ${BIN_from_package}/chime-cc nvcc ${INCLUDE_from_package})
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/package_paths.json "${paths}")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package_paths.json DESTINATION ${package_folder} RENAME kernel_paths.json ${package_component})

# An extension fits one minor version of Python.
math(EXPR next_minor "${Python_VERSION_MINOR} + 1")
set(CHIME_PACKAGE_PYTHON "python3 (>= ${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}), python3 (<< ${Python_VERSION_MAJOR}.${next_minor}), python3-numpy" PARENT_SCOPE)
