// exp, log and angles from + - * / and sqrt alone: the C library's differ between processors, and
// results must not.
#pragma once

namespace phasor {

/// e^x, relative error below 3e-16; 0 below -745.2, infinity above 709.8, NaN for NaN.
double portable_exp(double x);

/// Natural logarithm, relative error below 3e-16 away from 1, absolute below 1e-16 near it.
/// -infinity at 0, NaN below it and for NaN.
double portable_log(double x);

/// The angle of the point (x, y), y >= 0, against the x axis: in [0, pi], absolute error below
/// 1e-15 where x^2 + y^2 is a normal number. NaN at the origin.
double portable_angle(double x, double y);

}  // namespace phasor
