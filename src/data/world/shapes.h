// The twelve kinds of object, as signed distances in the object's own coordinates: x right, y down, the object fills
// [-1, 1], below zero is inside.
#ifndef AFTERIMAGE_DATA_WORLD_SHAPES_H_
#define AFTERIMAGE_DATA_WORLD_SHAPES_H_

namespace afterimage::world {

// `kind` as in the vocabulary. REQUIRES: 0 <= kind < 12.
float ShapeDistance(int kind, float x, float y);

}  // namespace afterimage::world

#endif  // AFTERIMAGE_DATA_WORLD_SHAPES_H_
