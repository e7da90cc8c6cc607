"""Questions about a batch of records, made as tensors on the GPU: every type of world.json at once, then one is drawn.

A question is a wording with slots; a wording is a row of token ids in which slots are negative numbers.
"""
import re

import torch
import torch.nn.functional as F

import world
from world import APART, COLORS, KINDS, PLURALS, SPEC

SLOTS = ['o', 'p', 'os', 'c', 'd', 'a', 'b', 'r', 's', 'n']
TYPES = [t['id'] for t in SPEC['types']]
DESCRIBE = TYPES.index('describe')
ORANGE = COLORS.index('orange')
MAX_ANSWER = 5 * world.MAX_OBJECTS  # "a small red car" is four tokens, each further object five, and the end of turn
# What of the referent probe is asked at each object word: present?, column, row, colour, size.
REFERENT = (2, 3, 3, 8, 2)


def wording_ids(tokenizer, text):
    ids = []
    for i, part in enumerate(re.split(r'( ?\{\w+\})', text)):
        ids += [-1 - SLOTS.index(part.strip(' {}'))] if i % 2 else tokenizer.encode(part)
    return ids


class Wordings:
    """All wordings of all types in one table, each as asked and with a leading space (after "Question:").

    Training asks a quarter without the capital and a fifth without the mark at the end; `plain` asks as written.
    """

    def __init__(self, tokenizer, device, which='wordings', plain=False):
        rows, spans, weights = [], [], []
        for kind in SPEC['types']:
            first = len(rows)
            for text in kind[which]:
                for capital, wc in ((1, 1.), ) if plain else ((1, .75), (0, .25)):
                    for mark, wm in ((1, 1.), ) if plain else ((1, .8), (0, .2)):
                        t = text if capital else text[0].lower() + text[1:]
                        t = t if mark else t[:-1]
                        rows.append((wording_ids(tokenizer, t), wording_ids(tokenizer, ' ' + t)))
                        weights.append(wc * wm)
            spans.append((first, len(rows)))
        self.longest = max(len(ids) for pair in rows for ids in pair)
        self.tokens = torch.zeros(2, len(rows), self.longest, dtype=torch.long)
        self.length = torch.zeros(2, len(rows), dtype=torch.long)
        self.object_at = torch.full((2, len(rows), 2), -1)  # where o (or os) and p stand
        for i, pair in enumerate(rows):
            for lead, ids in enumerate(pair):
                self.tokens[lead, i, :len(ids)] = torch.tensor(ids)
                self.length[lead, i] = len(ids)
                for j, names in enumerate((('o', 'os'), ('p', ))):
                    for name in names:
                        if -1 - SLOTS.index(name) in ids:
                            self.object_at[lead, i, j] = ids.index(-1 - SLOTS.index(name))
        most = max(b - a for a, b in spans)
        self.cdf = torch.full((len(spans), most), 9.)
        for i, (a, b) in enumerate(spans):
            w = torch.tensor(weights[a:b])
            self.cdf[i, :b - a] = w.cumsum(0) / w.sum()
            self.cdf[i, b - a - 1] = 1.0001
        self.first = torch.tensor([a for a, _ in spans])
        for name in ('tokens', 'length', 'object_at', 'cdf', 'first'):
            setattr(self, name, getattr(self, name).to(device))


class Asker:
    def __init__(self, tokenizer, device):
        self.device, self.tokenizer = device, tokenizer
        ids = lambda words: torch.tensor([tokenizer.word(w) for w in words], device=device)
        spaced = lambda words: ids([' ' + w for w in words])
        self.kind_word, self.plural_word, self.color_word = spaced(KINDS), spaced(PLURALS), spaced(COLORS)
        self.article, self.relation_word = spaced(['a', 'an']), spaced(SPEC['relations'])
        self.size_word, self.number_word = spaced(SPEC['sizes']), spaced(SPEC['numbers'])
        self.kind_answer, self.color_answer, self.size_answer = ids(KINDS), ids(COLORS), ids(SPEC['sizes'])
        self.no_yes, self.sides, self.heights = ids(['no', 'yes']), ids(['left', 'right']), ids(['above', 'below'])
        self.edges, self.digits = ids(['top', 'bottom']), ids(list('012345'))
        self.list_words = ids(['a', ' a', ',', ' and'])  # of a description
        self.weights = torch.tensor([float(t['weight']) for t in SPEC['types']], device=device)

    def all_types(self, s, generator):
        """For every row of records: {type: (answer token, may it be asked, slot values)}."""
        dev, n = self.device, s['count'].shape[0]
        rand = lambda *shape: torch.rand(*shape, generator=generator, device=dev)
        ints = lambda lo, hi: torch.randint(lo, hi, (n, ), generator=generator, device=dev)
        pick = lambda mask: (rand(*mask.shape) * mask).argmax(1)  # a random true column of each row
        at = lambda key, j: s[key].gather(1, j[:, None])[:, 0]
        index = torch.arange(5, device=dev)[None]
        here = index < s['count'][:, None]
        alone = lambda key: here & (((s[key][:, :, None] == s[key][:, None]) & here[:, None]).sum(2) == 1)
        exists = lambda k, c: ((s['kind'] == k[:, None]) & (s['color'] == c[:, None]) & here).any(1)
        unique, unique_color = alone('kind'), alone('color')

        o = pick(unique)
        rest = unique & (index != o[:, None])
        has_p, p = rest.any(1), pick(rest)
        absent_mask = (F.one_hot(s['kind'], 12) * here[..., None]).sum(1) == 0
        absent, any_o = pick(absent_mask), pick(here)
        ko, co, so, kp, cp, sp = (at(k, j) for j in (o, p) for k in ('kind', 'color', 'size'))
        other = (co + ints(1, 8)) % 8
        y, z = rand(n) < .5, rand(n) < .5
        yl, zl = y.long(), z.long()
        yes, zero = torch.ones_like(y), torch.zeros_like(ko)
        out = {}

        def put(name, answer, may=yes, O=ko, P=kp, C=co, D=cp, R=zero, S=zero, N=zero):
            out[name] = (answer, may.long(), O, P, C, D, R, S, N)

        yn = lambda truth: self.no_yes[truth.long()]
        put('color', self.color_answer[co])
        put('vcolor', yn(y), C=torch.where(y, co, other))
        put('ncolor', yn(~y), C=torch.where(y, co, other))
        put('ccolor', self.color_answer[co], C=torch.where(y, co, other), D=torch.where(y, other, co))
        ka, ca = at('kind', any_o), at('color', any_o)
        ek, ec = torch.where(y, ka, torch.where(z, ko, absent)), torch.where(y, ca, torch.where(z, other, ca))
        put('exist', yn(y), O=ek, C=ec)
        put('existo', yn(y), O=torch.where(y, ka, absent))
        put('nexist', yn(~y), O=torch.where(y, ka, absent))
        put('size', self.size_answer[so])
        put('csize', self.size_answer[so])
        put('vsize', yn(zl == so), S=zl)
        for axis, key, words, offset in (('lr', 'x', self.sides, 0), ('ab', 'y', self.heights, 2)):
            a, b = at(key, o), at(key, p)
            beyond, apart = (a > b).long(), has_p & ((a - b).abs() >= APART)
            put('rel_' + axis, yn(beyond == zl), apart, R=zl + offset)
            put('nrel_' + axis, yn(beyond != zl), apart, R=zl + offset)
            put('crel_' + axis, words[beyond], apart)
            before, after = here & (s[key] <= a[:, None] - APART), here & (s[key] >= a[:, None] + APART)
            one_before, one_after = before.sum(1) == 1, after.sum(1) == 1
            way = torch.where(one_before & one_after, zl, one_after.long())
            found = torch.where(way == 0, at('kind', before.long().argmax(1)), at('kind', after.long().argmax(1)))
            put('relq_' + axis, self.kind_answer[found], one_before | one_after, R=way + offset)
        col, row = world.column(s).gather(1, o[:, None])[:, 0], world.row(s).gather(1, o[:, None])[:, 0]
        put('pos_lr', self.sides[(col == 2).long()], col != 1)
        put('pos_ab', self.edges[(row == 2).long()], row != 1)
        like = rest & ((s['color'] == co[:, None]) == y[:, None])
        put('same', yn(y), like.any(1), P=at('kind', pick(like)))
        put('diff', yn(~y), like.any(1), P=at('kind', pick(like)))
        u, may = pick(unique_color), unique_color.any(1)
        ku, cu = at('kind', u), at('color', u)
        wrong = (ku + ints(1, 12)) % 12
        put('shape', self.kind_answer[ku], may, C=cu)
        put('vshape', yn(y), may, C=cu, O=torch.where(y, ku, wrong))
        put('cshape', self.kind_answer[ku], may, C=cu, O=torch.where(y, ku, wrong), P=torch.where(y, wrong, ku))
        put('count', self.digits[s['count']])
        kc = torch.where(y, s['kind'][:, 0], torch.where(z, absent, ka))
        put('count_o', self.digits[((s['kind'] == kc[:, None]) & here).sum(1)], O=kc)
        cc = torch.where(rand(n) < .75, ca, ints(0, 8))
        put('count_c', self.digits[((s['color'] == cc[:, None]) & here).sum(1)], C=cc)
        number = torch.where(y, s['count'], 2 + (s['count'] - 2 + ints(1, 4)) % 4)
        put('vcount', yn(y), N=number)
        larger = ints(4, 7)  # larger, smaller, bigger
        unlike = has_p & (so != sp)
        put('cmp', yn((so == 1) == (larger != 5)), unlike, R=larger)
        put('ccmp', self.kind_answer[torch.where((so == 1) == (larger != 5), ko, kp)], unlike, R=larger)
        # Two coloured objects of different kinds, each there or with one thing about it changed.
        second = here & (s['kind'] != ka[:, None])
        j = pick(second)
        k2, c2 = at('kind', j), at('color', j)
        gone = pick(absent_mask & (torch.arange(12, device=dev)[None] != absent[:, None]))
        for name, both in (('and', y), ('or', ~y)):  # half of `and` is yes, half of `or` is no
            flip1 = torch.where(both, name == 'or', z)
            flip2 = torch.where(both, name == 'or', ~z) ^ (~both & (rand(n) < .2))
            color_change, color_change2 = rand(n) < .6, rand(n) < .6
            k1 = torch.where(flip1 & ~color_change, absent, ka)
            c1 = torch.where(flip1 & color_change, (ca + ints(1, 8)) % 8, ca)
            kk = torch.where(flip2 & ~color_change2, gone, k2)
            cc2 = torch.where(flip2 & color_change2, (c2 + ints(1, 8)) % 8, c2)
            e1, e2 = exists(k1, c1), exists(kk, cc2)
            put(name, yn(e1 & e2 if name == 'and' else e1 | e2), second.any(1), O=k1, P=kk, C=c1, D=cc2)
        put('describe', zero, ~yes)
        return out

    def describe(self, s):
        """The answer to "Describe the picture.": objects in reading order -> tokens [n, MAX_ANSWER], length with end."""
        n = s['count'].shape[0]
        here = torch.arange(5, device=self.device)[None] < s['count'][:, None]
        order = torch.where(here, world.row(s) * 3 + world.column(s), 99).argsort(1)
        words = [w[s[key].gather(1, order)] for w, key in
                 ((self.size_word, 'size'), (self.color_word, 'color'), (self.kind_word, 'kind'))]
        a, spaced_a, comma, conj = self.list_words
        out = []
        for j in range(world.MAX_OBJECTS):
            last = s['count'] == j + 1
            out += [a.expand(n)] if j == 0 else [torch.where(last, conj, comma), spaced_a.expand(n)]
            out += [w[:, j] for w in words]
        out = torch.stack(out + [torch.zeros_like(out[0])], 1)
        length = 5 * s['count'] - 1
        place = torch.arange(MAX_ANSWER, device=self.device)[None]
        return torch.where(place >= length[:, None], self.tokenizer.eos, out), length + 1

    def ask(self, s, wordings, lead, describe, generator, weights=None):
        """One question for every row of records.

        lead [n]: 1 where a space goes before it; describe [n]: ask the open question.
        -> tokens [n, longest], length, answer [n, MAX_ANSWER], answer length with end, object places [n, 2] (-1: none),
        referent labels [n, 2, 5] (-100: none), type [n].
        """
        n, dev = s['count'].shape[0], self.device
        table = self.all_types(s, generator)
        table = torch.stack([torch.stack(table[t]) for t in TYPES])  # [types, 9, n]
        rows = torch.arange(n, device=dev)
        draws = torch.multinomial(self.weights if weights is None else weights, 6 * n, True, generator=generator)
        kind = torch.zeros(n, dtype=torch.long, device=dev)  # 'color' can always be asked
        for draw in draws.view(6, n):
            kind = torch.where(table[draw, 1, rows] > 0, draw, kind)
        kind = torch.where(describe, DESCRIBE, kind)
        answer, _, O, P, C, D, R, S, N = table[kind, :, rows].T
        u = torch.rand(n, 1, generator=generator, device=dev)
        variant = wordings.first[kind] + (u >= wordings.cdf[kind]).sum(1)
        tokens, length = wordings.tokens[lead, variant], wordings.length[lead, variant]
        values = torch.stack([
            self.kind_word[O], self.kind_word[P], self.plural_word[O], self.color_word[C], self.color_word[D],
            self.article[(C == ORANGE).long()], self.article[(D == ORANGE).long()], self.relation_word[R],
            self.size_word[S], self.number_word[N]
        ], 1)
        tokens = torch.where(tokens < 0, values.gather(1, (-1 - tokens).clamp(min=0)), tokens)

        sentence, sentence_length = self.describe(s)
        short = torch.full_like(sentence, self.tokenizer.eos)
        short[:, 0] = answer
        answers = torch.where(describe[:, None], sentence, short)
        places = wordings.object_at[lead, variant]
        here = torch.arange(5, device=dev)[None] < s['count'][:, None]
        col, row = world.column(s), world.row(s)
        labels = []
        for k, place in ((O, places[:, 0]), (P, places[:, 1])):
            match = (s['kind'] == k[:, None]) & here
            j, asked = match.long().argmax(1), place >= 0
            one = (match.sum(1) == 1) & asked
            label = lambda t: torch.where(one, t.gather(1, j[:, None])[:, 0], -100)
            labels.append(torch.stack([torch.where(asked, match.any(1).long(), -100), label(col), label(row),
                                       label(s['color']), label(s['size'])], 1))
        return (tokens, length, answers, torch.where(describe, sentence_length, 2), places, torch.stack(labels, 1), kind)
