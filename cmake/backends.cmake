# The devices of the library: each folder of src/backends but cpu, which needs no Backend, has one (src/tensor/backend.h).

file(GLOB folders CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/src/backends" "${PROJECT_SOURCE_DIR}/src/backends/*")
list(REMOVE_ITEM folders cpu)
set(declarations "")
set(addresses "")
foreach(folder ${folders})
  string(APPEND declarations "Backend& ${folder}();\n")
  string(APPEND addresses "&backends::${folder}(), ")
endforeach()
configure_file("${PROJECT_SOURCE_DIR}/cmake/built_in_backends.h.in" "${CMAKE_BINARY_DIR}/generated/built_in_backends.h")
