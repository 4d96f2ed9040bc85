"""The pages of the studio, a module for each part of the way from a file to checked rows."""
