"""The two models, as llama.cpp computes them.

Where llama.cpp and Hugging Face differ the forward pass follows llama.cpp's graphs (tools/mtmd/models/internvl.cpp and
qwen3vl.cpp, src/models/qwen3.cpp and qwen3vl.cpp): GELU is the tanh one, and InternVL's class token comes after the
patches. export_hf.py undoes the second.
"""
from dataclasses import asdict, dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

from questions import REFERENT
from tokenizer import VOCAB
from world import SIZE


@dataclass
class Config:
    arch: str
    width: int = 256
    layers: int = 6
    heads: int = 4
    kv_heads: int = 2
    head_width: int = 64
    ff: int = 768
    rope_base: float = 10000.
    vocab: int = VOCAB
    vision_width: int = 192
    vision_layers: int = 6
    vision_heads: int = 3
    vision_ff: int = 768
    image: int = SIZE
    eps: float = 1e-6
    patch: int = 14
    deepstack: tuple = ()      # vision layers whose output is also handed to the first language layers
    sections: tuple = ()       # M-RoPE: pairs that turn with time, row, column
    mean: tuple = (.485, .456, .406)
    std: tuple = (.229, .224, .225)
    image_begin: str = '<img>'
    image_end: str = '</img>'

    @property
    def internvl(self):
        return self.arch == 'internvl'

    @property
    def side(self):  # image tokens a side: patches are merged two by two
        return self.image // self.patch // 2

    def json(self):
        return asdict(self)


def config(arch):
    if arch == 'internvl':
        return Config(arch)
    # Sections [11, 11, 10] are interleaved the same way by llama.cpp and by Hugging Face; with [12, 10, 10] the last
    # pair turns in one and stands still in the other.
    return Config(arch, patch=16, deepstack=(1, 3), sections=(11, 11, 10), mean=(.5, .5, .5), std=(.5, .5, .5),
                  image_begin='<|vision_start|>', image_end='<|vision_end|>')


def gelu(x):
    return F.gelu(x, approximate='tanh')


def rotate(t, cos, sin):  # pairs (j, j + half)
    a, b = t.chunk(2, -1)
    return t * cos + torch.cat([-b, a], -1) * sin


class VisionBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        d = c.vision_width
        self.heads = c.vision_heads
        self.n1, self.n2 = nn.LayerNorm(d, c.eps), nn.LayerNorm(d, c.eps)
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, c.vision_ff), nn.Linear(c.vision_ff, d)
        self.scaled = c.internvl
        if self.scaled:
            self.ls1, self.ls2 = nn.Parameter(torch.full((d, ), .2)), nn.Parameter(torch.full((d, ), .2))

    def forward(self, x, turn):
        b, n, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if turn is not None:
            q, k = rotate(q, *turn).to(v.dtype), rotate(k, *turn).to(v.dtype)
        a = self.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d))
        x = x + (a * self.ls1 if self.scaled else a)
        f = self.down(gelu(self.up(self.n2(x))))
        return x + (f * self.ls2 if self.scaled else f)


class Merger(nn.Module):
    """norm -> fc1 -> gelu -> fc2 over two-by-two patches. The caller says where the norm goes."""

    def __init__(self, c, norm_width, hidden, eps):
        super().__init__()
        self.norm = nn.LayerNorm(norm_width, eps)
        self.fc1, self.fc2 = nn.Linear(4 * c.vision_width, hidden), nn.Linear(hidden, c.width)

    def forward(self, x):
        return self.fc2(gelu(self.fc1(x)))


class Vision(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c, d = c, c.vision_width
        patches = c.image // c.patch
        self.patch = nn.Conv2d(3, d, c.patch, c.patch)
        self.pos = nn.Parameter(torch.randn(1, patches * patches + c.internvl, d) * .02)
        self.blocks = nn.ModuleList([VisionBlock(c) for _ in range(c.vision_layers)])
        if c.internvl:
            self.cls = nn.Parameter(torch.randn(1, 1, d) * .02)
            self.merge = Merger(c, 4 * d, c.width, 1e-5)  # llama.cpp fixes this epsilon
        else:
            self.merge = Merger(c, d, 4 * d, c.eps)
            grid = torch.arange(patches).float()
            yy, xx = torch.meshgrid(grid, grid, indexing='ij')
            quarter = d // c.vision_heads // 4
            freq = 10000. ** (-torch.arange(quarter).float() / quarter)
            a = torch.cat([yy.reshape(-1, 1) * freq, xx.reshape(-1, 1) * freq], 1)
            a = self._by_two(torch.cat([a, a], 1)[None])[0]
            self.register_buffer('cos', a.cos(), False)
            self.register_buffer('sin', a.sin(), False)
        self.deep = nn.ModuleList([Merger(c, 4 * d, 4 * d, c.eps) for _ in c.deepstack])

    def _by_two(self, x):  # row-major patches -> two-by-two blocks, dy then dx fastest
        b, n, width = x.shape
        side = self.c.side
        return x.view(b, side, 2, side, 2, width).permute(0, 1, 3, 2, 4, 5).reshape(b, n, width)

    def forward(self, image):
        c = self.c
        x = self.patch(image).flatten(2).transpose(1, 2)
        b, _, d = x.shape
        tokens = c.side * c.side
        if c.internvl:
            x = torch.cat([x, self.cls.expand(b, -1, -1).to(x.dtype)], 1) + self.pos
            for block in self.blocks:
                x = block(x, None)
            x = self._by_two(x[:, :-1]).reshape(b, tokens, 4 * d)
            return self.merge(self.merge.norm(x)), []
        x, deep = self._by_two(x) + self._by_two(self.pos), []
        for i, block in enumerate(self.blocks):
            x = block(x, (self.cos, self.sin))
            if i in c.deepstack:  # normed after merging, unlike the main merger
                m = self.deep[c.deepstack.index(i)]
                deep.append(m(m.norm(x.reshape(b, tokens, 4 * d))))
        return self.merge(self.merge.norm(x).reshape(b, tokens, 4 * d)), deep


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        linear = lambda a, b: nn.Linear(a, b, bias=False)
        self.n1, self.n2 = nn.RMSNorm(c.width, eps=c.eps), nn.RMSNorm(c.width, eps=c.eps)
        self.qn, self.kn = nn.RMSNorm(c.head_width, eps=c.eps), nn.RMSNorm(c.head_width, eps=c.eps)
        self.q, self.o = linear(c.width, c.heads * c.head_width), linear(c.heads * c.head_width, c.width)
        self.k, self.v = (linear(c.width, c.kv_heads * c.head_width) for _ in range(2))
        self.gate, self.up, self.down = linear(c.width, c.ff), linear(c.width, c.ff), linear(c.ff, c.width)

    def forward(self, x, turn, mask):
        c = self.c
        b, n, _ = x.shape
        z = self.n1(x)
        heads = lambda t, h: t.view(b, n, h, c.head_width).transpose(1, 2)
        q, k, v = self.qn(heads(self.q(z), c.heads)), self.kn(heads(self.k(z), c.kv_heads)), heads(self.v(z), c.kv_heads)
        q, k = rotate(q, *turn).to(v.dtype), rotate(k, *turn).to(v.dtype)
        k, v = (t.repeat_interleave(c.heads // c.kv_heads, 1) for t in (k, v))
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask.to(v.dtype))
        x = x + self.o(a.transpose(1, 2).reshape(b, n, -1))
        z = self.n2(x)
        return x + self.down(F.silu(self.gate(z)) * self.up(z))


class Model(nn.Module):
    """Forward takes a batch as sequences.py lays it out, and gives the logits asked for and both probes."""

    def __init__(self, c, layout):
        super().__init__()
        self.c, self.layout = c, layout
        self.vision = Vision(c)
        self.embed = nn.Embedding(c.vocab, c.width)
        nn.init.normal_(self.embed.weight, std=.02)
        self.blocks = nn.ModuleList([Block(c) for _ in range(c.layers)])
        self.norm = nn.RMSNorm(c.width, eps=c.eps)
        # Probes, dropped at export: what lies under each image token; what the objects a question names are like.
        self.token_probe = nn.Linear(c.width, 13 + 8 + 2 + 2 * c.side)
        self.referent_probe = nn.Sequential(nn.RMSNorm(c.width, eps=c.eps), nn.Linear(c.width, sum(REFERENT)))
        half = c.head_width // 2
        axis = torch.zeros(half, dtype=torch.long)
        if c.sections:
            axis[1:3 * c.sections[1]:3], axis[2:3 * c.sections[2]:3] = 1, 2
        self.register_buffer('axis', axis, False)
        self.register_buffer('freq', c.rope_base**(-torch.arange(half).float() / half), False)
        for name in ('own', 'earlier', 'eye'):
            self.register_buffer(name, getattr(layout, name), False)

    def forward(self, image, prefix, rows, position, valid, chat, at, referent_at):
        seen = (self.own | (self.earlier & chat[:, None, None])) & valid[:, None] | self.eye
        image_tokens, deep = self.vision(image)
        e = self.embed(torch.cat([prefix, rows], 1))
        mask = torch.where(seen, 0., -1e4)[:, None].to(image_tokens.dtype)
        angle = position[:, self.axis].transpose(1, 2).float() * self.freq
        angle = torch.cat([angle, angle], -1)[:, None]
        turn = (angle.cos(), angle.sin())
        seen_tokens = torch.cat([image_tokens] * self.layout.copies, 1)
        p, q = prefix.shape[1], prefix.shape[1] + seen_tokens.shape[1]
        x = torch.cat([e[:, :p], seen_tokens.to(e.dtype), e[:, p:]], 1)
        middle = None
        for i, block in enumerate(self.blocks):
            x = block(x, turn, mask)
            if i < len(deep):
                x = torch.cat([x[:, :p], x[:, p:q] + deep[i].to(x.dtype), x[:, q:]], 1)
            if i == self.c.layers // 2:
                middle = x
        gather = lambda t, places: t.gather(1, places[..., None].expand(-1, -1, self.c.width))
        logits = F.linear(self.norm(gather(x, at)), self.embed.weight)
        return logits, self.token_probe(image_tokens), self.referent_probe(gather(middle, referent_at))
