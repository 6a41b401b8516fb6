#include "norms/contract/registry.h"

#include <algorithm>

#include "core/nearest_name.h"

namespace phasor {
namespace {

template <class T>
std::string joined(const std::vector<T>& items) {
  std::string text;
  for (const T& item : items) text += (text.empty() ? "" : ", ") + item.name;
  return text.empty() ? "none" : text;
}

template <class T>
std::vector<std::string> names_of(const std::vector<T>& items) {
  std::vector<std::string> names;
  for (const T& item : items) names.push_back(item.name);
  return names;
}

const char* type_name(const NormValue& value) {
  constexpr const char* names[] = {"a number", "an integer", "true or false", "a text"};
  return names[value.index()];
}

/// `value` as the type and within the range of `key`.
NormValue checked(const NormSpec& spec, const NormKey& key, NormValue value) {
  if (std::holds_alternative<double>(key.standard) && std::holds_alternative<std::int64_t>(value))
    value = static_cast<double>(std::get<std::int64_t>(value));
  PHASOR_CHECK(value.index() == key.standard.index(), "[", spec.name, "] ", key.name, " must be ",
               type_name(key.standard), "; got ", type_name(value));
  double number = 0;
  if (const auto* real = std::get_if<double>(&value))
    number = *real;
  else if (const auto* integer = std::get_if<std::int64_t>(&value))
    number = static_cast<double>(*integer);
  else
    return value;
  PHASOR_CHECK(number >= key.minimum && number <= key.maximum, "[", spec.name, "] ", key.name,
               " must lie in [", key.minimum, ", ", key.maximum, "]; got ", number);
  return value;
}

}  // namespace

namespace norms {

std::vector<NormSpec> collect_specs(const std::vector<ListedNorm>& list) {
  std::vector<NormSpec> specs;
  for (const ListedNorm& listed : list) {
    NormSpec spec = listed.spec();
    if (spec.make == nullptr)
      fail(ErrorKind::internal, "[norms] a norm needs a make function; got none in ", listed.file);
    for (std::size_t i = 0; i < specs.size(); ++i)
      if (specs[i].name == spec.name)
        fail(ErrorKind::internal, "[norms] names are unique; got ", spec.name, " from ",
             list[i].file, ".cpp and ", listed.file, ".cpp");
    if (spec.name != listed.file)
      fail(ErrorKind::internal, "[norms] a norm is called like its file; got ", spec.name, " in ",
           listed.file, ".cpp");
    specs.push_back(std::move(spec));
  }
  std::sort(specs.begin(), specs.end(),
            [](const NormSpec& a, const NormSpec& b) { return a.name < b.name; });
  return specs;
}

}  // namespace norms

namespace {

std::vector<NormSpec>& known_specs() {
  static std::vector<NormSpec> specs = norms::collect_specs(norms::listed_norms());
  return specs;
}

}  // namespace

const std::vector<NormSpec>& norm_specs() { return known_specs(); }

void add_norm(NormSpec spec) {
  std::vector<NormSpec>& specs = known_specs();
  const auto place =
      std::lower_bound(specs.begin(), specs.end(), spec,
                       [](const NormSpec& a, const NormSpec& b) { return a.name < b.name; });
  specs.insert(place, std::move(spec));
}

const NormSpec& find_norm(const std::string& name) {
  for (const NormSpec& spec : norm_specs())
    if (spec.name == name) return spec;
  fail(ErrorKind::usage, "[norm] unknown norm; got ", name,
       did_you_mean(name, names_of(norm_specs())), "; known: ", joined(norm_specs()));
}

NormValues resolve_values(const NormSpec& spec, const NormValues& given) {
  NormValues values;
  for (const NormKey& key : spec.keys) values.emplace_back(key.name, key.standard);
  std::vector<bool> seen(values.size());
  for (const auto& [name, value] : given) {
    std::size_t at = 0;
    while (at < values.size() && values[at].first != name) ++at;
    PHASOR_CHECK(at < values.size(), "[", spec.name, "] unknown parameter; got ", name,
                 did_you_mean(name, names_of(spec.keys)), "; known: ", joined(spec.keys));
    PHASOR_CHECK(!seen[at], "[", spec.name, "] a parameter is given once; got ", name, " again");
    seen[at] = true;
    values[at].second = checked(spec, spec.keys[at], value);
  }
  return values;
}

}  // namespace phasor
