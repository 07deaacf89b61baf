# Arrows: which folder may include which (docs/architecture.md, "Map of folders"), enforced by the build.
#
# Every folder is one CMake target. A folder's headers are reachable only through a directory that holds
# nothing but a link to that folder, so that a target sees the folders it names and no other: an include
# against the arrows does not compile.

# chime_arrow(<target> <name in #include> <folder>): the interface target that makes <folder> includable as
# <name in #include>/file.
function(chime_arrow target name folder)
  set(root ${PROJECT_BINARY_DIR}/arrows/${target})
  cmake_path(GET name PARENT_PATH parent)
  file(MAKE_DIRECTORY ${root}/${parent})
  file(CREATE_LINK ${folder} ${root}/${name} SYMBOLIC)
  add_library(${target} INTERFACE)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${root}>)
endfunction()
