"""Writes records and what world.py draws from them, for the test that holds both renderers together.

  export_records.py src/data/world/testdata/records.json

Of each of 50 pictures: 200 pixels spread over it, and the mean level of every 16 x 16 block and channel, 1/256 level.
"""
import json
import sys

import torch

import world

if __name__ == '__main__':
    generator = torch.Generator()
    generator.manual_seed(224)
    records = world.sample(50, generator, 'cpu')
    # What sampling leaves out: objects on each other and over the edge, strong noise, no noise, odd brightness.
    records['x'][:8] = torch.randint(0, 224 * 16, (8, 5), generator=generator)
    records['y'][:8] = torch.randint(0, 224 * 16, (8, 5), generator=generator)
    records['noise'][8:12], records['noise'][12:16] = 0, 400
    records['gain'][16:20], records['gain'][20:24] = 120, 420
    records['kind'][:, 0] = torch.arange(50) % 12
    out = []
    for i in range(50):
        one = {k: v[i:i + 1] for k, v in records.items()}
        picture = world.render(one)[0].permute(1, 2, 0)  # [y, x, c]
        places = torch.randint(0, 224, (200, 2), generator=generator)
        blocks = picture.view(14, 16, 14, 16, 3).mean((1, 3))
        out.append(dict(record=world.to_json(records, i), pixels=[[x, y, *map(int, picture[y, x].tolist())]
                                                                  for x, y in places.tolist()],
                        blocks=(blocks * 256).round().long().flatten().tolist()))
    with open(sys.argv[1], 'w') as f:
        f.write('[\n' + ',\n'.join(json.dumps(entry, separators=(',', ':')) for entry in out) + '\n]\n')
