#include "claims/print.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "check/inputs.h"
#include "config/json_text.h"
#include "phasor/error.h"

namespace phasor::claims {
namespace {

using nlohmann::json;

constexpr std::size_t kColumns = 100;

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, text.size()), ' ');
}

std::string to_the_right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

/// `first` before the first line, as many spaces before the others.
std::string wrapped(const std::string& first, const std::string& text) {
  const std::string indent(first.size(), ' ');
  std::string out, line = first;
  bool empty = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!empty && line.size() + 1 + word.size() > kColumns) {
      out += line + '\n';
      line = indent;
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
    at = end + 1;
  }
  return out + line + '\n';
}

/// Whole numbers in full; else six digits, or two for what only has to stay below a bound.
std::string short_text(const Measurement& number, double value) {
  if (std::fabs(value) < 1e9 && std::nearbyint(value) == value) return number_text(value);
  if (!number.is_bound()) return check::short_number(value);
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 2);
  return {text, end.ptr};
}

std::string predicted_text(const Measurement& number) {
  return concat(number.is_bound() ? "<= " : "", short_text(number, number.predicted));
}

std::string numbers_text(const std::vector<Measurement>& numbers) {
  if (numbers.empty()) return "";
  std::size_t what = 0, predicted = 9, measured = 8;
  for (const Measurement& number : numbers) {
    what = std::max(what, number.what.size());
    predicted = std::max(predicted, predicted_text(number).size());
    measured = std::max(measured, short_text(number, number.measured).size());
  }
  const auto row = [&](const std::string& a, const std::string& b, const std::string& c,
                       const std::string& d) {
    return concat("      ", padded(a, what), "  ", to_the_right(b, predicted), "  ",
                  to_the_right(c, measured), "  ", d, "\n");
  };
  std::string out = row("", "predicted", "measured", "predicted from");
  for (const Measurement& number : numbers) {
    out += row(number.what, predicted_text(number), short_text(number, number.measured),
               number.source);
    if (!number.passed())
      out += concat("      ^ OUTSIDE [", check::short_number(number.low), ", ",
                    check::short_number(number.high), "]\n");
  }
  return out;
}

std::string claim_text(const Claim& claim) {
  std::string out = wrapped(padded(claim.id, 6), claim.statement);
  const bool under = claim.verdict == Verdict::holds_under;
  out += wrapped("      => ",
                 verdict_text(claim) +
                     (under || claim.condition.empty() ? "" : concat(". ", claim.condition)));
  out += wrapped("      input: ", claim.input);
  return out + numbers_text(claim.numbers);
}

const char* short_verdict(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "holds";
    case Verdict::holds_under:
      return "holds under conditions";
    case Verdict::does_not_hold:
      return "does not hold";
    case Verdict::open:
      break;
  }
  return "open";
}

std::string summary_line(const Claim& claim) {
  const auto within = std::count_if(claim.numbers.begin(), claim.numbers.end(),
                                    [](const Measurement& number) { return number.passed(); });
  const std::string numbers =
      claim.numbers.empty() ? "-"
                            : std::to_string(within) + "/" + std::to_string(claim.numbers.size());
  std::string line = padded(claim.id, 6) + padded(short_verdict(claim.verdict), 24) +
                     to_the_right(numbers, 7) + "  " + claim.statement;
  if (line.size() > kColumns) line = line.substr(0, line.rfind(' ', kColumns - 4)) + " ...";
  return line + "\n";
}

void put(json& object, const std::string& name, double value) {
  if (std::isfinite(value)) {
    object[name] = value;
    return;
  }
  object[name] = nullptr;
  object[name + "_kind"] = std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

json claim_document(const Claim& claim) {
  json numbers = json::array();
  for (const Measurement& number : claim.numbers) {
    json one = {{"what", number.what}, {"source", number.source}, {"passed", number.passed()}};
    put(one, "predicted", number.predicted);
    put(one, "low", number.low);
    put(one, "high", number.high);
    put(one, "measured", number.measured);
    numbers.push_back(std::move(one));
  }
  constexpr const char* kNames[] = {"holds", "holds under", "does not hold", "open"};
  return {{"id", claim.id},
          {"claim", claim.statement},
          {"verdict", kNames[static_cast<int>(claim.verdict)]},
          {"condition", claim.condition},
          {"input", claim.input},
          {"passed", claim.passed()},
          {"numbers", std::move(numbers)}};
}

bool all_passed(const std::vector<Claim>& claims) {
  return std::all_of(claims.begin(), claims.end(), [](const Claim& c) { return c.passed(); });
}

}  // namespace

std::string ledger_text(const std::vector<Claim>& claims) {
  std::string out;
  std::size_t numbers = 0, outside = 0;
  for (const Claim& claim : claims) {
    out += claim_text(claim) + "\n";
    numbers += claim.numbers.size();
    for (const Measurement& number : claim.numbers) outside += number.passed() ? 0 : 1;
  }
  out += padded("claim", 6) + padded("verdict", 24) + to_the_right("in band", 7) + "\n";
  for (const Claim& claim : claims) out += summary_line(claim);
  out += concat("\n", numbers, " numbers measured, ",
                outside == 0 ? "all" : std::to_string(numbers - outside), " within their bands",
                outside == 0 ? "" : concat("; ", outside, " OUTSIDE"), "\n");
  return out;
}

std::string ledger_json(const std::vector<Claim>& claims) {
  json list = json::array();
  for (const Claim& claim : claims) list.push_back(claim_document(claim));
  return write_json({{"passed", all_passed(claims)}, {"claims", std::move(list)}}, 2) + "\n";
}

}  // namespace phasor::claims
