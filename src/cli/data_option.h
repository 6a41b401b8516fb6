// --data DIR: which data set lies in a folder.
#pragma once

#include <string>
#include <vector>

#include "config/setting.h"

namespace phasor {

/// The settings of data.kind and data.path for a folder, by what it holds: train.bin or test.bin
/// (CIFAR-100, or synthetic where make-data left its manifest.json), or data_batch_1.bin
/// (CIFAR-10). A folder that holds one of these folders in their usual names stands for it. A data
/// error where there is none.
std::vector<Setting> data_settings(const std::string& folder);

}  // namespace phasor
