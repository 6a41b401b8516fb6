# Writes OUTPUT, a source with the files of the folder CONFIGS as string literals:
# cmake -DCONFIGS=... -DOUTPUT=... -P embed_configs.cmake
file(GLOB paths ${CONFIGS}/*.json)
list(SORT paths)
set(source "#include \"config/config_file.h\"\n\nnamespace phasor {\n\n")
string(APPEND source "const std::vector<ShippedConfig>& shipped_configs() {\n")
string(APPEND source "  static const std::vector<ShippedConfig> configs = {\n")
foreach(path IN LISTS paths)
  get_filename_component(name "${path}" NAME)
  file(READ "${path}" text)
  string(APPEND source "      {\"${name}\", R\"config(${text})config\"},\n")
endforeach()
string(APPEND source "  };\n  return configs;\n}\n\n}  // namespace phasor\n")
file(WRITE "${OUTPUT}" "${source}")
