# The extension module wengert._C, the only target that sees the headers of Python, and an importable package in
# ${CMAKE_BINARY_DIR}/package: links to the entries of python/wengert (edits are live) beside the built module.

set(package "${CMAKE_BINARY_DIR}/package/wengert")
file(GLOB_RECURSE extension_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/python/*.cpp")
wengert_generated(generated_extension "^python/.*\\.cpp$")
# PyInit__C stands in src/python/module.cpp.
Python_add_library(_C MODULE WITH_SOABI ${extension_sources} ${generated_extension})
add_dependencies(_C wengert_codegen)
target_link_libraries(_C PRIVATE wengert wengert_options)
target_compile_definitions(_C PRIVATE $<TARGET_PROPERTY:wengert_core,INTERFACE_COMPILE_DEFINITIONS>)
target_include_directories(_C SYSTEM PRIVATE ${Python_NumPy_INCLUDE_DIRS})
target_compile_definitions(_C PRIVATE NPY_NO_DEPRECATED_API=NPY_2_0_API_VERSION NPY_TARGET_VERSION=NPY_2_0_API_VERSION)
if(WENGERT_BUILD_TESTS AND NOT WENGERT_SANITIZE)
  # So that tests can let any allocation fail (src/base/memory/failing_allocation.h).
  target_sources(_C PRIVATE "${PROJECT_SOURCE_DIR}/tests/allocations/failing_new.cpp"
    "${PROJECT_SOURCE_DIR}/tests/allocations/functions.cpp")
endif()
# Python's headers type-pun.
target_compile_options(_C PRIVATE -fno-strict-aliasing)
if(WENGERT_PCH)
  target_precompile_headers(_C PRIVATE <Python.h> ${WENGERT_STD_HEADERS} "${PROJECT_SOURCE_DIR}/src/graph/autograd_meta.h")
endif()
set(beside "$ORIGIN/lib")
if(APPLE)
  set(beside "@loader_path/lib")
endif()
set_target_properties(_C PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${package}" BUILD_RPATH "${beside}" INSTALL_RPATH "${beside}")
install(TARGETS _C DESTINATION wengert COMPONENT python)

# The package in the build directory.
file(GLOB package_entries CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/wengert/*")
list(FILTER package_entries EXCLUDE REGEX "__pycache__")
wengert_generated(generated_package "^python_package/")  # stubs, and data that Python reads
install(DIRECTORY "${WENGERT_GENERATED}/python_package/" DESTINATION wengert COMPONENT python)
list(TRANSFORM generated_package REPLACE "/python_package/([^/]+)/.*" "/python_package/\\1")  # folders as a whole
list(REMOVE_DUPLICATES generated_package)

file(MAKE_DIRECTORY "${package}")
set(names)
foreach(entry IN LISTS package_entries generated_package)
  cmake_path(GET entry FILENAME name)
  list(APPEND names "${name}")
  if(NOT IS_SYMLINK "${package}/${name}")
    file(CREATE_LINK "${entry}" "${package}/${name}" SYMBOLIC)
  endif()
endforeach()

file(GLOB present RELATIVE "${package}" "${package}/*")
foreach(name IN LISTS present)
  if(IS_SYMLINK "${package}/${name}" AND NOT name IN_LIST names)
    file(REMOVE "${package}/${name}")
  endif()
endforeach()

