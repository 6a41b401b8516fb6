// NormBuilder: what a norm learns of its layer, and the parameters it declares there.
#include "phasor/norm.h"

namespace phasor {

NormBuilder::NormBuilder(std::string layer, Index channels, double eps, double gamma_init,
                         bool affine, std::vector<std::pair<std::string, NormValue>> values)
    : layer_(std::move(layer)),
      channels_(channels),
      eps_(eps),
      gamma_init_(gamma_init),
      affine_(affine),
      values_(std::move(values)) {
  PHASOR_CHECK(channels >= 1, "[", layer_, "] a norm needs at least one channel; got ", channels);
  PHASOR_CHECK(eps >= 0, "[", layer_, "] norm.eps must not be negative; got ", eps);
}

const NormValue& NormBuilder::value(const std::string& key) const {
  for (const auto& [name, value] : values_)
    if (name == key) return value;
  fail(ErrorKind::internal, "[", layer_, "] a norm may only ask for keys of its spec; got ", key,
       "; list it in norm_spec().keys");
}

namespace {

template <class T>
const T& as(const NormValue& value, const std::string& layer, const std::string& key,
            const char* type) {
  if (const T* found = std::get_if<T>(&value)) return *found;
  fail(ErrorKind::internal, "[", layer, "] ", key, " is not ", type,
       "; ask for it by the type of its default in norm_spec().keys");
}

}  // namespace

double NormBuilder::number(const std::string& key) const {
  return as<double>(value(key), layer_, key, "a number");
}

std::int64_t NormBuilder::integer(const std::string& key) const {
  return as<std::int64_t>(value(key), layer_, key, "an integer");
}

bool NormBuilder::flag(const std::string& key) const {
  return as<bool>(value(key), layer_, key, "true or false");
}

const std::string& NormBuilder::text(const std::string& key) const {
  return as<std::string>(value(key), layer_, key, "a text");
}

namespace {

int declare(std::vector<NormBuilder::Parameter>& list, NormBuilder::Parameter parameter) {
  list.push_back(std::move(parameter));
  return static_cast<int>(list.size()) - 1;
}

}  // namespace

void NormBuilder::check_new(const std::string& name) const {
  for (const auto& list : {parameters_, buffers_})
    for (const Parameter& parameter : list)
      if (parameter.name == name)
        fail(ErrorKind::internal, "[", layer_,
             "] a norm declares each parameter and buffer once; got ", name, " again");
}

int NormBuilder::parameter(std::string name, Shape shape, double init) {
  check_new(name);
  return declare(parameters_, {std::move(name), shape, init});
}

int NormBuilder::buffer(std::string name, Shape shape, double init) {
  check_new(name);
  return declare(buffers_, {std::move(name), shape, init});
}

}  // namespace phasor
