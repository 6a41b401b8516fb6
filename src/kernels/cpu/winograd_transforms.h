// The one-dimensional transforms of F(4, 3) and F(2, 3), each one written sequence of operations,
// and how they are applied to the rows and columns of a tile. Derivation: ../WINOGRAD.md.
//
// A transform's results come in groups that share terms. A two-dimensional transform first computes
// one group of columns for all rows, then finishes these columns: at most two columns (12 values)
// are held at a time, and nothing goes through the stack.
#pragma once

#include "kernels/cpu/winograd_part.h"

namespace phasor::kernels::PHASOR_ISA {

/// F(4, 3): four outputs from six points 0, +-a, +-b, infinity with a = 1/sqrt(2), b = sqrt(2).
/// The columns of +-a are doubled in A and halved in G.
struct F4 {
  static constexpr int kSide = 4, kPoints = 6;
  static constexpr float kA = 0x1.6a09e6p-1f, kB = 0x1.6a09e6p0f;

  static constexpr int kInputGroups = 4, kOutputGroups = 2, kGradientGroups = 4;
  static constexpr int input_group(int result) {
    return result == 0 ? 2 : result == 5 ? 3 : (result - 1) / 2;
  }
  static constexpr int output_group(int result) { return result % 2; }

  /// t = B^T d
  template <int group>
  static PHASOR_INLINE void input(const Part* d, Part* t) {
    if constexpr (group == 0) {
      const Part even = fnma(2.0f, d[2], d[4]), odd = kA * fnma(2.0f, d[1], d[3]);
      t[1] = even + odd;
      t[2] = even - odd;
    } else if constexpr (group == 1) {
      const Part even = fnma(0.5f, d[2], d[4]), odd = kB * fnma(0.5f, d[1], d[3]);
      t[3] = even + odd;
      t[4] = even - odd;
    } else if constexpr (group == 2) {
      t[0] = fnma(2.5f, d[2], d[0] + d[4]);
    } else {
      t[5] = fnma(2.5f, d[3], d[1] + d[5]);
    }
  }

  /// y = A^T m
  template <int group>
  static PHASOR_INLINE void output(const Part* m, Part* y) {
    if constexpr (group == 0) {
      const Part a = m[1] + m[2], b = m[3] + m[4];
      y[0] = fma(2.0f, a, m[0] + b);
      y[2] = fma(2.0f, b, a);
    } else {
      const Part a = m[1] - m[2], b = m[3] - m[4];
      y[1] = kB * (a + b);
      y[3] = fma(2 * kB, b, fma(kA, a, m[5]));
    }
  }

  /// t = A y
  template <int group>
  static PHASOR_INLINE void gradient(const Part* y, Part* t) {
    if constexpr (group == 0) {
      const Part even = fma(2.0f, y[0], y[2]), odd = kB * fma(0.5f, y[3], y[1]);
      t[1] = even + odd;
      t[2] = even - odd;
    } else if constexpr (group == 1) {
      const Part even = fma(2.0f, y[2], y[0]), odd = kB * fma(2.0f, y[3], y[1]);
      t[3] = even + odd;
      t[4] = even - odd;
    } else if constexpr (group == 2) {
      t[0] = y[0];
    } else {
      t[5] = y[3];
    }
  }

  /// t = G g
  static PHASOR_INLINE void weights(const Part* g, Part* t) {
    const Part a = fma(0.5f, g[2], g[0]), b = fma(2.0f, g[2], g[0]);
    t[0] = g[0];
    t[1] = (-1.0f / 3) * fma(kA, g[1], a);
    t[2] = (-1.0f / 3) * fnma(kA, g[1], a);
    t[3] = (1.0f / 6) * fma(kB, g[1], b);
    t[4] = (1.0f / 6) * fnma(kB, g[1], b);
    t[5] = g[2];
  }

  /// g = G^T t
  static PHASOR_INLINE void weights_back(const Part* t, Part* g) {
    const Part a = t[1] + t[2], b = t[3] + t[4];
    g[0] = fma(1.0f / 6, b, fnma(1.0f / 3, a, t[0]));
    g[1] = (kB / 6) * ((t[3] - t[4]) - (t[1] - t[2]));
    g[2] = fma(1.0f / 3, b, fnma(1.0f / 6, a, t[5]));
  }
};

/// F(2, 3): two outputs from four points 0, 1, -1, infinity.
struct F2 {
  static constexpr int kSide = 2, kPoints = 4;

  static constexpr int kInputGroups = 3, kOutputGroups = 2;
  static constexpr int input_group(int result) { return result == 0 ? 1 : result == 3 ? 2 : 0; }
  static constexpr int output_group(int result) { return result; }

  template <int group>
  static PHASOR_INLINE void input(const Part* d, Part* t) {
    if constexpr (group == 0) {
      t[1] = d[1] + d[2];
      t[2] = d[2] - d[1];
    } else if constexpr (group == 1) {
      t[0] = d[0] - d[2];
    } else {
      t[3] = d[3] - d[1];
    }
  }

  template <int group>
  static PHASOR_INLINE void output(const Part* m, Part* y) {
    if constexpr (group == 0) {
      y[0] = m[0] + (m[1] + m[2]);
    } else {
      y[1] = m[3] + (m[1] - m[2]);
    }
  }

  static PHASOR_INLINE void weights(const Part* g, Part* t) {
    const Part even = g[0] + g[2];
    t[0] = g[0];
    t[1] = 0.5f * (even + g[1]);
    t[2] = 0.5f * (even - g[1]);
    t[3] = g[2];
  }
};

/// Where a tile's input is: `rows[i]` points to row i at the tile's first column, columns lie
/// `step` floats apart; a row outside the image is a line of zeros.
struct Patch {
  const float* rows[6];
  Index step;
};

/// B^T d B for one part of sixteen channels at offset `channel`; position p is stored at
/// out + p * stride. With `masked`, only the lanes of mask[j] are read of column j.
template <class F, bool masked, int stride>
PHASOR_INLINE void transform_input(const Patch& patch, Index channel, const Mask* masks,
                                   float* out) {
  constexpr int points = F::kPoints;
  Mask mask[points] = {};
  if constexpr (masked) {
    unroll<points>([&](auto j) PHASOR_INLINE_LAMBDA { mask[j] = in_register(masks[j]); });
  }
  unroll<F::kInputGroups>([&](auto group) PHASOR_INLINE_LAMBDA {
    constexpr int g = decltype(group)::at;
    Part columns[points][points];
    unroll<points>([&](auto i) PHASOR_INLINE_LAMBDA {
      const float* row = patch.rows[i] + channel;
      Part d[points], t[points];
      unroll<points>([&](auto j) PHASOR_INLINE_LAMBDA {
        if constexpr (masked) {
          d[j] = part_load(row + j * patch.step, mask[j]);
        } else {
          d[j] = part_load(row + j * patch.step);
        }
      });
      F::template input<g>(d, t);
      unroll<points>([&](auto j) PHASOR_INLINE_LAMBDA {
        if constexpr (F::input_group(decltype(j)::at) == g) columns[j][i] = t[j];
      });
    });
    unroll<points>([&](auto j) PHASOR_INLINE_LAMBDA {
      if constexpr (F::input_group(decltype(j)::at) == g) {
        Part t[points];
        unroll<F::kInputGroups>([&](auto k) PHASOR_INLINE_LAMBDA {
          F::template input<decltype(k)::at>(columns[j], t);
        });
        unroll<points>([&](auto i)
                           PHASOR_INLINE_LAMBDA { store(out + (i * points + j) * stride, t[i]); });
      }
    });
  });
}

/// A dy A^T in the same way: what the weight gradient multiplies with the transformed input.
template <class F, bool masked, int stride>
PHASOR_INLINE void transform_gradient(const Patch& patch, Index channel, const Mask* mask,
                                      float* out) {
  constexpr int points = F::kPoints, side = F::kSide;
  unroll<F::kGradientGroups>([&](auto group) PHASOR_INLINE_LAMBDA {
    constexpr int g = decltype(group)::at;
    Part columns[points][side];
    unroll<side>([&](auto i) PHASOR_INLINE_LAMBDA {
      const float* row = patch.rows[i] + channel;
      Part y[side], t[points];
      unroll<side>([&](auto j) PHASOR_INLINE_LAMBDA {
        if constexpr (masked) {
          y[j] = part_load(row + j * patch.step, mask[j]);
        } else {
          y[j] = part_load(row + j * patch.step);
        }
      });
      F::template gradient<g>(y, t);
      unroll<points>([&](auto j) PHASOR_INLINE_LAMBDA {
        if constexpr (F::input_group(decltype(j)::at) == g) columns[j][i] = t[j];
      });
    });
    unroll<points>([&](auto j) PHASOR_INLINE_LAMBDA {
      if constexpr (F::input_group(decltype(j)::at) == g) {
        Part t[points];
        unroll<F::kGradientGroups>([&](auto k) PHASOR_INLINE_LAMBDA {
          F::template gradient<decltype(k)::at>(columns[j], t);
        });
        unroll<points>([&](auto i)
                           PHASOR_INLINE_LAMBDA { store(out + (i * points + j) * stride, t[i]); });
      }
    });
  });
}

/// A^T m A for one part of sixteen channels; put(i, j, value) takes the output of row i, column j.
template <class F, int stride, class Put>
PHASOR_INLINE void transform_output(const float* m, Put put) {
  constexpr int points = F::kPoints, side = F::kSide;
  unroll<F::kOutputGroups>([&](auto group) PHASOR_INLINE_LAMBDA {
    constexpr int g = decltype(group)::at;
    Part columns[side][points];
    unroll<points>([&](auto i) PHASOR_INLINE_LAMBDA {
      Part row[points], y[side];
      unroll<points>(
          [&](auto j) PHASOR_INLINE_LAMBDA { row[j] = part_load(m + (i * points + j) * stride); });
      F::template output<g>(row, y);
      unroll<side>([&](auto j) PHASOR_INLINE_LAMBDA {
        if constexpr (F::output_group(decltype(j)::at) == g) columns[j][i] = y[j];
      });
    });
    unroll<side>([&](auto j) PHASOR_INLINE_LAMBDA {
      if constexpr (F::output_group(decltype(j)::at) == g) {
        Part y[side];
        unroll<F::kOutputGroups>([&](auto k) PHASOR_INLINE_LAMBDA {
          F::template output<decltype(k)::at>(columns[j], y);
        });
        unroll<side>([&](auto i) PHASOR_INLINE_LAMBDA { put(i, j, y[i]); });
      }
    });
  });
}

/// G g G^T for one part: `g` holds 3 x 3 values, position p is stored at out + p * stride.
template <class F>
PHASOR_INLINE void transform_weights(const Part* g, float* out, Index stride) {
  constexpr int points = F::kPoints;
  Part columns[3][points];
  unroll<3>([&](auto j) PHASOR_INLINE_LAMBDA {
    const Part column[3] = {g[j], g[3 + j], g[6 + j]};
    F::weights(column, columns[j]);
  });
  unroll<points>([&](auto i) PHASOR_INLINE_LAMBDA {
    const Part row[3] = {columns[0][i], columns[1][i], columns[2][i]};
    Part t[points];
    F::weights(row, t);
    unroll<points>([&](auto j)
                       PHASOR_INLINE_LAMBDA { store(out + (i * points + j) * stride, t[j]); });
  });
}

/// G^T t G for one part; put(i, j, value) takes the gradient of tap (i, j).
template <class F, int stride, class Put>
PHASOR_INLINE void transform_weights_back(const float* t, Put put) {
  constexpr int points = F::kPoints;
  Part columns[3][points];
  unroll<points>([&](auto i) PHASOR_INLINE_LAMBDA {
    Part row[points], g[3];
    unroll<points>([&](auto j)
                       PHASOR_INLINE_LAMBDA { row[j] = part_load(t + (i * points + j) * stride); });
    F::weights_back(row, g);
    unroll<3>([&](auto j) PHASOR_INLINE_LAMBDA { columns[j][i] = g[j]; });
  });
  unroll<3>([&](auto j) PHASOR_INLINE_LAMBDA {
    Part g[3];
    F::weights_back(columns[j], g);
    unroll<3>([&](auto i) PHASOR_INLINE_LAMBDA { put(i, j, g[i]); });
  });
}

}  // namespace phasor::kernels::PHASOR_ISA
