#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <utility>

#include "autograd/conv.h"
#include "phasor/ops.h"
#include "train/first_nonfinite.h"
#include "train/norm_observer.h"
#include "train/thread_team.h"
#include "train/trainer.h"

namespace phasor {
namespace {

/// Holds the first exception of a parallel loop, by index, so that it can be rethrown after the
/// join.
class Failures {
 public:
  explicit Failures(std::size_t count) : failures_(count) {}
  template <class Body>
  void guard(Index index, Body body) noexcept {
    try {
      body();
    } catch (...) {
      failures_[static_cast<std::size_t>(index)] = std::current_exception();
      any_.store(true, std::memory_order_relaxed);
    }
  }
  void rethrow() {
    if (!any_.load(std::memory_order_relaxed)) return;
    any_.store(false, std::memory_order_relaxed);
    std::exception_ptr first;
    for (std::exception_ptr& failure : failures_)
      if (std::exception_ptr found = std::exchange(failure, nullptr); found && !first)
        first = found;
    std::rethrow_exception(first);
  }

 private:
  std::vector<std::exception_ptr> failures_;
  std::atomic<bool> any_{false};
};

/// What one thread needs for its micro-batches.
template <class T>
struct Worker {
  Worker(DType dtype, kernels::KernelSet set)
      : training(dtype, true, set), evaluation(dtype, false, set) {}
  Tape training, evaluation;
  std::vector<PreparedConv<T>> convs;
  std::vector<std::int32_t> labels;
};

/// Sums of a micro-batch or a lane.
struct Tally {
  double loss = 0;
  Index correct = 0;
  void add(const Tally& other) {
    loss += other.loss;
    correct += other.correct;
  }
};

/// Samples whose label has the greatest logit, the first one on ties; none with a NaN in its row.
template <class T>
Index count_correct(const T* logits, Index rows, Index classes, const std::int32_t* labels) {
  Index correct = 0;
  for (Index r = 0; r < rows; ++r, logits += classes) {
    bool right = !std::isnan(logits[labels[r]]);
    for (Index k = 0; k < classes && right; ++k)
      right = k < labels[r] ? logits[k] < logits[labels[r]] : logits[k] <= logits[labels[r]];
    correct += right;
  }
  return correct;
}

template <class T>
class LaneTrainer final : public Trainer {
 public:
  LaneTrainer(std::shared_ptr<const Model> model, const TrainerOptions& options)
      : model_(std::move(model)),
        options_(options),
        table_(kernels::table<T>(options.kernels)),
        failures_(static_cast<std::size_t>(
            std::max<Index>(options.lanes, static_cast<Index>(model_->parameters().size())))),
        lane_tally_(static_cast<std::size_t>(options.lanes)),
        squares_(model_->parameters().size()) {
    const auto block = static_cast<std::size_t>(model_->block_size());
    values_ = zeros(block);
    buffers_ = zeros(static_cast<std::size_t>(model_->buffer_size()));
    next_buffers_ = zeros(static_cast<std::size_t>(model_->buffer_size()));
    if (options_.momentum != 0) momentum_ = zeros(block);
    for (Index lane = 0; lane < options_.lanes; ++lane) gradients_.push_back(zeros(block));
    start_thread_team(options_.threads);
    for (int i = 0; i < options_.threads; ++i)
      workers_.push_back(std::make_unique<Worker<T>>(options_.dtype, options_.kernels));
    plan_convolutions();
  }

  void initialise(std::uint64_t seed) override {
    for (const Parameter& parameter : model_->parameters()) {
      Tensor initial(parameter.shape, options_.dtype);
      phasor::initialise(parameter, seed, initial);
      set_values(values_, parameter, initial);
    }
    for (const Parameter& buffer : model_->buffers())
      std::fill_n(buffers_ + buffer.offset, buffer.shape.size(),
                  static_cast<T>(buffer.initial.scale));
    first_step_ = true;
    prepare_all();
  }

  StepMetrics step(const BatchSource& batch, double lr, Diagnostics* diagnostics) override {
    if (diagnostics != nullptr) diagnostics->norms = observe_norms(batch);
    const Tally total = run_lanes(batch);
    add_lanes();
    double square = 0;
    for (const double part : squares_) square += part;
    StepMetrics metrics;
    metrics.loss = total.loss / static_cast<double>(batch.size);
    metrics.accuracy = static_cast<double>(total.correct) / static_cast<double>(batch.size);
    metrics.grad_norm = std::sqrt(square);
    metrics.finite = std::isfinite(metrics.loss) && std::isfinite(metrics.grad_norm);
    if (diagnostics != nullptr) diagnostics->layers = measure_layers(lr);
    if (metrics.finite) update(lr, metrics.grad_norm);
    return metrics;
  }

  std::optional<NonFinite> locate_nonfinite(const BatchSource& batch) override {
    for (const Parameter& parameter : model_->parameters())
      if (const T* bad = first_nonfinite<T>(values_ + parameter.offset, parameter.shape.size()))
        return NonFinite{layer_of(parameter), parameter.name, "update", kind_of(*bad)};
    FirstNonFinite<T> observer;
    const kernels::FlushSubnormals flush;
    for (Index lane = 0; lane < options_.lanes && !observer.found(); ++lane)
      run_lane(batch, lane, *workers_[0], &observer);
    if (observer.found()) return observer.found();
    add_lanes();
    for (const Parameter& parameter : model_->parameters())
      if (const T* bad =
              first_nonfinite<T>(gradients_[0] + parameter.offset, parameter.shape.size()))
        return NonFinite{layer_of(parameter), parameter.name, "backward", kind_of(*bad)};
    return std::nullopt;
  }

  Metrics evaluate(const BatchSource& source) override {
    const Index chunk = options_.micro_batch;
    const Index chunks = (source.size + chunk - 1) / chunk;
    evaluation_.assign(static_cast<std::size_t>(chunks), {});
    Failures failures(static_cast<std::size_t>(chunks));
#pragma omp parallel for schedule(dynamic, 16) num_threads(options_.threads)
    for (Index k = 0; k < chunks; ++k) {
      failures.guard(k, [&] {
        const kernels::FlushSubnormals flush;
        Worker<T>& worker = *workers_[static_cast<std::size_t>(omp_get_thread_num())];
        Tape& tape = worker.evaluation;
        const Var logits = forward(source, k * chunk, std::min(chunk, source.size - k * chunk),
                                   tape, worker, /*lane=*/0);
        evaluation_[static_cast<std::size_t>(k)] = tally(tape, logits, worker).second;
      });
    }
    failures.rethrow();
    Tally total;
    for (const Tally& part : evaluation_) total.add(part);
    const auto n = static_cast<double>(source.size);
    return {total.loss / n, static_cast<double>(total.correct) / n, source.size};
  }

  std::vector<NamedTensor> state() const override {
    std::vector<NamedTensor> tensors;
    const auto append = [&](const std::vector<Parameter>& list, const T* block,
                            std::string_view prefix) {
      for (const Parameter& parameter : list) {
        Tensor values(parameter.shape, options_.dtype);
        std::copy_n(block + parameter.offset, parameter.shape.size(), values.template data<T>());
        tensors.push_back(
            {std::string(prefix) + parameter.name, to_checkpoint_layout(parameter, values)});
      }
    };
    append(model_->parameters(), values_, "");
    append(model_->buffers(), buffers_, "");
    if (momentum_ != nullptr && !first_step_)
      append(model_->parameters(), momentum_, kMomentumPrefix);
    return tensors;
  }

  std::vector<std::string> load(std::span<const NamedTensor> tensors) override {
    const auto& parameters = model_->parameters();
    std::vector<const Parameter*> loaded;
    std::size_t momenta = 0;
    for (const NamedTensor& tensor : tensors) {
      const bool is_momentum = tensor.name.starts_with(kMomentumPrefix);
      const std::string name =
          is_momentum ? tensor.name.substr(kMomentumPrefix.size()) : tensor.name;
      const Parameter* place = find(parameters, name);
      const Parameter* buffer =
          place == nullptr && !is_momentum ? find(model_->buffers(), name) : nullptr;
      if (buffer != nullptr) place = buffer;
      if (place == nullptr)
        fail(ErrorKind::data, "[checkpoint] this network has no tensor '", name, "'");
      if (is_momentum && momentum_ == nullptr) continue;
      if (!(tensor.value.shape() == checkpoint_shape(*place)))
        fail(ErrorKind::data, "[checkpoint] ", tensor.name, " must have shape ",
             checkpoint_shape(*place).str(), " in this network; got ", tensor.value.shape().str());
      T* block = buffer != nullptr ? buffers_ : is_momentum ? momentum_ : values_;
      set_values(block, *place, from_checkpoint_layout(*place, tensor.value).to(options_.dtype));
      if (is_momentum) {
        ++momenta;
      } else {
        loaded.push_back(place);
      }
    }
    if (momenta != 0 && momenta != parameters.size())
      fail(ErrorKind::data, "[checkpoint] momentum must be there for all ", parameters.size(),
           " parameters or for none; got ", momenta);
    first_step_ = momenta == 0;
    std::vector<std::string> missing;
    for (const auto* list : {&parameters, &model_->buffers()})
      for (const Parameter& wanted : *list)
        if (std::find(loaded.begin(), loaded.end(), &wanted) == loaded.end())
          missing.push_back(wanted.name);
    prepare_all();
    return missing;
  }

 private:
  static constexpr std::string_view kMomentumPrefix = "momentum.";

  /// Writes what the next step's buffers are. Only norms with batch statistics have buffers, so a
  /// step has one micro-batch, and one lane at a time calls this.
  class BufferUpdates final : public BufferSink {
   public:
    explicit BufferUpdates(LaneTrainer& trainer) : trainer_(trainer) {}
    void update(int number, const Var& value, double weight) override {
      const Parameter& buffer = trainer_.model_->buffers()[static_cast<std::size_t>(number)];
      PHASOR_CHECK(value.shape().size() == buffer.shape.size(), "[", layer_of(buffer), "] ",
                   buffer.name, " must be updated by as many numbers as it has (",
                   buffer.shape.size(), "); got ", value.shape().str());
      const T* data = value.tape().template data<T>(value);
      for (Index i = 0; i < buffer.shape.size(); ++i)
        trainer_.next_buffers_[buffer.offset + i] = static_cast<T>(
            (1 - weight) * static_cast<double>(trainer_.buffers_[buffer.offset + i]) +
            weight * static_cast<double>(data[i]));
    }

   private:
    LaneTrainer& trainer_;
  };

  T* zeros(std::size_t count) {
    T* data = memory_.allocate_array<T>(count);
    std::fill_n(data, count, T{0});
    return data;
  }

  static const Parameter* find(const std::vector<Parameter>& list, const std::string& name) {
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const Parameter& p) { return p.name == name; });
    return found == list.end() ? nullptr : &*found;
  }

  void set_values(T* block, const Parameter& parameter, const Tensor& values) {
    std::copy_n(values.template data<T>(), values.size(), block + parameter.offset);
  }

  void plan_convolutions() {
    std::vector<PreparedConv<T>> convs;
    std::size_t packed = 0;
    for (const ConvLayer& layer : model_->convolutions()) {
      PreparedConv<T>& conv = convs.emplace_back();
      conv.shape = layer.shape;
      conv.shape.n = options_.micro_batch;
      conv.plan = kernels::plan_conv(table_, conv.shape, options_.conv);
      conv.shape.n = 0;
      packed += forward_size(conv) + backward_data_size(conv);
      finish_workspace_ =
          std::max(finish_workspace_, conv.plan.backward_weights->workspace_size(conv.shape));
    }
    own_weights_ = packed * sizeof(T) <= kOwnWeights;
    for (const auto& worker : workers_) {
      worker->convs = convs;
      for (std::size_t c = 0; c < convs.size(); ++c) {
        PreparedConv<T>& conv = worker->convs[c];
        const bool own = own_weights_ || worker == workers_.front();
        const PreparedConv<T>& shared = workers_.front()->convs[c];
        conv.forward = own ? zeros(forward_size(conv)) : shared.forward;
        conv.backward_data = own ? zeros(backward_data_size(conv)) : shared.backward_data;
        if (const Index sum = conv.plan.backward_weights->sum_size(conv.shape); sum > 0)
          conv.gradient_sum = zeros(static_cast<std::size_t>(sum));
      }
    }
  }

  static std::size_t forward_size(const PreparedConv<T>& conv) {
    return static_cast<std::size_t>(conv.plan.forward->prepared_size(conv.shape));
  }
  static std::size_t backward_data_size(const PreparedConv<T>& conv) {
    return static_cast<std::size_t>(conv.plan.backward_data->prepared_size(conv.shape));
  }

  /// Packs one convolution's weights for the kernels that read them.
  void prepare(Worker<T>& worker, std::size_t conv_number) {
    const PreparedConv<T>& conv = worker.convs[conv_number];
    const T* weights = values_ + conv_parameter(conv_number).offset;
    conv.plan.forward->prepare(conv.shape, weights, const_cast<T*>(conv.forward));
    conv.plan.backward_data->prepare(conv.shape, weights, const_cast<T*>(conv.backward_data));
  }

  void prepare_all() {
    for (std::size_t w = 0; w < (own_weights_ ? workers_.size() : 1); ++w)
      for (std::size_t c = 0; c < model_->convolutions().size(); ++c) prepare(*workers_[w], c);
  }

  const Parameter& conv_parameter(std::size_t conv_number) const {
    return model_
        ->parameters()[static_cast<std::size_t>(model_->convolutions()[conv_number].parameter)];
  }

  /// Parameter leaves, the images [first, first + count) and the logits, on a cleared tape.
  Var forward(const BatchSource& batch, Index first, Index count, Tape& tape, Worker<T>& worker,
              Index lane, NormProbe* probe = nullptr, BufferSink* sink = nullptr) {
    tape.clear();
    std::size_t next_conv = 0;
    for (std::size_t i = 0; i < model_->parameters().size(); ++i) {
      const Parameter& parameter = model_->parameters()[i];
      const bool is_conv = next_conv < worker.convs.size() &&
                           model_->convolutions()[next_conv].parameter == static_cast<int>(i);
      const void* prepared = is_conv ? &worker.convs[next_conv++] : nullptr;
      tape.leaf(parameter.shape, values_ + parameter.offset,
                gradients_[static_cast<std::size_t>(lane)] + parameter.offset, prepared);
    }
    constexpr Index kSide = 32, kChannels = 3, kImage = kSide * kSide * kChannels;
    T* images = tape.arena().template allocate_array<T>(static_cast<std::size_t>(count * kImage));
    worker.labels.resize(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i) {
      batch.image(first + i, options_.dtype, images + i * kImage);
      worker.labels[static_cast<std::size_t>(i)] = batch.label(first + i);
    }
    for (const Parameter& buffer : model_->buffers())
      tape.leaf(buffer.shape, buffers_ + buffer.offset, nullptr);
    const Var input = tape.leaf(Shape{count, kSide, kSide, kChannels}, images, nullptr);
    const bool composed = options_.composed_norms || probe != nullptr;
    return model_->forward({.tape = tape,
                            .training = tape.recording(),
                            .composed = composed,
                            .probe = probe,
                            .parameters = static_cast<int>(model_->parameters().size()),
                            .sink = sink},
                           input);
  }

  /// The losses [count] of logits, and their tally.
  std::pair<Var, Tally> tally(Tape& tape, const Var& logits, const Worker<T>& worker) {
    const Var losses = softmax_cross_entropy(logits, worker.labels);
    Tally result;
    const T* loss = tape.data<T>(losses);
    for (Index i = 0; i < losses.shape().size(); ++i) result.loss += static_cast<double>(loss[i]);
    result.correct = count_correct(tape.data<T>(logits), logits.shape()[0], logits.shape()[1],
                                   worker.labels.data());
    return {losses, result};
  }

  /// Takes the first images forward and backward, on this thread and a tape of its own. It spoils
  /// the gradient of lane 0, which is cleared before each step's.
  std::vector<NormDiagnostics> observe_norms(const BatchSource& batch) {
    if (observation_ == nullptr) {
      observation_ = std::make_unique<Worker<T>>(options_.dtype, options_.kernels);
      observation_->convs = workers_.front()->convs;
    }
    const kernels::FlushSubnormals flush;
    NormObserver<T> observer(*model_);
    Tape& tape = observation_->training;
    tape.set_observer(&observer);
    const Index images =
        model_->batch_statistics() ? batch.size : std::min(kDiagnosticImages, batch.size);
    for (Index first = 0; first < images; first += options_.micro_batch) {
      const Var logits = forward(batch, first, std::min(options_.micro_batch, images - first), tape,
                                 *observation_, /*lane=*/0, &observer);
      tape.backward(sum(tally(tape, logits, *observation_).first),
                    1.0 / static_cast<double>(images));
    }
    return observer.result(values_);
  }

  /// Of the gradient that add_lanes left and the weights it is of.
  std::vector<LayerDiagnostics> measure_layers(double lr) const {
    struct Squares {
      double gradient = 0, weights = 0;
      bool scale_invariant = false;
    };
    std::vector<Squares> layers;
    std::string name;
    const auto& parameters = model_->parameters();
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      if (const std::string own = layer_of(parameters[p]); layers.empty() || own != name) {
        layers.emplace_back();
        name = own;
      }
      layers.back().gradient += squares_[p];
      layers.back().weights +=
          table_.sum_of_squares(parameters[p].shape.size(), values_ + parameters[p].offset);
      for (const ConvLayer& conv : model_->convolutions())
        if (conv.parameter == static_cast<int>(p))
          layers.back().scale_invariant = conv.scale_invariant;
    }
    std::vector<LayerDiagnostics> result;
    for (const Squares& layer : layers) {
      LayerDiagnostics& own = result.emplace_back();
      own.grad_norm = std::sqrt(layer.gradient);
      own.weight_norm = std::sqrt(layer.weights);
      if (layer.scale_invariant) own.effective_lr = lr / layer.weights;
      own.relative_update = lr * own.grad_norm / own.weight_norm;
    }
    return result;
  }

  /// All micro-batches of one lane, in order: its gradient and its tally.
  void run_lane(const BatchSource& batch, Index lane, Worker<T>& worker, TapeObserver* observer) {
    const Index size = options_.micro_batch;
    const Index micro_batches = (batch.size + size - 1) / size;
    std::fill_n(gradients_[static_cast<std::size_t>(lane)], model_->block_size(), T{0});
    for (const PreparedConv<T>& conv : worker.convs)
      if (conv.gradient_sum != nullptr)
        std::fill_n(conv.gradient_sum, conv.plan.backward_weights->sum_size(conv.shape), T{0});
    Tally total;
    // Micro-batch k is of lane floor(k L / M): those with k L in [lane M, (lane + 1) M).
    const auto first_of = [&](Index l) {
      return (l * micro_batches + options_.lanes - 1) / options_.lanes;
    };
    BufferUpdates updates(*this);
    Tape& tape = worker.training;
    tape.set_observer(observer);
    for (Index k = first_of(lane); k < first_of(lane + 1); ++k) {
      const Index first = k * size;
      const Var logits =
          forward(batch, first, std::min(size, batch.size - first), tape, worker, lane,
                  /*probe=*/nullptr, &updates);
      const auto [losses, part] = tally(tape, logits, worker);
      total.add(part);
      tape.backward(sum(losses), 1.0 / static_cast<double>(batch.size));
    }
    tape.set_observer(nullptr);
    const ArenaScope scope(tape.arena());
    T* workspace =
        tape.arena().template allocate_array<T>(static_cast<std::size_t>(finish_workspace_));
    for (std::size_t c = 0; c < worker.convs.size(); ++c) {
      const PreparedConv<T>& conv = worker.convs[c];
      if (conv.gradient_sum == nullptr) continue;
      conv.plan.backward_weights->finish(
          conv.shape, conv.gradient_sum,
          gradients_[static_cast<std::size_t>(lane)] + conv_parameter(c).offset, workspace);
    }
    lane_tally_[static_cast<std::size_t>(lane)] = total;
  }

  Tally run_lanes(const BatchSource& batch) {
    PHASOR_CHECK(batch.size > 0, "[step] a batch needs at least one sample; got none");
    PHASOR_CHECK(!model_->batch_statistics() || batch.size <= options_.micro_batch,
                 "[step] a norm with batch statistics needs the batch in one micro-batch; got ",
                 batch.size, " images and a micro-batch of ", options_.micro_batch);
    std::copy_n(buffers_, model_->buffer_size(), next_buffers_);
#pragma omp parallel for schedule(static) num_threads(options_.threads)
    for (Index lane = 0; lane < options_.lanes; ++lane) {
      failures_.guard(lane, [&] {
        const kernels::FlushSubnormals flush;
        run_lane(batch, lane, *workers_[static_cast<std::size_t>(omp_get_thread_num())], nullptr);
      });
    }
    failures_.rethrow();
    Tally total;
    for (const Tally& part : lane_tally_) total.add(part);
    return total;
  }

  /// Adds the lanes' gradients, in lane order, into the first lane's; squares of each parameter.
  void add_lanes() {
    const auto& parameters = model_->parameters();
    const auto count = static_cast<Index>(parameters.size());
#pragma omp parallel for schedule(dynamic, 1) num_threads(options_.threads)
    for (Index p = 0; p < count; ++p) {
      failures_.guard(p, [&] {
        const kernels::FlushSubnormals flush;
        const Parameter& parameter = parameters[static_cast<std::size_t>(p)];
        const Index size = parameter.shape.size();
        T* total = gradients_[0] + parameter.offset;
        constexpr Index kBlock = 2048;  // stays in L1 while the lanes stream past
        for (Index at = 0; at < size; at += kBlock)
          for (std::size_t lane = 1; lane < gradients_.size(); ++lane)
            table_.add_scaled(std::min(kBlock, size - at), T{1},
                              gradients_[lane] + parameter.offset + at, total + at);
        squares_[static_cast<std::size_t>(p)] = table_.sum_of_squares(size, total);
      });
    }
    failures_.rethrow();
  }

  /// Clips, steps, and packs the new weights.
  void update(double lr, double grad_norm) {
    kernels::SgdRule rule{};
    rule.lr = lr;
    rule.momentum = options_.momentum;
    rule.dampening = options_.dampening;
    rule.nesterov = options_.nesterov;
    rule.first_step = first_step_;
    // PyTorch's clip_grad_norm_: never enlarges.
    rule.gradient_scale =
        options_.clip_norm ? std::min(1.0, *options_.clip_norm / (grad_norm + 1e-6)) : 1.0;
    const auto count = static_cast<Index>(model_->parameters().size());
    const auto copies = static_cast<Index>(workers_.size());
#pragma omp parallel num_threads(options_.threads)
    {
#pragma omp for schedule(dynamic, 1)
      for (Index p = 0; p < count; ++p) {
        failures_.guard(p, [&] { update_parameter(static_cast<std::size_t>(p), rule); });
      }
      if (own_weights_) {
#pragma omp for schedule(static, 1)
        for (Index w = 0; w < copies; ++w)
          for (std::size_t c = 0; c < model_->convolutions().size(); ++c)
            prepare(*workers_[static_cast<std::size_t>(w)], c);
      }
    }
    failures_.rethrow();
    std::copy_n(next_buffers_, model_->buffer_size(), buffers_);
    first_step_ = false;
  }

  /// Steps one parameter, and packs it where one copy serves all threads.
  void update_parameter(std::size_t number, kernels::SgdRule rule) {
    const kernels::FlushSubnormals flush;
    const Parameter& parameter = model_->parameters()[number];
    rule.weight_decay =
        parameter.role == ParameterRole::norm && !options_.wd_on_norm ? 0 : options_.weight_decay;
    table_.sgd(parameter.shape.size(), rule, gradients_[0] + parameter.offset,
               values_ + parameter.offset,
               momentum_ == nullptr ? nullptr : momentum_ + parameter.offset);
    if (own_weights_) return;
    for (std::size_t c = 0; c < model_->convolutions().size(); ++c)
      if (model_->convolutions()[c].parameter == static_cast<int>(number))
        prepare(*workers_.front(), c);
  }

  std::shared_ptr<const Model> model_;
  TrainerOptions options_;
  const kernels::Table<T>& table_;
  Arena memory_;
  T* values_ = nullptr;
  T* momentum_ = nullptr;
  T* buffers_ = nullptr;       // of the norms, as this step sees them
  T* next_buffers_ = nullptr;  // as the next one will
  bool first_step_ = true;
  std::vector<T*> gradients_;  // by lane
  bool own_weights_ = false;   // every worker has a packed copy; else the first one's serves all
  Index finish_workspace_ = 1;
  std::vector<std::unique_ptr<Worker<T>>> workers_;  // by thread
  std::unique_ptr<Worker<T>> observation_;           // for diagnostics; null until the first
  Failures failures_;
  std::vector<Tally> lane_tally_, evaluation_;
  std::vector<double> squares_;  // by parameter
};

}  // namespace

std::unique_ptr<Trainer> make_trainer(std::shared_ptr<const Model> model,
                                      const TrainerOptions& options) {
  PHASOR_CHECK(options.lanes >= 1 && options.micro_batch >= 1 && options.threads >= 1,
               "[trainer] lanes, micro-batch and threads are at least 1; got ", options.lanes, ", ",
               options.micro_batch, " and ", options.threads);
  return dispatch(options.dtype, [&](auto zero) -> std::unique_ptr<Trainer> {
    return std::make_unique<LaneTrainer<decltype(zero)>>(std::move(model), options);
  });
}

}  // namespace phasor
