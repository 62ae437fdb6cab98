# The devices of the library: each folder of src/backends with a backend.cpp has one (src/tensor/backend.h).

file(GLOB sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/src/backends"
  "${PROJECT_SOURCE_DIR}/src/backends/*/backend.cpp")
set(declarations "")
set(addresses "")
foreach(source ${sources})
  get_filename_component(folder "${source}" DIRECTORY)
  string(APPEND declarations "Backend& ${folder}();\n")
  string(APPEND addresses "&backends::${folder}(), ")
endforeach()
configure_file("${PROJECT_SOURCE_DIR}/cmake/built_in_backends.h.in" "${CMAKE_BINARY_DIR}/generated/built_in_backends.h")
