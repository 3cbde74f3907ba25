"""The lab: real agent CLIs in tmux, offline, driven by a scripted model that knows what each of them is really doing."""
