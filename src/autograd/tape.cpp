#include <cstring>

#include "kernels/kernels.h"
#include "phasor/autograd.h"

namespace phasor {

Tensor Var::value() const {
  Tensor copy(shape(), dtype());
  std::memcpy(copy.raw(), node().data, static_cast<std::size_t>(copy.size()) * size_of(dtype()));
  return copy;
}

Tensor Var::grad() const {
  PHASOR_CHECK(node().needs_grad, "[grad] this value wants no gradient; make it a leaf that does");
  Tensor copy(shape(), dtype());
  if (node().grad != nullptr)
    std::memcpy(copy.raw(), node().grad, static_cast<std::size_t>(copy.size()) * size_of(dtype()));
  return copy;
}

Tape::Tape(DType dtype, bool record) : Tape(dtype, record, kernels::default_set()) {}

Tape::Tape(DType dtype, bool record, kernels::KernelSet set)
    : dtype_(dtype), record_(record), set_(set) {}

template <class T>
const kernels::Table<T>& Tape::kernels() const {
  return kernels::table<T>(set_);
}
template const kernels::Table<float>& Tape::kernels<float>() const;
template const kernels::Table<double>& Tape::kernels<double>() const;

Var Tape::leaf(const Tensor& value, bool needs_grad) {
  const Tensor converted = value.dtype() == dtype_ ? value : value.to(dtype_);
  Node node;
  node.shape = value.shape();
  node.scope = scope_;
  node.data = arena_.allocate(bytes_of(node));
  std::memcpy(node.data, converted.raw(), bytes_of(node));
  node.needs_grad = needs_grad && record_;
  node.keeps_grad = true;
  nodes_.push_back(node);
  return {this, size() - 1};
}

Var Tape::leaf(const Shape& shape, const void* data, void* grad, const void* prepared) {
  Node node;
  node.shape = shape;
  node.scope = scope_;
  node.data = const_cast<void*>(data);  // ops only read their inputs
  node.grad = grad;
  node.prepared = prepared;
  node.needs_grad = grad != nullptr && record_;
  node.keeps_grad = true;
  nodes_.push_back(node);
  return {this, size() - 1};
}

void Tape::clear() {
  nodes_.clear();
  free_.clear();
  arena_.reset();
}

const char* Tape::set_scope(const char* scope) {
  const char* old = scope_;
  scope_ = scope;
  return old;
}

Var Tape::append(const Op& op, const Shape& shape, std::initializer_list<Var> inputs,
                 const void* saved) {
  return append(op, shape, std::span(inputs.begin(), inputs.size()), saved, nullptr);
}

Var Tape::append_view(const Op& op, const Shape& shape, std::initializer_list<Var> inputs,
                      void* data) {
  return append(op, shape, std::span(inputs.begin(), inputs.size()), nullptr, data);
}

Var Tape::append(const Op& op, const Shape& shape, std::span<const Var> inputs, const void* saved,
                 void* data) {
  PHASOR_CHECK(op.backward != nullptr, "[", op.name, "] an op needs a backward rule; got none");
  PHASOR_CHECK(inputs.size() <= Node::kMaxInputs, "[", op.name, "] at most ", Node::kMaxInputs,
               " inputs; got ", inputs.size());
  Node node;
  node.op = &op;
  node.scope = scope_;
  node.shape = shape;
  node.saved = saved;
  for (const Var& input : inputs) {
    PHASOR_CHECK(&input.tape() == this, "[", op.name, "] all inputs must be on the same tape");
    node.inputs[node.n_inputs++] = input.index();
    node.needs_grad = node.needs_grad || this->node(input.index()).needs_grad;
  }
  node.data = data != nullptr ? data : arena_.allocate(bytes_of(node));
  nodes_.push_back(node);
  return {this, size() - 1};
}

Var Tape::finish(const Var& var) {
  if (observer_ != nullptr) observer_->on_forward(*this, node(var.index()));
  return var;
}

void* Tape::take_buffer(std::size_t bytes) {
  for (std::size_t i = free_.size(); i-- > 0;) {
    if (free_[i].bytes != bytes) continue;
    void* data = free_[i].data;
    free_[i] = free_.back();
    free_.pop_back();
    return data;
  }
  return arena_.allocate(bytes);
}

Node& Tape::input_of(const Node& node, int input, const Shape& shape) {
  Node& target = nodes_[static_cast<std::size_t>(node.inputs[input])];
  if (!(target.shape == shape))
    fail(ErrorKind::internal, "[", node.op->name, "] the gradient of input ", input,
         " must have its shape ", target.shape.str(), "; got ", shape.str(), " in layer '",
         node.scope, "'; the op's backward rule is wrong");
  return target;
}

void* Tape::grad_memory(const Node& node, int input, const Shape& shape, bool& accumulate) {
  Node& target = input_of(node, input, shape);
  if (!target.needs_grad) return nullptr;
  accumulate = target.grad != nullptr;
  if (!accumulate) target.grad = take_buffer(bytes_of(target));
  return target.grad;
}

void* Tape::grad_memory_in_place(const Node& node, int input, const Shape& shape,
                                 bool& accumulate) {
  Node& target = input_of(node, input, shape);
  const bool movable = target.needs_grad && target.grad == nullptr && !node.keeps_grad &&
                       !grad_moved_ && bytes_of(target) == bytes_of(node);
  if (!movable) return grad_memory(node, input, shape, accumulate);
  grad_moved_ = true;
  target.grad = node.grad;
  accumulate = false;
  return target.grad;
}

void Tape::backward(const Var& root, double seed) {
  PHASOR_CHECK(record_, "[backward] this tape records nothing; make it with record = true");
  PHASOR_CHECK(root.shape().size() == 1, "[backward] the root must have one element; got ",
               root.shape().str(), "; take its sum or mean first");
  Node& start = nodes_[static_cast<std::size_t>(root.index())];
  if (!start.needs_grad) return;
  const bool seeded_before = start.grad != nullptr;
  if (!seeded_before) start.grad = take_buffer(bytes_of(start));
  dispatch(dtype_, [&](auto zero) {
    using T = decltype(zero);
    T& value = *static_cast<T*>(start.grad);
    value = (seeded_before ? value : T{0}) + static_cast<T>(seed);
  });
  for (std::int32_t index = root.index(); index >= 0; --index) {
    Node& node = nodes_[static_cast<std::size_t>(index)];
    if (node.grad == nullptr || !node.needs_grad) continue;
    if (observer_ != nullptr) observer_->on_backward(*this, node);
    if (node.op == nullptr) continue;
    grad_moved_ = false;
    node.op->backward(*this, node);
    if (!grad_moved_) free_.push_back({bytes_of(node), node.grad});
    node.grad = nullptr;
  }
}

}  // namespace phasor
