#include "index/vector_index.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <thread>

namespace afterimage {
namespace {

using Vector = std::vector<float>;
using Neighbours = std::vector<Neighbour>;

std::unique_ptr<VectorIndex> Flat(int dim) { return NewVectorIndex("flat", dim).value(); }

Vector RandomUnit(std::mt19937& random, int dim) {
  std::normal_distribution<float> normal;
  Vector vector(static_cast<size_t>(dim));
  double square = 0;
  for (float& x : vector) square += std::pow(x = normal(random), 2);
  for (float& x : vector) x /= static_cast<float>(std::sqrt(square));
  return vector;
}

// What the index must answer: all scores, sorted.
Neighbours BruteForce(const std::map<int64_t, Vector>& vectors, const Vector& query, size_t k) {
  Neighbours all;
  for (const auto& [id, vector] : vectors) {
    double sum = 0;
    for (size_t i = 0; i < vector.size(); ++i) sum += double{vector[i]} * double{query[i]};
    all.push_back({id, static_cast<float>(sum)});
  }
  std::ranges::sort(
      all, [](const Neighbour& a, const Neighbour& b) { return a.score != b.score ? a.score > b.score : a.id < b.id; });
  all.resize(std::min(k, all.size()));
  return all;
}

std::vector<int64_t> IdsOf(const Neighbours& neighbours) {
  std::vector<int64_t> ids;
  for (const Neighbour& neighbour : neighbours) ids.push_back(neighbour.id);
  return ids;
}

using Ids = std::vector<int64_t>;

TEST(VectorIndex, AnEmptyIndexFindsNothing) {
  const auto index = Flat(3);
  EXPECT_EQ(index->dim(), 3);
  EXPECT_EQ(index->size(), 0u);
  EXPECT_TRUE(index->Search(Vector{1, 2, 3}, 5).value().empty());
  EXPECT_FALSE(index->Remove(1));
}

TEST(VectorIndex, ScoresAreInnerProductsAndTheBestComesFirst) {
  const auto index = Flat(2);
  ASSERT_TRUE(index->Add(7, Vector{1, 0}).ok());
  ASSERT_TRUE(index->Add(-3, Vector{0, 4}).ok());
  ASSERT_TRUE(index->Add(int64_t{1} << 40, Vector{-1, 1}).ok());
  EXPECT_EQ(index->Search(Vector{2, 1}, 3).value(), (Neighbours{{-3, 4}, {7, 2}, {int64_t{1} << 40, -1}}));
  EXPECT_EQ(index->Search(Vector{2, 1}, 1).value(), (Neighbours{{-3, 4}}));
}

TEST(VectorIndex, MoreThanThereAreIsAllThereAre) {
  const auto index = Flat(1);
  for (int id = 0; id < 3; ++id) ASSERT_TRUE(index->Add(id, Vector{static_cast<float>(id)}).ok());
  EXPECT_EQ(IdsOf(index->Search(Vector{1}, 4).value()), (Ids{2, 1, 0}));
  EXPECT_EQ(IdsOf(index->Search(Vector{1}, std::numeric_limits<size_t>::max()).value()), (Ids{2, 1, 0}));
  EXPECT_TRUE(index->Search(Vector{1}, 0).value().empty());
}

TEST(VectorIndex, AnIdAddedAgainHasItsNewVectorOnly) {
  const auto index = Flat(2);
  ASSERT_TRUE(index->Add(1, Vector{1, 0}).ok());
  ASSERT_TRUE(index->Add(2, Vector{0, 1}).ok());
  ASSERT_TRUE(index->Add(1, Vector{0, 3}).ok());
  EXPECT_EQ(index->size(), 2u);
  EXPECT_EQ(index->Search(Vector{1, 1}, 9).value(), (Neighbours{{1, 3}, {2, 1}}));
}

TEST(VectorIndex, WhatIsRemovedIsNotFoundAndTheRestStays) {
  for (const int64_t gone : {0, 1, 2, 3}) {
    const auto index = Flat(1);
    Ids left;
    for (int id = 3; id >= 0; --id) {
      ASSERT_TRUE(index->Add(id, Vector{static_cast<float>(id)}).ok());
      if (id != gone) left.push_back(id);
    }
    EXPECT_TRUE(index->Remove(gone));
    EXPECT_FALSE(index->Remove(gone));
    EXPECT_EQ(index->size(), 3u);
    EXPECT_EQ(IdsOf(index->Search(Vector{1}, 9).value()), left) << "without " << gone;
    ASSERT_TRUE(index->Add(gone, Vector{5}).ok());
    EXPECT_EQ(index->Search(Vector{1}, 1).value(), (Neighbours{{gone, 5}}));
  }
}

TEST(VectorIndex, FindsWhatComparingAllFinds) {
  std::mt19937 random(1);
  for (const int dim : {1, 7, 64, 384, 1500}) {
    const auto index = Flat(dim);
    std::map<int64_t, Vector> vectors;
    std::uniform_int_distribution<int64_t> ids(0, 400);
    for (int step = 0; step < 1500; ++step) {
      const int64_t id = ids(random);
      if (step % 3 == 2) {
        EXPECT_EQ(index->Remove(id), vectors.erase(id) == 1);
      } else {
        vectors[id] = RandomUnit(random, dim);
        ASSERT_TRUE(index->Add(id, vectors[id]).ok());
      }
      if (step % 50 != 0) continue;
      ASSERT_EQ(index->size(), vectors.size());
      const Vector query = RandomUnit(random, dim);
      for (const size_t k : {1u, 10u, 1000u}) {
        ASSERT_EQ(index->Search(query, k).value(), BruteForce(vectors, query, k)) << dim << " " << step << " " << k;
      }
    }
  }
}

TEST(VectorIndex, OfEqualScoresTheLowerIdsAreFound) {
  std::mt19937 random(2);
  const auto index = Flat(384);
  const Vector same = RandomUnit(random, 384);
  std::map<int64_t, Vector> vectors;
  // Runs of equal vectors among others, so that they lie in blocks and at the ends of blocks.
  for (int i = 0; i < 1000; ++i) {
    const int64_t id = (i * 379) % 1000;
    vectors[id] = i % 5 == 0 ? RandomUnit(random, 384) : same;
    ASSERT_TRUE(index->Add(id, vectors[id]).ok());
  }
  for (const size_t k : {1u, 3u, 100u, 799u, 800u, 801u, 1000u}) {
    const Neighbours found = index->Search(same, k).value();
    EXPECT_EQ(found, BruteForce(vectors, same, k)) << k;
    for (size_t i = 0; i < std::min<size_t>(k, 800); ++i) EXPECT_EQ(found[i].score, found[0].score);
  }
}

TEST(VectorIndex, VectorsThatDifferByLessThanRoundingAreStillInOrder) {
  std::mt19937 random(3);
  const auto index = Flat(512);
  const Vector same = RandomUnit(random, 512);
  std::map<int64_t, Vector> vectors;
  for (int id = 0; id < 300; ++id) {
    Vector close = same;
    close[static_cast<size_t>(id)] = std::nextafter(close[static_cast<size_t>(id)], id % 2 == 0 ? 1.0f : -1.0f);
    vectors[id] = close;
    ASSERT_TRUE(index->Add(id, close).ok());
  }
  for (const size_t k : {1u, 10u, 150u}) EXPECT_EQ(index->Search(same, k).value(), BruteForce(vectors, same, k)) << k;
}

TEST(VectorIndex, ScoresBelowZeroAndZeroVectorsAreInOrderToo) {
  const auto index = Flat(2);
  ASSERT_TRUE(index->Add(4, Vector{0, 0}).ok());
  ASSERT_TRUE(index->Add(3, Vector{-2, 0}).ok());
  ASSERT_TRUE(index->Add(2, Vector{-1, 0}).ok());
  ASSERT_TRUE(index->Add(1, Vector{0, 0}).ok());
  EXPECT_EQ(IdsOf(index->Search(Vector{1, 0}, 4).value()), (Ids{1, 4, 2, 3}));
  EXPECT_EQ(IdsOf(index->Search(Vector{1, 0}, 1).value()), (Ids{1}));
  EXPECT_EQ(IdsOf(index->Search(Vector{0, 0}, 2).value()), (Ids{1, 2}));
}

TEST(VectorIndex, WhatCannotBeComparedIsRefusedAndChangesNothing) {
  const auto index = Flat(2);
  ASSERT_TRUE(index->Add(1, Vector{1, 0}).ok());
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<Vector> bad = {{}, {1}, {1, 2, 3}, {kNan, 0}, {0, kInfinity}, {-kInfinity, 0}, {2e19f, 0}};
  for (const Vector& vector : bad) {
    for (const int64_t id : {1, 2}) {
      const Status added = index->Add(id, vector);
      ASSERT_FALSE(added.ok());
      EXPECT_EQ(added.error().code, Errc::kInvalidArgument);
    }
    const auto found = index->Search(vector, 1);
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().code, Errc::kInvalidArgument);
  }
  EXPECT_EQ(index->Search(Vector{1, 0}, 9).value(), (Neighbours{{1, 1}}));
}

TEST(VectorIndex, LongVectorsHaveFiniteScores) {
  const auto index = Flat(4);
  const Vector longest(4, 6e18f);
  ASSERT_TRUE(index->Add(1, longest).ok());
  ASSERT_TRUE(index->Add(2, longest).ok());
  const Neighbours found = index->Search(longest, 1).value();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, 1);
  EXPECT_TRUE(std::isfinite(found[0].score));
}

TEST(VectorIndex, AKindThatIsNotThereIsRefusedNamingThoseThatAre) {
  const auto index = NewVectorIndex("flatt", 2);
  ASSERT_FALSE(index.ok());
  EXPECT_EQ(index.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(index.error().message, "no index of kind 'flatt': there is flat");
  for (const int dim : {0, -1}) EXPECT_EQ(NewVectorIndex("flat", dim).error().code, Errc::kInvalidArgument);
}

TEST(VectorIndex, ASearchLeavesItsCallersThreadsAlone) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  const auto index = Flat(2);
  ASSERT_TRUE(index->Add(1, Vector{1, 0}).ok());
  ASSERT_TRUE(index->Add(2, Vector{1, 0}).ok());
  EXPECT_EQ(IdsOf(index->Search(Vector{1, 0}, 1).value()), (Ids{1}));
  EXPECT_EQ(omp_get_max_threads(), 3);
  omp_set_num_threads(before);
}

// Ids 0 to 99 never change and are always the best; two threads change those above, each its own, while two search.
TEST(VectorIndex, SearchesSeeWholeVectorsWhileOthersChangeThem) {
  constexpr int kDim = 256;
  const auto index = Flat(kDim);
  const Vector ones(kDim, 1);
  const auto all = [](int64_t value) { return Vector(kDim, static_cast<float>(value)); };
  for (int id = 0; id < 100; ++id) ASSERT_TRUE(index->Add(id, all(200 - id)).ok());
  std::atomic<bool> failed = false;
  std::atomic<int> searching = 2;
  std::vector<std::map<int64_t, Vector>> kept(2);
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (int step = 0; searching > 0 || step < 2000; ++step) {
        const int64_t id = 100 + t + 2 * (step % 17);
        if (step % 5 == 0) {
          if (index->Remove(id) != (kept[t].erase(id) == 1)) failed = true;
        } else {
          kept[t][id] = all(step % 100);
          if (!index->Add(id, kept[t][id]).ok()) failed = true;
        }
      }
    });
    threads.emplace_back([&] {
      for (int step = 0; step < 1000; ++step) {
        const Neighbours found = index->Search(ones, 200).value();
        for (size_t i = 0; i < found.size(); ++i) {
          const auto best = static_cast<float>(kDim * (200 - i));
          if (i < 100 && found[i] != Neighbour{static_cast<int64_t>(i), best}) failed = true;
          // A vector half replaced would have a score in between.
          if (std::fmod(found[i].score, float{kDim}) != 0) failed = true;
        }
        if (found.size() < 100 || index->size() < 100) failed = true;
      }
      --searching;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(failed);
  for (int id = 0; id < 100; ++id) kept[0][id] = all(200 - id);
  kept[0].merge(kept[1]);
  EXPECT_EQ(index->Search(ones, 1000).value(), BruteForce(kept[0], ones, 1000));
}

}  // namespace
}  // namespace afterimage
