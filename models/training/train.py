"""Trains one model. Everything a step sees is a function of the seed and the step number.

  train.py --arch internvl --out DIR [--steps N] [--decay K]

The learning rate warms up, stays, and falls over the last K steps. DIR gets checkpoint.pt (resumed from when there),
log.jsonl, and at the end weights (<arch>-language.npz, <arch>-vision.npz) and eval.json.
--deadline S: begin the fall early enough to be done S seconds from the start; the log says at which step it began, and
`--steps` set to what the log says reproduces the run.
"""
import argparse
import json
import math
import os
import time

import numpy as np
import torch
import torch.nn.functional as F

from model import Model, config
from questions import REFERENT, TYPES
from sequences import MODES, ROWS, SHORT_ROWS, Mode, Sequences
from tokenizer import Tokenizer

CHUNK = 8  # batches made at once: many small kernels cost more in launches than in work


def split_loss(x, sizes, labels):
    """Sum of cross entropies over groups of columns; x [n, sum of sizes], labels [n, groups], -100: not asked."""
    loss, begin = 0., 0
    for i, size in enumerate(sizes):
        loss = loss + F.cross_entropy(x[:, begin:begin + size].float(), labels[:, i], ignore_index=-100)
        begin += size
    return loss


class Trainer:
    def __init__(self, args):
        self.args, self.device = args, 'cuda' if torch.cuda.is_available() else 'cpu'
        self.cuda = self.device == 'cuda'
        torch.manual_seed(args.seed)
        torch.set_float32_matmul_precision('high')
        self.c, self.tk = config(args.arch), Tokenizer()
        self.data = Sequences(self.c, self.tk, self.device, self.cuda, args.doubled)
        self.model = Model(self.c, self.data.layout).to(self.device)
        self.run = torch.compile(self.model, dynamic=False) if self.cuda else self.model
        matrices = [p for p in self.model.parameters() if p.ndim > 1]
        vectors = [p for p in self.model.parameters() if p.ndim < 2]
        self.opt = torch.optim.AdamW([dict(params=matrices, weight_decay=.05), dict(params=vectors, weight_decay=0.)],
                                     lr=args.lr, betas=(.9, .98), fused=self.cuda)
        side = self.c.side
        j = torch.arange(side * side, device=self.device)
        self.grid = torch.stack([j % side, torch.div(j, side, rounding_mode='floor')], 1)
        self.step, self.decay_at, self.seconds, self.chunk = 0, args.steps - args.decay, 0., None
        self.first = 0  # where the optimiser started

    def amp(self):
        return torch.autocast(self.device, torch.bfloat16, enabled=self.cuda)

    def generator(self, *numbers):
        g = torch.Generator(device=self.device)
        seed = self.args.seed
        for n in numbers:
            seed = seed * 1000003 + n + 1
        g.manual_seed(seed % 2**62)
        return g

    def batch(self):
        b = self.args.batch
        i = self.step % CHUNK
        if self.chunk is None or i == 0:
            with torch.no_grad():
                self.chunk = self.data.make(CHUNK * b, self.generator(1, self.step // CHUNK))
        return tuple({k: v[i * b:(i + 1) * b] for k, v in part.items()} for part in self.chunk)

    def rate(self):
        warm = min(1., (self.step - self.first + 1) / self.args.warmup)
        fall = max(0., (self.step - self.decay_at) / self.args.decay)
        return self.args.lr * warm * (.5 * (1 + math.cos(math.pi * min(1., fall))) * .99 + .01)

    def losses(self, inputs, labels):
        with self.amp():
            logits, token, referent = self.run(**inputs)
        n = logits.shape[0]
        cut = SHORT_ROWS * 2
        ce = lambda part: F.cross_entropy(logits[:, part].float().flatten(0, 1), labels['target'][:, part].flatten(),
                                          ignore_index=-100)
        answers, sentence = ce(slice(0, cut)), ce(slice(cut, None))
        tokens = torch.cat([labels['tokens'], self.grid[None].expand(n, -1, -1)], 2).flatten(0, 1)
        side = self.c.side
        probe = split_loss(token.flatten(0, 1), (13, 8, 2, side, side), tokens)
        return answers, sentence, probe, split_loss(referent.flatten(0, 1), REFERENT, labels['referent'].flatten(0, 1))

    def train_step(self):
        inputs, labels = self.batch()
        answers, sentence, probe, referent = self.losses(inputs, labels)
        late = self.step >= self.decay_at
        loss = answers + .5 * sentence + (.1 if late else .5) * probe + (.1 if late else .3) * referent
        rate = self.rate()
        for group in self.opt.param_groups:
            group['lr'] = rate
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.)
        self.opt.step()
        self.step += 1
        return dict(answers=answers, sentence=sentence, probe=probe, referent=referent)

    @torch.no_grad()
    def evaluate(self, name, chunks, seed=0):
        """Greedy first tokens against the truth on scenes training never draws -> overall, end of turn, per type."""
        b, n_types = self.args.batch, len(TYPES)
        right, asked = torch.zeros(n_types, device=self.device), torch.zeros(n_types, device=self.device)
        ended, turns = 0., 0
        for i in range(chunks):
            inputs, labels = self.data.make(CHUNK * b, self.generator(2, seed, MODES.index(name), i), Mode(name))
            for k in range(CHUNK):
                part = slice(k * b, (k + 1) * b)
                with self.amp():
                    logits, _, _ = self.run(**{key: v[part] for key, v in inputs.items()})
                hit = logits.argmax(-1) == labels['target'][part]
                short = hit[:, :SHORT_ROWS * 2].view(b, SHORT_ROWS, 2)
                ended += short[..., 1].float().sum().item()
                turns += b * SHORT_ROWS
                whole = (hit | (labels['target'][part] == -100))[:, SHORT_ROWS * 2:].all(1)
                ok, kind = torch.cat([short[..., 0], whole[:, None]], 1), labels['kind'][part]
                if name in ('benchmark', 'raw'):
                    ok, kind = ok[:, -1:] if name == 'benchmark' else ok, kind[:, -1:] if name == 'benchmark' else kind
                right += torch.bincount(kind.flatten(), ok.flatten().float(), n_types)
                asked += torch.bincount(kind.flatten(), minlength=n_types)
        per = {t: round((right[i] / asked[i]).item(), 4) for i, t in enumerate(TYPES) if asked[i] > 0}
        closed = slice(0, n_types - 1)
        return dict(accuracy=round((right[closed].sum() / asked[closed].sum()).item(), 4), asked=int(asked.sum().item()),
                    end_of_turn=round(ended / turns, 4), per_type=per)

    def log(self, record):
        line = json.dumps(dict(arch=self.args.arch, step=self.step, seconds=round(self.seconds, 1), **record))
        print(line, flush=True)
        with open(os.path.join(self.args.out, f'{self.args.arch}-log.jsonl'), 'a') as f:
            f.write(line + '\n')

    # ------------------------------------------------------------------------------------------ files
    def path(self, name):
        return os.path.join(self.args.out, f'{self.args.arch}-{name}')

    def save(self):
        state = dict(model=self.model.state_dict(), opt=self.opt.state_dict(), step=self.step, seconds=self.seconds,
                     decay_at=self.decay_at)
        torch.save(state, self.path('checkpoint.pt') + '.new')
        os.replace(self.path('checkpoint.pt') + '.new', self.path('checkpoint.pt'))
        self.export()

    def export(self):
        """Weights for the exporters, matrices in half precision, without the probes."""
        state = {k: v.detach().float().cpu().numpy() for k, v in self.model.state_dict().items() if 'probe' not in k}
        half = lambda k, v: v.astype(np.float16) if v.ndim > 1 and not k.endswith(('pos', 'cls')) else v
        state = {k: half(k, v) for k, v in state.items()}
        meta = json.dumps(dict(config=self.c.json(), step=self.step, seed=self.args.seed))
        for name, vision in (('vision', True), ('language', False)):
            part = {k: v for k, v in state.items() if k.startswith('vision.') == vision}
            np.savez(self.path(name + '.new.npz'), meta=meta, **part)
            os.replace(self.path(name + '.new.npz'), self.path(name + '.npz'))

    def resume(self):
        if os.path.exists(self.path('checkpoint.pt')):
            state = torch.load(self.path('checkpoint.pt'), map_location=self.device)
            self.model.load_state_dict(state['model'])
            self.opt.load_state_dict(state['opt'])
            self.step, self.seconds, self.decay_at = state['step'], state['seconds'], state['decay_at']
        elif os.path.exists(self.path('language.npz')):  # weights alone: the optimiser starts afresh
            state, meta = {}, None
            for name in ('vision', 'language'):
                part = np.load(self.path(name + '.npz'))
                meta = json.loads(str(part['meta']))
                state.update({k: torch.tensor(part[k]).float() for k in part.files if k != 'meta'})
            self.model.load_state_dict(state, strict=False)
            self.step = self.first = meta['step']

    def main(self):
        args = self.args
        os.makedirs(args.out, exist_ok=True)
        self.resume()
        parameters = sum(p.numel() for n, p in self.model.named_parameters() if 'probe' not in n)
        self.log(dict(parameters=parameters, sequence=self.data.layout.length, steps=args.steps, batch=args.batch,
                      seed=args.seed, lr=args.lr, torch=torch.__version__))
        begin, mark, before = time.time(), None, self.seconds
        while self.step < self.decay_at + args.decay:
            losses = self.train_step()
            if self.step % 50 == 0:
                if self.cuda:
                    torch.cuda.synchronize()
                now = time.time()
                self.seconds = before + now - begin
                if mark and args.deadline and self.step < self.decay_at:
                    pace = (now - mark[1]) / (self.step - mark[0])
                    if now - begin + pace * args.decay >= args.deadline:
                        self.decay_at = self.step
                        self.log(dict(decay_at=self.step))
                if not mark and self.step >= 50:
                    mark = (self.step, now)
            if self.step % args.every == 0:
                e = self.evaluate('plain', 1)
                weak = {k: v for k, v in e['per_type'].items() if v < .98}
                self.log(dict(rate=self.rate(), accuracy=e['accuracy'], end_of_turn=e['end_of_turn'], weak=weak,
                              **{k: round(v.item(), 4) for k, v in losses.items()}))
                self.save()
        self.save()
        final = {name: self.evaluate(name, args.eval_chunks, seed=1) for name in MODES if name != 'doubled' or args.doubled}
        with open(self.path('eval.json'), 'w') as f:
            json.dump(dict(step=self.step, decay_at=self.decay_at, seconds=self.seconds, **final), f, indent=1)
        self.log(dict(final={k: v['accuracy'] for k, v in final.items()}, weakest=sorted(
            final['plain']['per_type'].items(), key=lambda kv: kv[1])[:5], plain=final['plain']))


if __name__ == '__main__':
    p = argparse.ArgumentParser()
    p.add_argument('--arch', choices=['internvl', 'qwen3vl'], required=True)
    p.add_argument('--out', required=True)
    p.add_argument('--steps', type=int, default=20000)
    p.add_argument('--decay', type=int, default=4000)
    p.add_argument('--warmup', type=int, default=500)
    p.add_argument('--batch', type=int, default=128)
    p.add_argument('--lr', type=float, default=1e-3)
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--every', type=int, default=1000)
    p.add_argument('--eval-chunks', type=int, default=4)
    p.add_argument('--doubled', type=float, default=0., help='share of sequences that see the picture twice (InternVL)')
    p.add_argument('--deadline', type=float, default=0)
    Trainer(p.parse_args()).main()
