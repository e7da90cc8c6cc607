"""Training sequences: one picture, eight questions.

  [padding, prefix, image begin] [image tokens] [image end] [7 short rows] [1 long row]

A row is a question and its answer. It sees the prefix, the picture and itself, so eight questions cost little more than
one; in a chat it also sees the rows before it, as earlier turns. The long row holds what does not fit the others: the
description of the picture, and questions in the benchmark's own prompt.

llama.cpp cuts an InternVL picture larger than the tower's into a tile and an overview, even when there is one tile: the
model sees the picture twice. With `doubled`, this share of the sequences does too.

What must not matter is varied: a system message of random words, turns before, a line break, random words after the
question, capital and question mark, and pictures that were resized, shifted, cropped or compressed.
"""
import torch
import torch.nn.functional as F

import world
from questions import DESCRIBE, MAX_ANSWER, TYPES, Asker, Wordings
from world import SPEC

SHORT_ROWS, PREFIX = 7, 40
ROWS = SHORT_ROWS + 1
USER, TURN_END = '<|im_start|>user\n', '<|im_end|>\n<|im_start|>assistant\n'


class Layout:
    def __init__(self, tokens, copies, short, long, device):
        tokens, self.copies = tokens * copies, copies
        self.image, self.short, self.long = tokens, short, long
        self.prefix = PREFIX + -(PREFIX + tokens + 1 + SHORT_ROWS * short + long) % 8  # attention likes multiples of 8
        self.first_row = self.prefix + tokens + 1
        self.length = self.first_row + SHORT_ROWS * short + long
        widths = torch.tensor([short] * SHORT_ROWS + [long], device=device)
        self.row_at = self.first_row + widths.cumsum(0) - widths
        segment = torch.zeros(self.length, dtype=torch.long, device=device)
        segment[self.first_row:] = 1 + torch.arange(ROWS, device=device).repeat_interleave(widths)
        causal = torch.ones(self.length, self.length, dtype=torch.bool, device=device).tril()
        self.own = causal & ((segment[None] == 0) | (segment[None] == segment[:, None]))
        self.earlier = (segment[None] > 0) & (segment[None] < segment[:, None])
        self.eye = torch.eye(self.length, dtype=torch.bool, device=device)  # padding sees itself: no row is empty


class Mode:
    """How to ask: `train` varies everything, the others one thing, for evaluation."""

    def __init__(self, name='train'):
        self.name = name
        self.train = name == 'train'

    def is_(self, *names):
        return self.name in names


MODES = ('plain', 'system', 'turns', 'suffix', 'benchmark', 'raw', 'heldout', 'wrong', 'resized', 'compressed', 'doubled')


def pack(parts, width):
    """Joins [n, *] token tables of varying lengths -> tokens [n, width], length [n], where each part begins."""
    n = parts[0][0].shape[0]
    out = torch.zeros(n, width + 1, dtype=torch.long, device=parts[0][0].device)
    end, begins = torch.zeros(n, dtype=torch.long, device=out.device), []
    for tokens, length in parts:
        place = torch.arange(tokens.shape[1], device=out.device)[None]
        where = torch.where(place < length[:, None], end[:, None] + place, width)
        out.scatter_(1, where.clamp(max=width), tokens)
        begins.append(end)
        end = end + length
    return out[:, :width], end, begins


class Table:
    """A few fixed token strings, one of which is chosen for each row."""

    def __init__(self, strings, device):
        self.tokens = torch.zeros(len(strings), max(1, max(map(len, strings))), dtype=torch.long, device=device)
        for i, s in enumerate(strings):
            self.tokens[i, :len(s)] = torch.tensor(s, dtype=torch.long)
        self.length = torch.tensor([len(s) for s in strings], device=device)

    def pick(self, which):
        return self.tokens[which], self.length[which]


class Sequences:
    def __init__(self, c, tokenizer, device, compiled, doubled=0.):
        self.doubled = doubled
        self.c, self.tk, self.device, self.compiled = c, tokenizer, device, compiled
        e = tokenizer.encode
        self.asker = Asker(tokenizer, device)
        self.wordings = {'train': Wordings(tokenizer, device), 'plain': Wordings(tokenizer, device, plain=True),
                         'heldout': Wordings(tokenizer, device, 'heldout', plain=True)}
        self.starts = Table([[], e('\n'), e('\n' + USER)], device)
        self.heads = Table([[], e(SPEC['benchmark_head'])], device)
        self.before_question = Table([[], e('\nQuestion:')], device)
        self.suffixes = Table([[], e(SPEC['suffix']), e('\n')], device)
        answer = e('\nAnswer:')
        self.tails = Table([e(TURN_END), answer + e(TURN_END), answer], device)
        self.digits = torch.tensor([tokenizer.word(d) for d in '0123456789'], device=device)
        begin = [tokenizer.id[c.image_begin]]
        self.prefix_end = Table([e(USER) + begin, begin], device)
        self.system = (e('<|im_start|>system\n'), e('<|im_end|>\n'), e(SPEC['system']))
        longest = max(w.longest for w in self.wordings.values())
        most = lambda t: int(t.length.max())
        self.random_suffix, self.random_id = 10, 10
        suffix = max(most(self.suffixes), 1 + self.random_suffix)
        short = most(self.starts) + longest + suffix + len(e(TURN_END)) + 2
        benchmark = 1 + most(self.heads) + self.random_id + most(self.before_question) + longest + most(self.tails) + 2
        open_longest = int(self.wordings['train'].length[:, self.wordings['train'].first[DESCRIBE]:].max())
        describe = most(self.starts) + open_longest + suffix + len(e(TURN_END)) + MAX_ANSWER
        self.layout = Layout(c.side * c.side, 2 if doubled else 1, short, max(benchmark, describe), device)
        self.mean, self.std = (torch.tensor(v, device=device).view(1, 3, 1, 1) * 255 for v in (c.mean, c.std))
        self.even = torch.ones(len(TYPES), device=device)
        self.even[DESCRIBE] = 0

    # ------------------------------------------------------------------------------------------ pictures
    def pictures(self, rec, mode, generator):
        """-> normalised pictures, and the records with centres where they are seen."""
        image = world.render(rec, self.compiled)
        n, dev = image.shape[0], self.device
        rand = lambda *s: torch.rand(*s, generator=generator, device=dev)
        seen = dict(rec)
        if mode.train:  # crops and shifts: every fourth picture
            part = slice(0, None, 4)
            m = image[part].shape[0]
            zoom, shift = .92 + .16 * rand(m), (rand(m, 2) - .5) * 16
            theta = torch.zeros(m, 2, 3, device=dev)
            theta[:, 0, 0] = theta[:, 1, 1] = zoom
            theta[:, :, 2] = shift * (2 / world.SIZE)
            grid = F.affine_grid(theta, [m, 3, world.SIZE, world.SIZE], align_corners=False)
            image[part] = F.grid_sample(image[part], grid, mode='bilinear', padding_mode='border', align_corners=False)
            middle = world.SIZE * 8
            for j, k in enumerate('xy'):
                moved = (rec[k][part].float() - middle - shift[:, j, None] * 16) / zoom[:, None] + middle
                seen[k] = rec[k].clone()
                seen[k][part] = moved.round().long()
        if mode.train or mode.is_('resized'):  # down or up and back
            sizes = (160, 192, 256, 320, 448)
            for i, size in enumerate(sizes):
                part = slice(1 + 4 * i, None, 4 * len(sizes)) if mode.train else slice(i, None, len(sizes))
                small = F.interpolate(image[part], size=(size, size), mode='bilinear', antialias=size < world.SIZE)
                image[part] = F.interpolate(small, size=(world.SIZE, world.SIZE), mode='bilinear', antialias=size > world.SIZE)
        if mode.train or mode.is_('compressed'):
            part = slice(2, None, 4) if mode.train else slice(0, None)
            image[part] = jpeg_like(image[part], generator)
        return ((image.clamp(0, 255).round() - self.mean) / self.std), seen

    # ------------------------------------------------------------------------------------------ text
    def prefixes(self, n, mode, raw, generator):
        """No system message, the usual one, or random words -> tokens [n, prefix], length."""
        dev, width = self.device, self.layout.prefix
        u = torch.rand(n, generator=generator, device=dev)
        bounds = (.4, .65) if mode.train else (0., .5) if mode.is_('system') else (1., 1.)
        fixed, words = (u >= bounds[0]) & (u < bounds[1]) & ~raw, (u >= bounds[1]) & ~raw
        head, tail, usual = (torch.tensor(x, device=dev)[None].expand(n, -1) for x in self.system)
        k = torch.randint(1, 25, (n, ), generator=generator, device=dev)
        random = torch.randint(0, self.tk.n_normal, (n, 24), generator=generator, device=dev)
        some = lambda mask, t: (t, torch.where(mask, t.shape[1], 0))
        any_system = fixed | words
        tokens, length, _ = pack([some(any_system, head), some(fixed, usual), (random, torch.where(words, k, 0)),
                                  some(any_system, tail), self.prefix_end.pick(raw.long())], width)
        place = torch.arange(width, device=dev)[None] - (width - length[:, None])  # push to the right
        tokens = tokens.gather(1, place.clamp(min=0))
        return torch.where(place < 0, self.tk.pad, tokens), length

    def rows(self, seen, mode, chat, raw, generator):
        dev, n = self.device, chat.shape[0]
        rand = lambda: torch.rand(n, ROWS, generator=generator, device=dev)
        number = torch.arange(ROWS, device=dev)[None]
        is_long = (number == ROWS - 1).expand(n, -1)
        describe = is_long & (rand() < (.5 if mode.train else 0. if mode.is_('benchmark', 'raw') else 1.))
        benchmark = is_long & ~describe
        spread = lambda t: t[:, None].expand(n, ROWS)
        start = torch.where(spread(chat) & (number > 0), 2, (rand() < .65).long() if mode.train else 1)
        u = rand()
        suffix = torch.where(u < .6, 0, torch.where((u < .85) & ~describe, 1, 2))
        if not mode.train:
            suffix = torch.full_like(suffix, int(mode.is_('suffix'))) * (~describe).long()
        suffix = torch.where(spread(raw) | benchmark, 0, suffix)
        tail = torch.where(spread(raw), 2, benchmark.long())
        flat = lambda t: t.reshape(-1)
        extra = torch.randint(1, self.random_suffix + 1, (n * ROWS, ), generator=generator, device=dev)
        extra = torch.where(flat(suffix) == 2, extra, 0)
        noise = torch.randint(0, self.tk.n_normal, (n * ROWS, self.random_suffix), generator=generator, device=dev)
        digits = self.digits[torch.randint(0, 10, (n * ROWS, self.random_id), generator=generator, device=dev)]
        anything = torch.randint(0, self.tk.n_normal, digits.shape, generator=generator, device=dev)
        wild = torch.rand(n * ROWS, 1, generator=generator, device=dev) < .3
        id_length = torch.randint(1, self.random_id + 1, (n * ROWS, ), generator=generator, device=dev)

        s = {k: v.repeat_interleave(ROWS, 0) for k, v in seen.items()}
        wordings = self.wordings['train' if mode.train else 'heldout' if mode.is_('heldout') else 'plain']
        tokens, length, answer, answer_length, places, labels, kind = self.asker.ask(
            s, wordings, flat(benchmark).long(), flat(describe), generator, None if mode.train else self.even)
        out, end, begins = pack([
            self.starts.pick(flat(start)), self.heads.pick(flat(benchmark).long()),
            (torch.where(wild, anything, digits), torch.where(flat(benchmark), id_length, 0)),
            self.before_question.pick(flat(benchmark).long()), (tokens, length), self.suffixes.pick(flat(suffix)),
            (noise, extra), self.tails.pick(flat(tail)), (answer, answer_length)], self.layout.long)
        return out, end, begins[4], begins[-1], answer, answer_length, places, labels, kind

    # ------------------------------------------------------------------------------------------ all together
    def make(self, n, generator, mode=Mode()):
        """-> (model input, labels), all [n, ...]."""
        dev, lay, c = self.device, self.layout, self.c
        rec = world.sample(n, generator, dev)
        image, seen = self.pictures(rec, mode, generator)
        if mode.is_('wrong'):
            image = image.roll(1, 0)
        u = torch.rand(n, generator=generator, device=dev)
        raw = u < .1 if mode.train else torch.full_like(u, mode.is_('raw'), dtype=torch.bool)
        chat = (u > .6) if mode.train else torch.full_like(u, mode.is_('turns'), dtype=torch.bool)
        prefix, prefix_length = self.prefixes(n, mode, raw, generator)
        rows, end, question_at, answer_at, answer, answer_length, places, labels, kind = self.rows(
            rec, mode, chat, raw, generator)

        by_row = lambda t: t.view(n, ROWS, *t.shape[1:])
        rows, end = by_row(rows), by_row(end)
        short = rows[:, :SHORT_ROWS, :lay.short].reshape(n, -1)
        image_end = torch.full((n, 1), self.tk.id[c.image_end], device=dev)
        twice = torch.rand(n, generator=generator, device=dev) < (self.doubled if mode.train else float(mode.is_('doubled')))
        position, valid = self.positions(prefix_length, chat, end, twice)

        # The answer's tokens are read one place before they stand; of a short row two, of the long row all.
        first = by_row(answer_at) - 1 + lay.row_at[None]
        step = torch.arange(MAX_ANSWER, device=dev)
        target = torch.where(step[None] < answer_length[:, None], answer, -100).view(n, ROWS, MAX_ANSWER)
        at = torch.cat([(first[:, :SHORT_ROWS, None] + step[:2]).reshape(n, -1),
                        (first[:, SHORT_ROWS:] + step[None]).clamp(max=lay.length - 1)], 1)
        target = torch.cat([target[:, :SHORT_ROWS, :2].reshape(n, -1), target[:, -1]], 1)
        referent_at = (by_row(places.clamp(min=0) + question_at[:, None]) + lay.row_at[None, :, None]).reshape(n, -1)
        inputs = dict(image=image, prefix=prefix, rows=torch.cat([image_end, short, rows[:, -1]], 1), position=position,
                      valid=valid, chat=chat, at=at, referent_at=referent_at)
        return inputs, dict(target=target, referent=labels.view(n, ROWS * 2, -1), tokens=self.token_labels(seen),
                            kind=by_row(kind), end=end)

    def positions(self, prefix_length, chat, row_length, twice):
        """M-RoPE positions [n, 3, length] (all equal without sections), and which places hold something."""
        lay, dev = self.layout, self.device
        n = chat.shape[0]
        p = prefix_length[:, None]
        pos = torch.zeros(n, 3, lay.length, dtype=torch.long, device=dev)
        place = torch.arange(lay.length, device=dev)[None]
        pos[:, :, :lay.prefix] = (place[:, :lay.prefix] - (lay.prefix - p)).clamp(min=0)[:, None]
        j = torch.arange(lay.image, device=dev)[None]
        picture = slice(lay.prefix, lay.prefix + lay.image)
        if self.c.sections:
            side = self.c.side
            pos[:, 0, picture], pos[:, 1, picture], pos[:, 2, picture] = p, p + j // side, p + j % side
            after = p + side
        else:
            pos[:, :, picture] = (p + j)[:, None]
            after = p + torch.where(twice, lay.image, lay.image // lay.copies)[:, None]
        pos[:, :, lay.first_row - 1] = after
        begin = (row_length.cumsum(1) - row_length) * chat[:, None]
        segment = torch.cat([torch.full((w, ), i, device=dev) for i, w in
                             enumerate([lay.short] * SHORT_ROWS + [lay.long])])
        inside = place[:, lay.first_row:] - lay.row_at[segment][None]
        pos[:, :, lay.first_row:] = (after + 1 + begin[:, segment] + inside)[:, None]
        ones = lambda k: torch.ones(n, k, dtype=torch.bool, device=dev)
        copies = [twice[:, None].expand(n, lay.image // 2)] if lay.copies == 2 else []
        valid = torch.cat([place[:, :lay.prefix] >= lay.prefix - p, ones(lay.image // lay.copies), *copies, ones(1),
                           inside < row_length[:, segment]], 1)
        return pos, valid

    def token_labels(self, seen):
        """Per image token: kind + 1 of the object over it (0: none), its colour, its size (-100: none)."""
        side, dev = self.c.side, self.device
        step = world.SIZE * 16 / side
        j = torch.arange(side * side, device=dev)
        cx, cy = (j % side + .5) * step, torch.div(j, side, rounding_mode='floor').add(.5) * step
        here = (torch.arange(5, device=dev)[None] < seen['count'][:, None])[..., None]
        r = seen['r'][..., None].float()
        d = ((seen['x'][..., None] - cx)**2 + (seen['y'][..., None] - cy)**2).float().sqrt()
        d = torch.where(here, d, 1e9)
        over = ((d < r * .85 + 64) | (d == d.min(2, keepdim=True).values)) & here  # at least the nearest token
        which = torch.where(over, d / r, 1e9).argmin(1)
        any_ = over.any(1)
        label = lambda key, none, add=0: torch.where(any_, seen[key].gather(1, which) + add, none)
        return torch.stack([label('kind', 0, 1), label('color', -100), label('size', -100)], 2)


QUANT = [16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51,
         87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101,
         72, 92, 95, 98, 112, 100, 103, 99]


def jpeg_like(image, generator):
    """Quantised 8 x 8 cosine transforms of each channel: what JPEG does to a picture, near enough to learn from."""
    n, dev = image.shape[0], image.device
    k = torch.arange(8, device=dev).float()
    dct = torch.cos((2 * k[None] + 1) * k[:, None] * (torch.pi / 16)) * .5
    dct[0] *= 2**-.5
    table = torch.tensor(QUANT, device=dev).float().view(8, 8)
    scale = .15 + .85 * torch.rand(n, 1, 1, 1, 1, 1, generator=generator, device=dev)  # quality from about 93 to 50
    side = world.SIZE // 8
    blocks = (image - 128).view(n, 3, side, 8, side, 8).transpose(3, 4)
    q = (table * scale).clamp(min=1)
    coded = (dct @ blocks @ dct.T / q).round() * q
    return (dct.T @ coded @ dct).transpose(3, 4).reshape(image.shape) + 128
