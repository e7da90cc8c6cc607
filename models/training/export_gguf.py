"""Weights of train.py -> GGUF pair for llama.cpp.

  export_gguf.py --arch internvl --weights DIR --out DIR [--type q8_0|f16]     writes model.gguf and mmproj.gguf

Needs the package gguf. Convolution kernels stay f16 and the position table f32: llama.cpp has no other kernels for them.
"""
import argparse
import json
import os

import gguf
import numpy as np

from tokenizer import CHAT_TEMPLATE, VOCAB, Tokenizer


class Writer:
    def __init__(self, path, arch, name, quantized):
        self.w = gguf.GGUFWriter(path, arch)
        self.quantized = quantized
        self.w.add_name(name)
        self.w.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0 if quantized else gguf.LlamaFileType.MOSTLY_F16)
        self.w.add_quantization_version(2)

    def put(self, name, a, keep=None):
        if a.ndim < 2 or keep == 'f32':
            self.w.add_tensor(name, np.ascontiguousarray(a, np.float32))
        elif self.quantized and not keep and a.shape[-1] % 32 == 0:
            q8 = gguf.GGMLQuantizationType.Q8_0
            self.w.add_tensor(name, gguf.quants.quantize(np.ascontiguousarray(a, np.float32), q8), raw_dtype=q8)
        else:
            self.w.add_tensor(name, np.ascontiguousarray(a, np.float16))

    def both(self, name, state, source):
        self.put(name + '.weight', state[source + '.weight'])
        self.put(name + '.bias', state[source + '.bias'])

    def close(self):
        self.w.write_header_to_file()
        self.w.write_kv_data_to_file()
        self.w.write_tensors_to_file()
        self.w.close()


def load(folder, arch):
    state, meta = {}, None
    for part in ('vision', 'language'):
        file = np.load(os.path.join(folder, f'{arch}-{part}.npz'))
        meta = json.loads(str(file['meta']))
        state.update({k: file[k] for k in file.files if k != 'meta'})
    return state, meta['config']


def language(path, name, state, c, quantized):
    internvl = c['arch'] == 'internvl'
    tk = Tokenizer()
    out = Writer(path, 'qwen3' if internvl else 'qwen3vl', name, quantized)
    w = out.w
    w.add_context_length(4096)
    w.add_embedding_length(c['width'])
    w.add_block_count(c['layers'])
    w.add_feed_forward_length(c['ff'])
    w.add_head_count(c['heads'])
    w.add_head_count_kv(c['kv_heads'])
    w.add_key_length(c['head_width'])
    w.add_value_length(c['head_width'])
    w.add_rope_freq_base(c['rope_base'])
    w.add_layer_norm_rms_eps(c['eps'])
    if not internvl:
        w.add_rope_dimension_sections(list(c['sections']) + [0])
        w.add_num_deepstack_layers(len(c['deepstack']))
    w.add_tokenizer_model('gpt2')
    w.add_tokenizer_pre('qwen2')
    w.add_token_list(tk.tokens)
    w.add_token_types([gguf.TokenType.NORMAL] * tk.n_normal + [gguf.TokenType.CONTROL] * (tk.n_used - tk.n_normal) +
                      [gguf.TokenType.UNUSED] * (VOCAB - tk.n_used))
    w.add_token_merges([f'{a} {b}' for a, b in tk.merges])
    w.add_eos_token_id(tk.eos)
    w.add_pad_token_id(tk.pad)
    w.add_bos_token_id(tk.pad)
    w.add_add_bos_token(False)
    w.add_chat_template(CHAT_TEMPLATE)
    out.put('token_embd.weight', state['embed.weight'])  # the output is tied to it
    out.put('output_norm.weight', state['norm.weight'])
    names = dict(n1='attn_norm', n2='ffn_norm', qn='attn_q_norm', kn='attn_k_norm', q='attn_q', k='attn_k', v='attn_v',
                 o='attn_output', gate='ffn_gate', up='ffn_up', down='ffn_down')
    for i in range(c['layers']):
        for ours, theirs in names.items():
            out.put(f'blk.{i}.{theirs}.weight', state[f'blocks.{i}.{ours}.weight'])
    out.close()


def vision(path, name, state, c, quantized):
    internvl = c['arch'] == 'internvl'
    v = {k[len('vision.'):]: t for k, t in state.items() if k.startswith('vision.')}
    out = Writer(path, 'clip', name + '-mmproj', quantized)
    w = out.w
    w.add_bool('clip.has_vision_encoder', True)
    w.add_string('clip.projector_type', 'internvl' if internvl else 'qwen3vl_merger')
    w.add_bool('clip.use_gelu', True)
    for key, value in dict(image_size=c['image'], patch_size=c['patch'], embedding_length=c['vision_width'],
                           feed_forward_length=c['vision_ff'], block_count=c['vision_layers'],
                           projection_dim=c['width']).items():
        w.add_uint32('clip.vision.' + key, value)
    w.add_uint32('clip.vision.attention.head_count', c['vision_heads'])
    w.add_float32('clip.vision.attention.layer_norm_epsilon', c['eps'])
    w.add_array('clip.vision.image_mean', list(c['mean']))
    w.add_array('clip.vision.image_std', list(c['std']))
    if internvl:
        w.add_uint32('clip.vision.projector.scale_factor', 2)
        w.add_uint32('clip.vision.preproc_min_tiles', 1)
        w.add_uint32('clip.vision.preproc_max_tiles', 1)
    else:
        w.add_uint32('clip.vision.spatial_merge_size', 2)
        w.add_array('clip.vision.is_deepstack_layers', [i in c['deepstack'] for i in range(c['vision_layers'])])
    kernel = v['patch.weight'].astype(np.float32)
    if internvl:
        out.put('v.patch_embd.weight', kernel, 'f16')
        out.put('v.class_embd', v['cls'].reshape(-1))
    else:  # a still picture goes through both kernels of the two frames: half in each
        out.put('v.patch_embd.weight', kernel / 2, 'f16')
        out.put('v.patch_embd.weight.1', kernel / 2, 'f16')
    out.put('v.patch_embd.bias', v['patch.bias'])
    out.put('v.position_embd.weight', v['pos'][0], 'f32')
    for i in range(c['vision_layers']):
        ours, theirs = f'blocks.{i}.', f'v.blk.{i}.'
        for a, b in dict(n1='ln1', n2='ln2', o='attn_out', up='ffn_up', down='ffn_down').items():
            out.both(theirs + b, v, ours + a)
        if internvl:
            for j, b in enumerate(('attn_q', 'attn_k', 'attn_v')):
                out.put(theirs + b + '.weight', np.split(v[ours + 'qkv.weight'], 3)[j])
                out.put(theirs + b + '.bias', np.split(v[ours + 'qkv.bias'], 3)[j])
            out.put(theirs + 'ls1.weight', v[ours + 'ls1'])
            out.put(theirs + 'ls2.weight', v[ours + 'ls2'])
        else:
            out.both(theirs + 'attn_qkv', v, ours + 'qkv')
    if internvl:
        for a, b in (('norm', '0'), ('fc1', '1'), ('fc2', '3')):
            out.both('mm.model.mlp.' + b, v, 'merge.' + a)
    else:
        for a, b in (('norm', 'v.post_ln'), ('fc1', 'mm.0'), ('fc2', 'mm.2')):
            out.both(b, v, 'merge.' + a)
        for j, layer in enumerate(c['deepstack']):
            for a in ('norm', 'fc1', 'fc2'):
                out.both(f'v.deepstack.{layer}.{a}', v, f'deep.{j}.{a}')
    out.close()


if __name__ == '__main__':
    p = argparse.ArgumentParser()
    p.add_argument('--arch', choices=['internvl', 'qwen3vl'], required=True)
    p.add_argument('--weights', required=True)
    p.add_argument('--out', required=True)
    p.add_argument('--type', choices=['q8_0', 'f16'], default='q8_0')
    args = p.parse_args()
    os.makedirs(args.out, exist_ok=True)
    weights, cfg = load(args.weights, args.arch)
    label = 'tiny-' + args.arch
    language(os.path.join(args.out, 'model.gguf'), label, weights, cfg, args.type == 'q8_0')
    vision(os.path.join(args.out, 'mmproj.gguf'), label, weights, cfg, args.type == 'q8_0')
    for name in ('model.gguf', 'mmproj.gguf'):
        print(name, os.path.getsize(os.path.join(args.out, name)))
