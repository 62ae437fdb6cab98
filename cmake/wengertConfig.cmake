# find_package(wengert) gives wengert::wengert, the shared library; and wengert::wengert_core, a static one, where the C++
# library was installed by itself.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include("${CMAKE_CURRENT_LIST_DIR}/wengertTargets.cmake")
