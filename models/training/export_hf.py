"""A model of this repository in Hugging Face format, from its GGUF files.

  export_hf.py --model models/tiny-internvl --out DIR

Writes config.json, generation_config.json, model.safetensors, tokenizer.json, tokenizer_config.json and
preprocessor_config.json. Needs the packages gguf and safetensors. The weights are those of the GGUF files, brought back
from q8_0 to half precision. One thing cannot be said in a config: Qwen3-VL's mergers use the exact GELU there and the
tanh one here; they differ by less than 0.0005.
"""
import argparse
import json
import os

import gguf
import numpy as np
from safetensors.numpy import save_file

from tokenizer import CHAT_TEMPLATE, SPECIAL, VOCAB, Tokenizer

QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
         r"\s+(?!\S)|\s+")


def read(path):
    """-> tensors by name, and a function that reads a key."""
    reader = gguf.GGUFReader(path)
    tensors = {}
    for t in reader.tensors:
        quantized = t.tensor_type not in (gguf.GGMLQuantizationType.F32, gguf.GGMLQuantizationType.F16)
        data = gguf.quants.dequantize(t.data, t.tensor_type) if quantized else t.data
        tensors[t.name] = np.array(data, np.float16 if data.ndim > 1 else np.float32)
    return tensors, lambda key: reader.get_field(key).contents()


def language(t, prefix, layers):
    out = {prefix + 'embed_tokens.weight': t['token_embd.weight'], prefix + 'norm.weight': t['output_norm.weight']}
    names = dict(attn_norm='input_layernorm', ffn_norm='post_attention_layernorm', attn_q='self_attn.q_proj',
                 attn_k='self_attn.k_proj', attn_v='self_attn.v_proj', attn_output='self_attn.o_proj',
                 attn_q_norm='self_attn.q_norm', attn_k_norm='self_attn.k_norm', ffn_gate='mlp.gate_proj',
                 ffn_up='mlp.up_proj', ffn_down='mlp.down_proj')
    for i in range(layers):
        for theirs, name in names.items():
            out[f'{prefix}layers.{i}.{name}.weight'] = t[f'blk.{i}.{theirs}.weight']
    return out


def both(out, name, t, source):
    out[name + '.weight'], out[name + '.bias'] = t[source + '.weight'], t[source + '.bias']


def internvl(v, layers):
    tower = 'model.vision_tower.'
    position = v['v.position_embd.weight']
    out = {tower + 'embeddings.cls_token': v['v.class_embd'].reshape(1, 1, -1),
           # llama.cpp keeps the class token last, Hugging Face first.
           tower + 'embeddings.position_embeddings': np.concatenate([position[-1:], position[:-1]])[None]}
    both(out, tower + 'embeddings.patch_embeddings.projection', v, 'v.patch_embd')
    for i in range(layers):
        ours, theirs = f'{tower}encoder.layer.{i}.', f'v.blk.{i}.'
        for a, b in dict(attn_q='attention.q_proj', attn_k='attention.k_proj', attn_v='attention.v_proj',
                         attn_out='attention.projection_layer', ffn_up='mlp.fc1', ffn_down='mlp.fc2',
                         ln1='layernorm_before', ln2='layernorm_after').items():
            both(out, ours + b, v, theirs + a)
        out[ours + 'lambda_1'], out[ours + 'lambda_2'] = v[theirs + 'ls1.weight'], v[theirs + 'ls2.weight']
    for a, b in (('0', 'layer_norm'), ('1', 'linear_1'), ('3', 'linear_2')):
        both(out, 'model.multi_modal_projector.' + b, v, 'mm.model.mlp.' + a)
    return out


def qwen3vl(v, layers, deepstack):
    visual = 'model.visual.'
    kernels = np.stack([v['v.patch_embd.weight'], v['v.patch_embd.weight.1']], 2)  # one for each of two frames
    out = {visual + 'patch_embed.proj.weight': kernels, visual + 'patch_embed.proj.bias': v['v.patch_embd.bias'],
           visual + 'pos_embed.weight': v['v.position_embd.weight']}
    for i in range(layers):
        for a, b in dict(attn_qkv='attn.qkv', attn_out='attn.proj', ffn_up='mlp.linear_fc1', ffn_down='mlp.linear_fc2',
                         ln1='norm1', ln2='norm2').items():
            both(out, f'{visual}blocks.{i}.{b}', v, f'v.blk.{i}.{a}')
    for a, b in (('v.post_ln', 'norm'), ('mm.0', 'linear_fc1'), ('mm.2', 'linear_fc2')):
        both(out, f'{visual}merger.{b}', v, a)
    for j, layer in enumerate(deepstack):
        for a, b in (('norm', 'norm'), ('fc1', 'linear_fc1'), ('fc2', 'linear_fc2')):
            both(out, f'{visual}deepstack_merger_list.{j}.{b}', v, f'v.deepstack.{layer}.{a}')
    return out


def text_config(key, arch, tk):
    a = lambda name: key(f'{arch}.{name}')
    return dict(vocab_size=VOCAB, hidden_size=a('embedding_length'), intermediate_size=a('feed_forward_length'),
                num_hidden_layers=a('block_count'), num_attention_heads=a('attention.head_count'),
                num_key_value_heads=a('attention.head_count_kv'), head_dim=a('attention.key_length'), hidden_act='silu',
                max_position_embeddings=a('context_length'), rms_norm_eps=1e-6, attention_bias=False,
                rope_theta=a('rope.freq_base'), tie_word_embeddings=True, eos_token_id=tk.eos, bos_token_id=tk.pad)


def configs(key, vkey, tk):
    arch = key('general.architecture')
    text = text_config(key, arch, tk)
    a = lambda name: vkey('clip.vision.' + name)
    vision = dict(hidden_size=a('embedding_length'), intermediate_size=a('feed_forward_length'),
                  hidden_act='gelu_pytorch_tanh')
    common = dict(tie_word_embeddings=True, dtype='float16', eos_token_id=tk.eos, pad_token_id=tk.pad)
    mean, std = a('image_mean'), a('image_std')
    side, patch = a('image_size'), a('patch_size')
    processor = dict(do_resize=True, do_rescale=True, rescale_factor=1 / 255, do_normalize=True, image_mean=mean,
                     image_std=std, do_convert_rgb=True)
    if arch == 'qwen3':
        tokens = (side // patch // 2)**2
        vision |= dict(model_type='internvl_vision', num_hidden_layers=a('block_count'), attention_bias=True,
                       num_attention_heads=a('attention.head_count'), image_size=[side, side], patch_size=[patch, patch],
                       use_qk_norm=False, norm_type='layer_norm', layer_norm_eps=1e-6, use_absolute_position_embeddings=True,
                       use_mask_token=False, use_mean_pooling=True)
        config = dict(architectures=['InternVLForConditionalGeneration'], model_type='internvl',
                      text_config=dict(model_type='qwen3', **text), vision_config=vision, downsample_ratio=.5,
                      image_seq_length=tokens, image_token_id=tk.id['<IMG_CONTEXT>'],
                      projector_hidden_act='gelu_pytorch_tanh', vision_feature_layer=-1,
                      vision_feature_select_strategy='default', **common)
        processor |= dict(image_processor_type='GotOcr2ImageProcessorFast', processor_class='InternVLProcessor',
                          size=dict(height=side, width=side), crop_to_patches=False)
        return config, processor
    deepstack = [i for i, deep in enumerate(a('is_deepstack_layers')) if deep]
    sections = key('qwen3vl.rope.dimension_sections')[:3]
    rope = dict(rope_type='default', mrope_interleaved=True, mrope_section=sections, rope_theta=text['rope_theta'])
    vision |= dict(model_type='qwen3_vl', depth=a('block_count'), num_heads=a('attention.head_count'), in_channels=3,
                   patch_size=patch, spatial_merge_size=2, temporal_patch_size=2, out_hidden_size=text['hidden_size'],
                   num_position_embeddings=(side // patch)**2, deepstack_visual_indexes=deepstack)
    config = dict(architectures=['Qwen3VLForConditionalGeneration'], model_type='qwen3_vl',
                  text_config=dict(model_type='qwen3_vl_text', rope_scaling=rope, rope_parameters=rope, **text),
                  vision_config=vision, image_token_id=tk.id['<|image_pad|>'], video_token_id=tk.id['<|video_pad|>'],
                  vision_start_token_id=tk.id['<|vision_start|>'], vision_end_token_id=tk.id['<|vision_end|>'], **common)
    pixels = dict(shortest_edge=side * side, longest_edge=side * side)  # 49 image tokens, whatever the picture's size
    processor |= dict(image_processor_type='Qwen2VLImageProcessorFast', processor_class='Qwen3VLProcessor', size=pixels,
                      patch_size=patch, merge_size=2, temporal_patch_size=2)
    return config, processor


def tokenizer_files(tk):
    added = [dict(id=tk.id[t], content=t, single_word=False, lstrip=False, rstrip=False, normalized=False, special=True)
             for t in SPECIAL]
    byte_level = dict(type='ByteLevel', add_prefix_space=False, trim_offsets=False, use_regex=False)
    split = dict(type='Split', pattern=dict(Regex=QWEN2), behavior='Isolated', invert=False)
    tokenizer = dict(version='1.0', truncation=None, padding=None, added_tokens=added, normalizer=None,
                     pre_tokenizer=dict(type='Sequence', pretokenizers=[split, byte_level]), post_processor=None,
                     decoder=byte_level,
                     model=dict(type='BPE', dropout=None, unk_token=None, continuing_subword_prefix='',
                                end_of_word_suffix='', fuse_unk=False, byte_fallback=False, ignore_merges=False,
                                vocab={t: i for i, t in enumerate(tk.tokens)}, merges=[list(m) for m in tk.merges]))
    config = dict(tokenizer_class='PreTrainedTokenizerFast', eos_token='<|im_end|>', pad_token='<|endoftext|>',
                  chat_template=CHAT_TEMPLATE, clean_up_tokenization_spaces=False, model_max_length=4096,
                  start_image_token='<img>', end_image_token='</img>', context_image_token='<IMG_CONTEXT>')
    return tokenizer, config


def main(model, out):
    tk = Tokenizer()
    language_tensors, key = read(os.path.join(model, 'model.gguf'))
    vision_tensors, vkey = read(os.path.join(model, 'mmproj.gguf'))
    config, processor = configs(key, vkey, tk)
    weights = language(language_tensors, 'model.language_model.', config['text_config']['num_hidden_layers'])
    if config['model_type'] == 'internvl':
        weights |= internvl(vision_tensors, config['vision_config']['num_hidden_layers'])
    else:
        v = config['vision_config']
        weights |= qwen3vl(vision_tensors, v['depth'], v['deepstack_visual_indexes'])
    os.makedirs(out, exist_ok=True)
    save_file({k: np.ascontiguousarray(w, np.float16) for k, w in weights.items()}, os.path.join(out, 'model.safetensors'),
              metadata=dict(format='pt'))
    tokenizer, tokenizer_config = tokenizer_files(tk)
    generation = dict(eos_token_id=tk.eos, pad_token_id=tk.pad, do_sample=False)
    for name, content in (('config', config), ('generation_config', generation), ('preprocessor_config', processor),
                          ('tokenizer', tokenizer), ('tokenizer_config', tokenizer_config)):
        with open(os.path.join(out, name + '.json'), 'w') as f:
            json.dump(content, f, indent=1, ensure_ascii=False)


if __name__ == '__main__':
    p = argparse.ArgumentParser()
    p.add_argument('--model', required=True)
    p.add_argument('--out', required=True)
    args = p.parse_args()
    main(args.model, args.out)
