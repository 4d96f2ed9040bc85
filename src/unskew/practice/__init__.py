"""From a table in a file to a model, a ranked list, an estimate and a page: what the commands do."""
