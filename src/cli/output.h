// Results on stdout, checked: a full disk must not look like success.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace phasor {

/// Fills the numbers of standard streams that the caller closed, so that no file opened later gets
/// one and is written into. Writing to such a stream still fails. Call it before all else.
void hold_standard_streams();

/// Writes to stdout and flushes; an I/O error with its cause where that fails.
void write_out(std::string_view text);

/// Rows as aligned columns, the first row as heading; cells that look like numbers to the right.
std::string align_columns(const std::vector<std::vector<std::string>>& rows);

/// 1234567.8 as "1,234,568".
std::string grouped(double value);
/// With `digits` decimals, in the classic locale; "-" where it is not finite.
std::string fixed(double value, int digits);
/// Seconds as "45s", "12m", "3h05m".
std::string duration_text(double seconds);

}  // namespace phasor
