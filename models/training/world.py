"""The world in torch: scenes as records of integers, sampled and drawn in batches on the GPU.

A record says everything about a picture, and drawing is a pure function of it. src/data/world/render.cc draws the
same pictures in C++: both use only + - * / sqrt min max, 32-bit integer hashes for noise, and single precision, so
they agree within one level of 255. Change one and change the other; render_test.cc holds them together.

A batch of records is a dict of integer tensors; n records, up to 5 objects each:
  seed [n]            noise and blotches
  top, bottom [n, 3]  background levels at the upper and lower edge
  pattern [n]         0 plain, 1 upright stripes, 2 level stripes, 3 checks, 4 blotches
  period, strength [n]  of the pattern: pixels, levels
  noise [n]           amplitude, 1/16 level
  gain [n]            brightness, 1/256
  count [n]           objects
  kind, color, size [n, 5]   indices into world.json
  x, y, r [n, 5]      centre and radius, 1/16 pixel
  tilt [n, 5]         tangent of half the angle, 1/256
  tint [n, 5, 3]      added to the colour, levels
"""
import json
import os

import torch

SPEC = json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'world.json')))
SIZE = SPEC['image_size']
KINDS, PLURALS, COLORS = SPEC['kinds'], SPEC['plurals'], SPEC['colors']
MAX_OBJECTS = 5
SMALL_RADIUS, LARGE_RADIUS = (14 * 16, 18 * 16), (27 * 16, 33 * 16)
CELL_FIRST, CELL_STEP, JITTER = 40 * 16, 72 * 16, 12 * 16  # a 3 x 3 grid of places
APART = 36 * 16  # two centres this far apart on an axis are left/right or above/below each other

# ---------------------------------------------------------------------------------------------- shapes
# Signed distances in the object's own coordinates (x right, y down, the object fills [-1, 1]); below 0 is inside.


def _box(x, y, cx, cy, hx, hy):
    return torch.maximum((x - cx).abs() - hx, (y - cy).abs() - hy)


def _disc(x, y, cx, cy, r):
    return torch.sqrt((x - cx) * (x - cx) + (y - cy) * (y - cy)) - r


def _triangle(x, y, cx, top, bottom, half_width):  # upright, apex at the top
    slope = half_width / (bottom - top)
    return torch.maximum(torch.maximum((x - cx).abs() - (y - top) * slope, y - bottom), top - y)


def _union(*ds):
    out = ds[0]
    for d in ds[1:]:
        out = torch.minimum(out, d)
    return out


# Outward normals of a five-pointed star's lines. Inside a pentagram is inside at least four of the five half-planes,
# so the second largest distance decides.
STAR = ((0.0, 1.0), (0.951057, 0.309017), (0.587785, -0.809017), (-0.587785, -0.809017), (-0.951057, 0.309017))
PETALS = ((0.55, 0.0), (0.275, 0.476314), (-0.275, 0.476314), (-0.55, 0.0), (-0.275, -0.476314), (0.275, -0.476314))


def _star(x, y):
    first = second = None
    for nx, ny in STAR:
        d = x * nx + y * ny - 0.34
        if first is None:
            first, second = d, d - 1000.0
        else:
            second = torch.maximum(second, torch.minimum(first, d))
            first = torch.maximum(first, d)
    return second


def distance(kind, x, y):
    if kind == 'car':
        return _union(_box(x, y, 0.0, 0.15, 0.9, 0.25), _box(x, y, 0.0, -0.2, 0.5, 0.25),
                      _disc(x, y, -0.5, 0.5, 0.25), _disc(x, y, 0.5, 0.5, 0.25))
    if kind == 'tree':
        return _union(_triangle(x, y, 0.0, -0.9, 0.4, 0.7), _box(x, y, 0.0, 0.65, 0.12, 0.3))
    if kind == 'house':
        return _union(_box(x, y, 0.0, 0.35, 0.6, 0.5), _triangle(x, y, 0.0, -0.9, -0.1, 0.85))
    if kind == 'ball':
        return _disc(x, y, 0.0, 0.0, 0.8)
    if kind == 'cup':
        handle = torch.maximum(_disc(x, y, 0.5, 0.1, 0.4), -_disc(x, y, 0.5, 0.1, 0.22))
        return _union(_box(x, y, -0.1, 0.1, 0.5, 0.6), handle)
    if kind == 'star':
        return _star(x, y)
    if kind == 'boat':
        return _union(torch.maximum(_disc(x, y, 0.0, 0.0, 0.85), 0.25 - y), _triangle(x, y, 0.1, -0.9, 0.15, 0.5))
    if kind == 'fish':
        tail = torch.maximum((x - 0.6).abs() - 0.3, y.abs() - (x - 0.3) * 0.9)
        return _union(_disc(x * 0.8, y * 1.5, -0.15, 0.0, 0.6), tail)
    if kind == 'flower':
        return _union(_disc(x, y, 0.0, 0.0, 0.3), *(_disc(x, y, px, py, 0.25) for px, py in PETALS))
    if kind == 'kite':
        return (x.abs() / 0.6 + y.abs() / 0.95 - 1.0) * 0.5
    if kind == 'moon':
        return torch.maximum(_disc(x, y, 0.0, 0.0, 0.85), -_disc(x, y, 0.45, -0.1, 0.7))
    if kind == 'cross':
        return _union(_box(x, y, 0.0, 0.0, 0.25, 0.85), _box(x, y, 0.0, 0.0, 0.85, 0.25))
    raise KeyError(kind)


# ---------------------------------------------------------------------------------------------- drawing
MASK = 0xFFFFFFFF


def hash32(x):
    """lowbias32 over 32-bit values held in int64."""
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & MASK
    x = ((x ^ (x >> 15)) * 0x846CA68B) & MASK
    return x ^ (x >> 16)


def _lattice(seed, ix, iy):  # [-1, 1] at whole places
    return (hash32((seed * 0x9E3779B1 + ix * 0x85EBCA6B + iy * 0xC2B2AE35 + 0x27D4EB2F) & MASK) & 0xFFFF).float() \
        * (2.0 / 65535.0) - 1.0


def _pattern(rec, xi, yi):
    v = lambda k: rec[k].view(-1, 1, 1)
    period = v('period')
    cx, cy = torch.div(xi, period, rounding_mode='floor'), torch.div(yi, period, rounding_mode='floor')
    fx, fy = (xi - cx * period).float() / period.float(), (yi - cy * period).float() / period.float()
    a, b = _lattice(v('seed'), cx, cy), _lattice(v('seed'), cx + 1, cy)
    c, d = _lattice(v('seed'), cx, cy + 1), _lattice(v('seed'), cx + 1, cy + 1)
    upper, lower = a + (b - a) * fx, c + (d - c) * fx
    blotch = upper + (lower - upper) * fy
    sign = lambda k: 1.0 - 2.0 * (k & 1).float()
    kind = v('pattern')
    out = torch.where(kind == 1, sign(cx), torch.where(kind == 2, sign(cy), sign(cx + cy)))
    return torch.where(kind == 0, 0.0, torch.where(kind == 4, blotch, out))


def _grid(device):
    yi, xi = torch.meshgrid(torch.arange(SIZE, device=device), torch.arange(SIZE, device=device), indexing='ij')
    return xi[None], yi[None]


def _background(xi, yi, rec):
    paper = _pattern(rec, xi, yi) * rec['strength'].view(-1, 1, 1).float()
    top, bottom = (rec[k].view(-1, 3, 1, 1).float() for k in ('top', 'bottom'))
    return top + (bottom - top) * ((yi.float() + 0.5) * (1.0 / SIZE)) + paper[:, None]


def _blend(xi, yi, picture, here, kind, paint, x, y, r, tilt):
    """Paints one object of every record over the pictures."""
    v = lambda t: t.view(-1, 1, 1).float()
    r, t = v(r) * 0.0625, v(tilt) * 0.00390625
    cos, sin = (1.0 - t * t) / (1.0 + t * t), 2.0 * t / (1.0 + t * t)
    u, w = (xi.float() + 0.5 - v(x) * 0.0625) / r, (yi.float() + 0.5 - v(y) * 0.0625) / r
    ox, oy = cos * u + sin * w, cos * w - sin * u
    d = torch.full_like(ox, 1000.0)
    for k, name in enumerate(KINDS):
        d = torch.where(kind.view(-1, 1, 1) == k, distance(name, ox, oy), d)
    alpha = (0.5 - d * r).clamp(0.0, 1.0) * here.view(-1, 1, 1)
    return picture + (paint[:, :, None, None] - picture) * alpha[:, None]


def _finish(place, picture, seed, gain, noise):
    v = lambda t: t.view(-1, 1, 1, 1)
    h = hash32((v(seed) * 0x9E3779B1 + place * 0x85EBCA6B) & MASK)
    sum4 = (h & 255) + ((h >> 8) & 255) + ((h >> 16) & 255) + (h >> 24)  # bell-shaped, 0..1020
    level = picture * (v(gain).float() * 0.00390625) + (sum4 - 510).float() * (1.0 / 148.0) * (v(noise).float() * 0.0625)
    return torch.floor(level.clamp(0.0, 255.0) + 0.5)


_steps = {False: (_background, _blend, _finish)}


def render(rec, compiled=False):
    """records -> [n, 3, SIZE, SIZE] whole levels 0..255, float32."""
    if compiled not in _steps:
        _steps[True] = tuple(torch.compile(f, dynamic=False) for f in _steps[False])
    background, blend, finish = _steps[compiled]
    rgb = torch.tensor(SPEC['color_rgb'], device=rec['seed'].device, dtype=torch.float32)
    xi, yi = _grid(rec['seed'].device)  # handed in: the compiler computes its own indices in 32 bits
    place = (yi * SIZE + xi)[:, None] * 3 + torch.arange(3, device=xi.device).view(1, 3, 1, 1)
    picture = background(xi, yi, {k: rec[k] for k in ('seed', 'top', 'bottom', 'pattern', 'period', 'strength')})
    for j in range(MAX_OBJECTS):
        paint = (rgb[rec['color'][:, j]] + rec['tint'][:, j].float()).clamp(0.0, 255.0)
        picture = blend(xi, yi, picture, rec['count'] > j, rec['kind'][:, j], paint,
                        *(rec[k][:, j].contiguous() for k in ('x', 'y', 'r', 'tilt')))
    return finish(place, picture, rec['seed'], rec['gain'], rec['noise'])


# ---------------------------------------------------------------------------------------------- records
SCALARS = ('seed', 'pattern', 'period', 'strength', 'noise', 'gain')


def to_json(rec, i):
    """One record of a batch as the JSON object both sides read."""
    out = {k: int(rec[k][i]) for k in SCALARS}
    out['top'], out['bottom'] = rec['top'][i].tolist(), rec['bottom'][i].tolist()
    out['objects'] = [{**{k: int(rec[k][i, j]) for k in ('kind', 'color', 'size', 'x', 'y', 'r', 'tilt')},
                       'tint': rec['tint'][i, j].tolist()} for j in range(int(rec['count'][i]))]
    return out


def from_json(records, device='cpu'):
    out = {k: torch.tensor([r[k] for r in records], device=device) for k in SCALARS + ('top', 'bottom')}
    out['count'] = torch.tensor([len(r['objects']) for r in records], device=device)
    blank = dict(kind=0, color=0, size=0, x=0, y=0, r=16, tilt=0, tint=[0, 0, 0])
    rows = [r['objects'] + [blank] * (MAX_OBJECTS - len(r['objects'])) for r in records]
    for k in blank:
        out[k] = torch.tensor([[o[k] for o in row] for row in rows], device=device)
    return out


def sample(n, generator, device):
    """Records drawn for training. The data set's own sampler (src/data/world/sample.cc) keeps inside this range."""
    g = dict(generator=generator, device=device)
    rand = lambda *s: torch.rand(*s, **g)
    ints = lambda lo, hi, *s: torch.randint(lo, hi + 1, s, **g)
    count = torch.multinomial(torch.tensor([.1, .3, .3, .3], device=device), n, True, generator=generator) + 2
    kind, cell = rand(n, 12).argsort(1)[:, :5], rand(n, 9).argsort(1)[:, :5]
    color, size = ints(0, 7, n, 5), ints(0, 1, n, 5)
    # A third of the scenes repeat a kind, some repeat it twice; two fifths repeat a colour: for counting and comparing.
    twice = (count >= 3) & (rand(n) < .35)
    kind[:, 1] = torch.where(twice, kind[:, 0], kind[:, 1])
    kind[:, 2] = torch.where(twice & (count >= 4) & (rand(n) < .4), kind[:, 0], kind[:, 2])
    last = torch.arange(5, device=device)[None] == count[:, None] - 1
    color = torch.where(last & (rand(n) < .4)[:, None], color.gather(1, (count - 2)[:, None]), color)
    radius = torch.where(size == 1, ints(*LARGE_RADIUS, n, 5), ints(*SMALL_RADIUS, n, 5))
    tone = ints(96, 164, n, 1) + ints(-18, 18, n, 3)
    slope = ints(-20, 20, n, 1)
    return dict(
        seed=ints(0, 2**31 - 1, n), top=(tone - slope).clamp(80, 188), bottom=(tone + slope).clamp(80, 188),
        pattern=ints(0, 4, n), period=ints(6, 56, n), strength=ints(2, 12, n), noise=ints(0, 96, n),
        gain=256 + ints(-40, 40, n), count=count, kind=kind, color=color, size=size,
        x=CELL_FIRST + CELL_STEP * (cell % 3) + ints(-JITTER, JITTER, n, 5),
        y=CELL_FIRST + CELL_STEP * (cell // 3) + ints(-JITTER, JITTER, n, 5),
        r=radius, tilt=ints(-20, 20, n, 5), tint=ints(-16, 16, n, 5, 3))


def column(rec):
    """0 left, 1 middle, 2 right of the picture, from the centre alone."""
    return (rec['x'] >= 76 * 16).long() + (rec['x'] >= 148 * 16).long()


def row(rec):
    return (rec['y'] >= 76 * 16).long() + (rec['y'] >= 148 * 16).long()
