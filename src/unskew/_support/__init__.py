"""What every other folder may use and none is about: files, progress bars, texts, seeds, records, model files."""
