#include "sweep/scheduler.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <new>
#include <thread>

#include "sweep/claim.h"
#include "sweep/engine.h"
#include "sweep/environment.h"
#include "train/checkpoint.h"

namespace phasor {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kPoll{100};      // for signals and the clock
constexpr std::chrono::milliseconds kHeldPoll{500};  // for cells that others hold

class Scheduler {
 public:
  Scheduler(const Plan& plan, const SweepOptions& options, StopRequest& stop,
            SweepObserver& observer)
      : plan_(plan), options_(options), stop_(stop), observer_(observer) {
    for (const std::size_t number : options.cells) {
      const PlannedCell& cell = plan.cells[number];
      if (finished_cell(options.folder, cell.id)) {
        // An owner that was paused in a rotation and woke after the end leaves this behind.
        std::error_code ignored;
        std::filesystem::remove(previous_checkpoint(options.folder.cell(cell.id)), ignored);
        ++outcome_.finished;
      } else {
        queue_.push_back(&cell);
      }
    }
    std::stable_sort(queue_.begin(), queue_.end(), [](const auto* a, const auto* b) {
      return total_flops(*a) > total_flops(*b);
    });
    count_ = queue_.size();
    cores_ = usable_cores();
    jobs_ = options.jobs;
    if (jobs_ <= 0) jobs_ = options.threads > 0 ? std::max(1, cores_ / options.threads) : cores_;
    jobs_ = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(jobs_), count_));
  }

  SweepOutcome run() {
    observer_.on_begin({queue_.begin(), queue_.end()}, outcome_.finished);
    std::vector<std::thread> workers;
    start(workers);
    {
      std::unique_lock lock(mutex_);
      while (working_ > 0) {
        changed_.wait_for(lock, kPoll);
        if (options_.deadline && std::chrono::steady_clock::now() >= *options_.deadline) {
          stop_.time_up = true;
        }
        tell_stopping();
      }
    }
    for (std::thread& worker : workers) worker.join();
    outcome_.unfinished += queue_.size();
    return outcome_;
  }

 private:
  struct Taken {
    const PlannedCell* cell;
    Claim claim;
    int threads;
  };

  /// Starts as many of the jobs as the system has threads for.
  void start(std::vector<std::thread>& workers) {
    workers.reserve(static_cast<std::size_t>(jobs_));
    const std::lock_guard lock(mutex_);
    for (; working_ < jobs_; ++working_) {
      try {
        workers.emplace_back([this] { work(); });
      } catch (const std::exception& error) {  // of the system, or no memory
        const std::string text = concat("[sweep] cannot start a thread; got ", error.what());
        if (workers.empty()) fail(ErrorKind::io, text, "; a higher memory or process limit helps");
        observer_.on_notice(concat(text, "; going on with ", working_, " jobs"));
        return;
      }
    }
  }

  /// Says, once, why nothing seems to happen: a step of a large network takes seconds.
  void tell_stopping() {
    if (told_stopping_ || !stop_.any() || working_ == 0) return;
    told_stopping_ = true;
    observer_.on_notice(stop_.signal.load() != 0
                            ? "stopping: finishing the step and saving; once more ends at once"
                            : "time is up: finishing the step and saving");
  }

  void work() {
    while (!stop_.any()) {
      std::optional<Taken> taken = try_take();
      if (taken) {
        run_one(*taken);
        continue;
      }
      if (nothing_left()) break;
      for (auto slept = kPoll; slept < kHeldPoll && !stop_.any(); slept += kPoll) {
        std::this_thread::sleep_for(kPoll);
      }
    }
    const std::lock_guard lock(mutex_);
    --working_;
    changed_.notify_all();
  }

  /// take(); where the folder cannot be used any more, nothing, and the queue is given up.
  std::optional<Taken> try_take() {
    try {
      return take();
    } catch (const std::exception& error) {
      observer_.on_notice(error.what());
      const std::lock_guard lock(mutex_);
      outcome_.io_failed = true;
      outcome_.unfinished += queue_.size();
      queue_.clear();
      return std::nullopt;
    }
  }

  bool nothing_left() {
    const std::lock_guard lock(mutex_);
    return queue_.empty();
  }

  /// The next cell that nobody holds; drops those that others have finished meanwhile.
  std::optional<Taken> take() {
    const std::lock_guard lock(mutex_);
    for (auto at = queue_.begin(); at != queue_.end();) {
      const PlannedCell* cell = *at;
      const std::filesystem::path folder = options_.folder.cell(cell->id);
      make_folders(folder);
      std::optional<Claim> claim = Claim::take(folder);
      if (!claim) {
        ++at;
        continue;
      }
      at = queue_.erase(at);
      if (const std::optional<json> document = finished_cell(options_.folder, cell->id)) {
        ++outcome_.finished;
        observer_.on_end(*cell, CellState::done, *document);
        continue;
      }
      const int threads =
          options_.threads > 0 ? options_.threads : threads_for(started_, count_, jobs_, cores_);
      ++started_;
      return Taken{cell, std::move(*claim), threads};
    }
    if (!queue_.empty() && !told_waiting_) {
      told_waiting_ = true;
      const auto holder = live_holder(options_.folder.cell(queue_.front()->id));
      observer_.on_notice(concat("waiting for ", queue_.size(), " of the cells, held by ",
                                 holder.value_or("another process")));
    }
    return std::nullopt;
  }

  void run_one(Taken& taken) {
    const PlannedCell& cell = *taken.cell;
    try {
      publish(taken, CellState::running);
      const std::optional<CellResult> result = options_.run(job_of(taken));
      if (!result) {
        end(taken, CellState::interrupted);
      } else {
        end(taken, CellState::done, result);
      }
    } catch (const ClaimLost& lost) {
      give_up(cell, lost);
    } catch (const Error& error) {
      fail_cell(taken, error.what(), error.kind() == ErrorKind::io);
    } catch (const std::bad_alloc&) {
      fail_cell(taken, "[memory] out of memory; try fewer jobs or a smaller micro_batch", false);
    } catch (const std::exception& error) {
      fail_cell(taken, error.what(), false);
    }
  }

  CellJob job_of(Taken& taken) {
    const PlannedCell& cell = *taken.cell;
    CellJob job;
    job.config = cell.config;
    job.model = cell.model;
    job.trainer = trainer_options(cell.config, plan_.kernels, taken.threads);
    job.id = cell.id;
    job.folder = options_.folder.cell(cell.id);
    job.dataset = cell.dataset.get();
    job.stop = &stop_;
    job.progress = [this, &taken](const Progress& progress) {
      taken.claim.touch();
      observer_.on_progress(*taken.cell, progress);
    };
    job.say = [this](const std::string& line) { observer_.on_notice(line); };
    job.before_publish = [&taken] { taken.claim.check(); };
    return job;
  }

  json publish(Taken& taken, CellState state, const std::optional<CellResult>& result = {},
               const std::string& error = "") {
    json document = cell_document(*taken.cell, state, result, error);
    document["environment"] = environment_json(plan_.kernels);
    document["environment"]["threads"] = taken.threads;
    taken.claim.check();
    save_object(options_.folder.cell_file(taken.cell->id), document,
                [&taken] { taken.claim.check(); });
    return document;
  }

  void end(Taken& taken, CellState state, const std::optional<CellResult>& result = {}) {
    const json document = publish(taken, state, result);
    {
      const std::lock_guard lock(mutex_);
      ++(state == CellState::done ? outcome_.finished : outcome_.unfinished);
    }
    observer_.on_end(*taken.cell, state, document);
  }

  /// The cell is another process's now: wait for its result.
  void give_up(const PlannedCell& cell, const ClaimLost& lost) {
    observer_.on_notice(lost.what());
    const std::lock_guard lock(mutex_);
    queue_.push_back(&cell);
  }

  /// Records the failure; where even that cannot be written, the message still reaches the user.
  /// Whoever lost the cell has not failed: its files went with the claim.
  void fail_cell(Taken& taken, const std::string& message, bool io) noexcept {
    json document;
    try {
      document = publish(taken, CellState::failed, {}, message);
    } catch (const ClaimLost& lost) {
      return give_up(*taken.cell, lost);
    } catch (const std::exception&) {
      document = cell_document(*taken.cell, CellState::failed, {}, message);
    }
    {
      const std::lock_guard lock(mutex_);
      ++outcome_.failed;
      outcome_.io_failed = outcome_.io_failed || io;
    }
    observer_.on_end(*taken.cell, CellState::failed, document);
  }

  const Plan& plan_;
  const SweepOptions& options_;
  StopRequest& stop_;
  SweepObserver& observer_;

  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::deque<const PlannedCell*> queue_;  // neither finished nor taken by this process
  SweepOutcome outcome_;
  std::size_t count_ = 0, started_ = 0;
  int jobs_ = 1, cores_ = 1, working_ = 0;
  bool told_waiting_ = false, told_stopping_ = false;
};

}  // namespace

int threads_for(std::size_t started, std::size_t count, int jobs, int cores) {
  const std::size_t last = count % static_cast<std::size_t>(jobs);
  const bool in_last = last != 0 && started >= count - last;
  return std::max(1, cores / (in_last ? static_cast<int>(last) : jobs));
}

SweepOutcome run_sweep(const Plan& plan, const SweepOptions& options, StopRequest& stop,
                       SweepObserver& observer) {
  return Scheduler(plan, options, stop, observer).run();
}

}  // namespace phasor
