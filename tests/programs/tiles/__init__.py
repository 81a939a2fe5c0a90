"""Products of matrices by tiles, as libraries of templates have them: by warps, by groups of warps, in tensor memory."""
