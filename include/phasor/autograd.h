// Reverse-mode differentiation: a tape of plain nodes in one arena, and Var, a place on it.
//
// An op computes its result at once and appends a node that says how to go back. Nodes hold raw
// pointers into the arena, so that a step allocates nothing once the arena has its size, and
// destroying a tape frees a few blocks however long it is. The gradient of a leaf goes where the
// leaf says (a training lane's buffer), never into the parameter.
#pragma once

#include <cstdint>
#include <vector>

#include "phasor/arena.h"
#include "phasor/tensor.h"

namespace phasor {

namespace kernels {
enum class KernelSet : std::uint8_t;
template <class T>
struct Table;
}  // namespace kernels

class Tape;
struct Node;

/// How an op goes back. `backward` reads the node's gradient and adds to those of its inputs
/// through Tape::grad_target; every op has one.
struct Op {
  const char* name;
  void (*backward)(Tape& tape, const Node& node);
};

/// One result on the tape.
struct Node {
  static constexpr int kMaxInputs = 8;

  const Op* op = nullptr;  ///< null: a leaf
  const char* scope = "";  ///< the layer that made it, for messages
  Shape shape;
  void* data = nullptr;
  void* grad = nullptr;            ///< null until a first contribution arrives
  const void* saved = nullptr;     ///< what the op keeps for its way back
  const void* prepared = nullptr;  ///< a convolution weight's packed copies (autograd/conv.h)
  std::int32_t inputs[kMaxInputs] = {};
  std::int32_t n_inputs = 0;
  bool needs_grad = false;
  bool keeps_grad = false;  ///< leaves: the gradient outlives the backward pass
};

/// A value on a tape: cheap to copy, valid until the tape is cleared.
class PHASOR_API Var {
 public:
  Var() = default;
  Var(Tape* tape, std::int32_t index) : tape_(tape), index_(index) {}

  Tape& tape() const { return *tape_; }
  std::int32_t index() const { return index_; }
  bool defined() const { return tape_ != nullptr; }
  const Node& node() const;  ///< until the next op: nodes move when the tape grows
  Shape shape() const;
  DType dtype() const;

  /// A copy of the value.
  Tensor value() const;
  /// A copy of the gradient; zeros where none arrived. For leaves, after Tape::backward.
  Tensor grad() const;

 private:
  Tape* tape_ = nullptr;
  std::int32_t index_ = -1;
};

/// Sees every node as it is made and every gradient when it is complete: diagnostics, and the
/// search for the first non-finite number.
class PHASOR_API TapeObserver {
 public:
  virtual ~TapeObserver() = default;
  virtual void on_forward(const Tape& tape, const Node& node) = 0;
  /// `node.grad` is complete; its inputs' gradients are not.
  virtual void on_backward(const Tape& tape, const Node& node) = 0;
};

/// Where a backward rule puts the gradient of an input: overwrite, or add when `accumulate`.
template <class T>
struct GradTarget {
  T* data = nullptr;  ///< null: this input wants no gradient
  bool accumulate = false;
  explicit operator bool() const { return data != nullptr; }
};

/// The nodes of one forward pass, in order, with their memory. Belongs to one thread at a time.
class PHASOR_API Tape {
 public:
  /// `record` false: values only (evaluation).
  explicit Tape(DType dtype, bool record = true);
  Tape(DType dtype, bool record, kernels::KernelSet set);
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  DType dtype() const { return dtype_; }
  bool recording() const { return record_; }
  kernels::KernelSet kernel_set() const { return set_; }
  template <class T>
  const kernels::Table<T>& kernels() const;

  /// A copy of `value` (converted to the tape's number type) as a leaf.
  Var leaf(const Tensor& value, bool needs_grad = true);
  /// Memory of the caller as a leaf. With `grad`, gradients are added to what it holds.
  Var leaf(const Shape& shape, const void* data, void* grad, const void* prepared = nullptr);

  /// Forgets all nodes; keeps the memory.
  void clear();

  /// Adds d(root)/d(leaf) * seed to the gradient of every leaf that wants one. `root` has one
  /// element. Iterative, in reverse order of the nodes.
  void backward(const Var& root, double seed = 1.0);

  const Node& node(std::int32_t index) const { return nodes_[static_cast<std::size_t>(index)]; }
  Var var(std::int32_t index) { return {this, index}; }
  std::int32_t size() const { return static_cast<std::int32_t>(nodes_.size()); }

  /// The name given to the nodes made from now on; it must outlive the tape. Returns the old one.
  const char* set_scope(const char* scope);
  void set_observer(TapeObserver* observer) { observer_ = observer; }

  Arena& arena() { return arena_; }

  // For ops.

  /// Appends the result of `op`: memory for `shape` that the caller fills at once, then hands to
  /// `finish`. `saved` must live in the arena.
  Var append(const Op& op, const Shape& shape, std::initializer_list<Var> inputs,
             const void* saved = nullptr);
  /// The same with the result in existing memory (a reinterpretation of an input).
  Var append_view(const Op& op, const Shape& shape, std::initializer_list<Var> inputs, void* data);
  Var append(const Op& op, const Shape& shape, std::span<const Var> inputs, const void* saved,
             void* data);
  /// The value is written: observers may look.
  Var finish(const Var& var);

  /// A copy of `value` in the arena, for Node::saved.
  template <class Saved>
  Saved* save(const Saved& value) {
    return new (arena_.allocate(sizeof(Saved))) Saved(value);
  }

  template <class T>
  T* data(std::int32_t index) const {
    return static_cast<T*>(node(index).data);
  }
  template <class T>
  T* data(const Var& var) const {
    return static_cast<T*>(node(var.index()).data);
  }

  /// The one funnel for gradients: where the rule of `node` puts the gradient of its input number
  /// `input`. `shape` is what the rule believes the input's shape to be; another one is a bug of
  /// the op and is named. The caller must then write or add every element.
  template <class T>
  GradTarget<T> grad_target(const Node& node, int input, const Shape& shape) {
    bool accumulate = false;
    void* data = grad_memory(node, input, shape, accumulate);
    return {static_cast<T*>(data), accumulate};
  }
  /// Like grad_target, but may hand over the memory of the node's own gradient (data == node.grad)
  /// for a rule that can work in place. The node's gradient is then used up by this call's write.
  template <class T>
  GradTarget<T> grad_target_in_place(const Node& node, int input, const Shape& shape) {
    bool accumulate = false;
    void* data = grad_memory_in_place(node, input, shape, accumulate);
    return {static_cast<T*>(data), accumulate};
  }

 private:
  struct FreeBuffer {
    std::size_t bytes;
    void* data;
  };
  void* grad_memory(const Node& node, int input, const Shape& shape, bool& accumulate);
  void* grad_memory_in_place(const Node& node, int input, const Shape& shape, bool& accumulate);
  Node& input_of(const Node& node, int input, const Shape& shape);
  void* take_buffer(std::size_t bytes);
  std::size_t bytes_of(const Node& node) const {
    return static_cast<std::size_t>(node.shape.size()) * size_of(dtype_);
  }

  DType dtype_;
  bool record_;
  kernels::KernelSet set_;
  const char* scope_ = "";
  TapeObserver* observer_ = nullptr;
  Arena arena_;
  std::vector<Node> nodes_;
  std::vector<FreeBuffer> free_;  // gradient buffers to use again, by size
  bool grad_moved_ = false;       // the node under way gave its gradient's memory to an input
};

inline const Node& Var::node() const { return tape_->node(index_); }
inline Shape Var::shape() const { return node().shape; }
inline DType Var::dtype() const { return tape_->dtype(); }

}  // namespace phasor
