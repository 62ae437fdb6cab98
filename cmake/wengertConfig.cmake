# find_package(wengert) gives the target wengert::wengert_core.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include("${CMAKE_CURRENT_LIST_DIR}/wengertTargets.cmake")
