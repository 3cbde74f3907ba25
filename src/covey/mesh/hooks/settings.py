"""What can be set for the hooks of a mesh peer, in its `config.toml`."""

from __future__ import annotations

from covey.kernel.config.setting import Setting

ENABLED = "hooks.enabled"
CONCURRENCY = "hooks.concurrency"
DEFAULT_TIMEOUT_S = "hooks.default_timeout_s"
MAX_HOPS = "hooks.max_hops"
SANDBOX = "hooks.sandbox"
NO_SANDBOX, BUBBLEWRAP = "none", "bubblewrap"
LONGEST_S = 3600.0
"""The longest time limit of a hook, whoever asks for it."""

SETTINGS = (
    Setting(ENABLED, "Run the programs in the hooks folder.", consent=True, type="bool", default=True),
    Setting(
        CONCURRENCY,
        "How many hooks run at once; further ones wait. As many runs of pre-send may come on top.",
        consent=False,
        type="int",
        default=8,
        minimum=1,
        maximum=64,
    ),
    Setting(
        DEFAULT_TIMEOUT_S,
        "Seconds after which a hook is ended, unless a comment `# covey:timeout=120s` in it says otherwise.",
        consent=False,
        type="float",
        default=30.0,
        minimum=0.1,
        maximum=LONGEST_S,
    ),
    Setting(
        MAX_HOPS,
        "A message that hooks have answered this many times in a row starts no hook that could answer again.",
        consent=True,
        type="int",
        default=4,
        minimum=0,
        maximum=64,
    ),
    Setting(
        SANDBOX,
        "How hooks are confined: bubblewrap (no network, no home, read-only system), or none.",
        consent=True,
        default=NO_SANDBOX,
        enum=(NO_SANDBOX, BUBBLEWRAP),
    ),
)
