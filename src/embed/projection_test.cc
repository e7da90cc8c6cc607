#include "embed/projection.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/sha256.h"
#include "embed/signs.h"

namespace afterimage {
namespace {

using Vector = std::vector<float>;

// Values in -1 to 1.
Vector Random(size_t dim, uint64_t seed) {
  Signs words(seed);
  Vector vector(dim);
  for (float& value : vector) value = static_cast<float>(static_cast<double>(words.NextWord()) / 0x1p63 - 1);
  return vector;
}

// `part` of a in the place of as much of b.
Vector Mixed(const Vector& a, const Vector& b, float part) {
  Vector mixed(a.size());
  for (size_t i = 0; i < a.size(); ++i) mixed[i] = part * a[i] + (1 - part) * b[i];
  return mixed;
}

double Dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

double Cosine(const Vector& a, const Vector& b) { return Dot(a, b) / std::sqrt(Dot(a, a) * Dot(b, b)); }

TEST(ProjectionTest, CosinesAreNearlyKept) {
  for (const int to : {128, 384, 1024}) {
    const Projection projection("test/1", 512, to);
    const double tolerance = 4 / std::sqrt(to);
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const Vector a = Random(512, seed);
      for (const float part : {0.0f, 0.3f, 0.7f}) {
        const Vector b = Mixed(a, Random(512, seed + 1000), part);
        const double cosine = Cosine(a, b);
        const double projected = Cosine(projection.Apply(a), projection.Apply(b));
        EXPECT_NEAR(projected, cosine, tolerance * (1 - cosine * cosine)) << to << " " << seed;
      }
    }
  }
}

TEST(ProjectionTest, VectorsThatAreAlikeStayAlike) {
  const Projection projection("test/1", 512, 128);
  const Vector a = Random(512, 1);
  const Vector b = Mixed(a, Random(512, 2), 0.95f);
  ASSERT_GT(Cosine(a, b), 0.99);
  EXPECT_NEAR(Cosine(projection.Apply(a), projection.Apply(b)), Cosine(a, b), 0.002);
}

TEST(ProjectionTest, TheLengthIsNearlyKept) {
  const Vector a = Random(512, 1);
  const Vector projected = Projection("test/1", 512, 256).Apply(a);
  EXPECT_NEAR(std::sqrt(Dot(projected, projected) / Dot(a, a)), 1, 0.2);
}

TEST(ProjectionTest, OtherIdentitiesAndDimensionsHaveOtherSigns) {
  const Vector a = Random(512, 1);
  const Vector projected = Projection("test/1", 512, 64).Apply(a);
  EXPECT_EQ(Projection("test/1", 512, 64).Apply(a), projected);
  EXPECT_LT(std::abs(Cosine(Projection("test/2", 512, 64).Apply(a), projected)), 0.6);
  Vector longer = Projection("test/1", 512, 65).Apply(a);
  longer.pop_back();
  EXPECT_LT(std::abs(Cosine(longer, projected)), 0.6);
}

// Projected vectors are stored: with other bits they need another identity. (The digest was also had from a second
// program, written for that purpose.)
TEST(ProjectionTest, TheSignsOfVersionOneStayWhatTheyAre) {
  const Vector projected = Projection("test/1", 100, 32).Apply(Random(100, 1));
  EXPECT_EQ(Sha256().Add(std::span<const float>(projected)).Finish().Short(), "0c25429bed9c");
}

}  // namespace
}  // namespace afterimage
