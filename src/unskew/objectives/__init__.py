"""Mathematics: surrogates, weights, sums over pairs, risks, the AUC, bounds. Tensors in, tensors out."""
