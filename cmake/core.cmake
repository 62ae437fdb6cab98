# The layers below Python; no Python header is on their include path. They are compiled once and linked twice:
#
#   wengert_core  a static library, for the tests and for programs that want everything within themselves;
#   wengert       the shared library of a process (cmake/shared.cmake), which `_C` and extensions use.
#
# Includes are written relative to src/ ("tensor/tensor.h"); generated headers as "generated/ops/...".

set(core_sources)
foreach(layer base tensor kernels backends graph ops engine wengert)
  file(GLOB_RECURSE layer_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${layer}/*.cpp")
  list(APPEND core_sources ${layer_sources})
endforeach()
list(FILTER core_sources EXCLUDE REGEX "/src/backends/cpu/isa/")
wengert_generated(generated_core "^(ops|backends)/.*\\.cpp$")
list(FILTER generated_core EXCLUDE REGEX "/backends/cpu/isa_")

# Loops that are compiled once: for the dtypes that need no particular instruction set, and those that move elements.
set(loop_sources ${core_sources} ${generated_core})
list(FILTER loop_sources INCLUDE REGEX
  "/backends/cpu/(base_|elementwise/casting|indexing/(gather|indexing|masked)|reductions/(reduce|scan)|shape/copies)")
if(WENGERT_SANITIZE)
  list(FILTER core_sources EXCLUDE REGEX "/(base/memory/slab|tensor/memory/free_lists)\\.cpp$")  # what tests/sanitizers has needs none
else()
  set_source_files_properties(${loop_sources} PROPERTIES COMPILE_OPTIONS -O3)
  set(elementwise_loops ${loop_sources})
  list(FILTER elementwise_loops INCLUDE REGEX "/backends/cpu/base_")
  set_source_files_properties(${elementwise_loops} PROPERTIES COMPILE_OPTIONS "${WENGERT_PLAIN_LOOPS}")
endif()
# How elements are computed is nobody's business but the library's own; what carries WENGERT_API leaves it.
set(backend_sources ${core_sources} ${generated_core})
list(FILTER backend_sources INCLUDE REGEX "/backends/")
set_property(SOURCE ${backend_sources} APPEND PROPERTY COMPILE_OPTIONS -fvisibility=hidden)

add_library(wengert_core STATIC ${core_sources} ${generated_core})
add_dependencies(wengert_core wengert_codegen)
target_compile_features(wengert_core PUBLIC cxx_std_20)
# All others leave it, `protected`: bound when it is linked, so that a call within it costs what it costs in a program.
target_compile_definitions(wengert_core PRIVATE WENGERT_CORE=1)
if(NOT APPLE)
  set_target_properties(wengert_core PROPERTIES CXX_VISIBILITY_PRESET protected)
else()
  set_target_properties(wengert_core PROPERTIES CXX_VISIBILITY_PRESET default)
endif()
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-mno-direct-extern-access WENGERT_HAVE_NO_DIRECT_EXTERN_ACCESS)
if(WENGERT_HAVE_NO_DIRECT_EXTERN_ACCESS)
  target_compile_options(wengert_core PRIVATE -mno-direct-extern-access)  # g++: else even its own data through a table
endif()
target_include_directories(wengert_core PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
  $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}>)
target_link_libraries(wengert_core
  PUBLIC Threads::Threads ${CMAKE_DL_LIBS}
  PRIVATE $<BUILD_INTERFACE:wengert_options>)

# Half of the time of a small file goes into these headers. The loops are compiled with other options: without it.
if(WENGERT_PCH)
  target_precompile_headers(wengert_core PRIVATE ${WENGERT_STD_HEADERS}
    "${PROJECT_SOURCE_DIR}/src/tensor/operand.h" "${PROJECT_SOURCE_DIR}/src/tensor/tensor_list.h")
  set_source_files_properties(${loop_sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endif()
