# Two folders that hold a norm of the same name: configuring must fail and name both files.
include(${SOURCE_DIR}/src/norms/NormList.cmake)
phasor_find_norms(files ${SOURCE_DIR}/src/norms ${SOURCE_DIR}/tests/norm_dirs/same_name)
