// Drawing scenes at random, inside the range the models were trained on (models/training/world.py, `sample`).
#ifndef AFTERIMAGE_DATA_WORLD_SAMPLE_H_
#define AFTERIMAGE_DATA_WORLD_SAMPLE_H_

#include "data/world/rng.h"
#include "data/world/scene.h"

namespace afterimage::world {

// Two to five objects on a jittered three by three grid. Some scenes repeat a kind or a colour, so that counting and
// comparing mean something; at least one kind is always alone in its scene.
Scene SampleScene(Rng& rng);

// Moves an object to a free place of the grid in another column. False when there is none.
bool MoveAcross(Scene& scene, size_t object, Rng& rng);

}  // namespace afterimage::world

#endif  // AFTERIMAGE_DATA_WORLD_SAMPLE_H_
