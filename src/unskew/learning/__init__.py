"""Networks and the one training loop. Nothing here knows a method."""
