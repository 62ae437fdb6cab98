# `cmake --install build --component cpp`: the static library, its headers and wengertConfig.cmake. Not in wheels.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS wengert_core EXPORT wengert ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT cpp)
foreach(layer base tensor kernels graph ops engine)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/${layer}" DESTINATION include/wengert COMPONENT cpp
    FILES_MATCHING PATTERN "*.h" PATTERN "isa" EXCLUDE)
endforeach()
install(DIRECTORY "${WENGERT_GENERATED}/ops" "${WENGERT_GENERATED}/kernels" DESTINATION include/wengert/generated
  COMPONENT cpp FILES_MATCHING PATTERN "*.h")
install(FILES "${WENGERT_GENERATED}/built_in_backends.h" DESTINATION include/wengert/generated COMPONENT cpp)

set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/wengert")
install(EXPORT wengert NAMESPACE wengert:: FILE wengertTargets.cmake DESTINATION "${config_dir}" COMPONENT cpp)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/wengertConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_SOURCE_DIR}/cmake/wengertConfig.cmake" "${CMAKE_BINARY_DIR}/wengertConfigVersion.cmake"
  DESTINATION "${config_dir}" COMPONENT cpp)
