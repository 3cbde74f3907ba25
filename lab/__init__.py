"""The lab: real agent CLIs in tmux, offline, driven by a scripted model that knows the true state of each of them."""
