#pragma once

// Where Volta's registers hold the elements of wmma's m16n16k16 in f16, written from what was published of a V100 and a Titan V
// (wmma_extension's sm_70.hpp; GPGPU-Sim's instructions.cc; for B the former): by the number of an element in a lane, low halves first.

namespace oracle {

struct Coordinates {
  int row, column;
  friend bool operator==(const Coordinates&, const Coordinates&) = default;
};

namespace volta {

inline int four_of_lane(int lane) {
  return lane / 16 * 4;  // the upper lanes have the other four of eight
}
inline int eight_by_second(int lane) {
  return lane / 4 % 2 * 8;
}
inline int eight_by_third(int lane) {
  return lane / 8 % 2 * 8;
}

/// `x` from 0 to 15.
inline Coordinates a(bool column_major, int lane, int x) {
  const int first = four_of_lane(lane) + eight_by_second(lane);
  return column_major ? Coordinates{first + x % 4, lane % 4 + x / 4 * 4} : Coordinates{first + lane % 4, x};
}
inline Coordinates b(bool column_major, int lane, int x) {
  const int first = four_of_lane(lane) + eight_by_third(lane);
  return column_major ? Coordinates{x, first + lane % 4} : Coordinates{lane % 4 + x / 4 * 4, first + x % 4};
}

/// C and D; `x` from 0 to 7.
inline Coordinates sum_f16(int lane, int x) {
  return {lane % 4 + four_of_lane(lane) + eight_by_second(lane), x + eight_by_third(lane)};
}
inline Coordinates sum_f32(int lane, int x) {
  return {lane % 2 + x / 2 % 2 * 2 + four_of_lane(lane) + eight_by_second(lane),
          lane / 2 % 2 * 2 + x % 2 + x / 4 * 4 + eight_by_third(lane)};
}

}  // namespace volta
}  // namespace oracle
