# wengert_core: the static library of all layers below Python. No Python header is on its include path.
#
# Includes are written relative to src/ ("tensor/tensor.h"); generated headers as "generated/ops/...".

set(core_sources)
foreach(layer base tensor kernels backends graph ops engine)
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
endif()

add_library(wengert_core STATIC ${core_sources} ${generated_core})
add_dependencies(wengert_core wengert_codegen)
target_compile_features(wengert_core PUBLIC cxx_std_20)
target_include_directories(wengert_core PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
  $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}>
  $<INSTALL_INTERFACE:include/wengert>)
target_link_libraries(wengert_core
  PUBLIC Threads::Threads ${CMAKE_DL_LIBS}
  PRIVATE $<BUILD_INTERFACE:wengert_options>)

# Half of the time of a small file goes into these headers. The loops are compiled with other options: without it.
if(WENGERT_PCH)
  target_precompile_headers(wengert_core PRIVATE ${WENGERT_STD_HEADERS}
    "${PROJECT_SOURCE_DIR}/src/tensor/operand.h" "${PROJECT_SOURCE_DIR}/src/tensor/tensor_list.h")
  set_source_files_properties(${loop_sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endif()
