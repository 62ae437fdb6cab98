# `cmake --install build --component cpp`: both libraries, headers, and what CMake and pkg-config want. Not in wheels, which
# have an own arrangement of the same (package_cpp.cmake).

include(GNUInstallDirs)

install_headers(include/wengert cpp)
install(TARGETS wengert wengert_core EXPORT wengert
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT cpp
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT cpp
  INCLUDES DESTINATION include/wengert)

set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/wengert")
install(EXPORT wengert NAMESPACE wengert:: FILE wengertTargets.cmake DESTINATION "${config_dir}" COMPONENT cpp)
install(FILES "${PROJECT_SOURCE_DIR}/cmake/wengertConfig.cmake" "${config_files}/wengertConfigVersion.cmake"
  DESTINATION "${config_dir}" COMPONENT cpp)
configure_pkg_config("${config_files}/installed/wengert.pc" include/wengert)
install(FILES "${config_files}/installed/wengert.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT cpp)
