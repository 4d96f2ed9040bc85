"""Data as training sees it: rows by number, positive-unlabeled data, the checks at the door, hold-outs."""
