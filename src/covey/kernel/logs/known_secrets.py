"""The shapes of keys and tokens that their issuers have made recognisable: most begin with a fixed word.

Each shape is a verbose regular expression. None can be slow, however hostile a text is: a repetition without an upper
bound is possessive, and nothing but the end of the shape, or a character that the repetition excludes, follows it.
"""

from __future__ import annotations

_MODELS = r"""
      sk-[A-Za-z0-9_\-]{16,}+ | sk_[0-9a-f]{40,}+ | csk-[a-z0-9]{40,}+      # Anthropic, OpenAI; ElevenLabs; Cerebras
    | gsk_[A-Za-z0-9]{30,}+ | xai-[A-Za-z0-9]{40,}+ | pplx-[A-Za-z0-9]{30,}+    # Groq; xAI; Perplexity
    | r8_[A-Za-z0-9]{30,}+ | hf_[A-Za-z0-9]{30,}+ | api_org_[A-Za-z0-9]{30,}+   # Replicate; Hugging Face
    | nvapi-[A-Za-z0-9_\-]{40,}+ | fw_[A-Za-z0-9]{24,}+ | jina_[A-Za-z0-9_\-]{40,}+  # NVIDIA; Fireworks; Jina
    | tvly-[A-Za-z0-9_\-]{20,}+ | fc-[0-9a-f]{32}(?![0-9a-f]) | e2b_[0-9a-f]{40} # Tavily; Firecrawl; E2B
    | lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10} | crsr_[A-Za-z0-9]{32,}+         # LangSmith; Cursor
    | key_[0-9a-f]{64}
"""
_CODE = r"""
      gh[pousr]_[A-Za-z0-9]{16,}+ | github_pat_[A-Za-z0-9_]{20,}+
    | gl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|wt|ffct)-[A-Za-z0-9_\-]{16,}+(?:\.[0-9a-z]{2}\.?[0-9a-z]{7,9})?
    | GR1348941[A-Za-z0-9_\-]{20,}+                                             # GitLab
    | AT(?:ATT3|BB|CTT3)[A-Za-z0-9_\-=]{20,}+                                   # Atlassian
    | npm_[A-Za-z0-9]{30,}+ | pypi-[A-Za-z0-9_\-]{30,}+ | rubygems_[0-9a-f]{40,}+
    | cio[A-Za-z0-9]{32}(?![A-Za-z0-9]) | oy2[a-z0-9]{43}(?![A-Za-z0-9])        # crates.io; NuGet
    | CLOJARS_[a-z0-9]{50,}+ | dd[pw]_[A-Za-z0-9]{36}(?![A-Za-z0-9])            # Clojars; Deno
    | AKCp[A-Za-z0-9]{50,}+ | cmVmdGtu[A-Za-z0-9]{50,}+                         # Artifactory
    | dckr_(?:pat|oat)_[A-Za-z0-9_\-]{20,}+ | sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}  # Docker; Sourcegraph
    | snyk_[a-z]{2,4}\.[0-9a-f]{8}\.[A-Za-z0-9_\-]{8,}+(?:\.[A-Za-z0-9_\-]++){0,2}
    | bk(?:ua|pt|at|ct|aj|q)_[0-9a-f]{40} | CCI(?:PAT|PRJ)_[A-Za-z0-9]{10,30}_[0-9a-f]{40}  # Buildkite; CircleCI
    | pul-[0-9a-f]{40} | [A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=\-]{40,}+        # Pulumi; Terraform Cloud
    | API-[A-Z0-9]{26}(?![A-Za-z0-9]) | pnu_[A-Za-z0-9]{36}(?![A-Za-z0-9])      # Octopus Deploy; Prefect
    | [A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])                          # Azure DevOps
"""
_CLOUDS = r"""
      (?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])                        # AWS: keys
    | (?:IQoJb3JpZ2lu|F[Qw]oGZXIvYXdz|F[Qw]oDYXdz)[A-Za-z0-9%+/=]{16,}+         # AWS: tokens of a session
    | ABSK[A-Za-z0-9+/=]{60,}+ | bedrock-api-key-[A-Za-z0-9+/=_\-]{20,}+        # AWS: Bedrock
    | AIza[A-Za-z0-9_\-]{35} | ya29\.[A-Za-z0-9_\-.]{16,}+                      # Google
    | GOCSPX-[A-Za-z0-9_\-]{20,}+ | 1//0[A-Za-z0-9_\-]{30,}+
    | [A-Za-z0-9_~.]{3}8Q~[A-Za-z0-9_~.\-]{31,34}                               # Azure
    | LTAI[A-Za-z0-9]{16,}+ | HRKU-[A-Za-z0-9_\-]{30,}+                         # Alibaba; Heroku
    | do[opr]_v1_[0-9a-f]{40,}+ | v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}+            # DigitalOcean; Cloudflare
    | tskey-[A-Za-z0-9\-]{12,}+ | dnkey-[A-Za-z0-9=_\-]{40,}+                   # Tailscale; Defined Networking
    | fo1_[A-Za-z0-9_\-]{40,}+ | fm[12][ar]?_[A-Za-z0-9+/=_\-]{60,}+            # Fly.io
    | nfp_[A-Za-z0-9]{30,}+ | rnd_[A-Za-z0-9]{28,}+ | napi_[A-Za-z0-9]{40,}+    # Netlify; Render; Neon
    | vc[aikpr]_[A-Za-z0-9]{24,}+ | tk-us-[A-Za-z0-9_\-]{40,}+                  # Vercel; Scalingo
    | sha256~[A-Za-z0-9_\-]{40,}+ | hv[sbr]\.[A-Za-z0-9_\-]{20,}+               # OpenShift; Vault
    | dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_\-]{2,35}\.)?[A-Za-z0-9]{40,}+ # Doppler
    | ops_eyJ[A-Za-z0-9+/=_\-]{60,}+                                            # 1Password
    | A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}(?![A-Z0-9])
    | dapi[0-9a-f]{32} | sbp_[0-9a-f]{40} | sb_secret_[A-Za-z0-9_\-]{20,}+      # Databricks; Supabase
    | pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.\-]{30,}+ | 4b1d[A-Za-z0-9]{38}(?![A-Za-z0-9])  # PlanetScale; ClickHouse
"""
_OBSERVERS = r"""
      gl(?:sa|c)_[A-Za-z0-9_+/=\-]{24,}+ | sntry[rsu]_[A-Za-z0-9_+/=\-]{30,}+   # Grafana; Sentry
    | NRAK-[A-Z0-9]{27} | NRII-[A-Za-z0-9\-]{30,}+ | NRJS-[0-9a-f]{19}(?![0-9a-f])  # New Relic
    | NRRA-[0-9a-f]{40,}+ | ph[cx]_[A-Za-z0-9]{40,}+                            # PostHog
    | dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{60,}+                            # Dynatrace
    | (?:api|sdk|mob)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}               # LaunchDarkly
"""
_MESSAGES = r"""
      xox[a-eoprs]-[A-Za-z0-9%\-]{10,}+ | xapp-[A-Za-z0-9\-]{10,}+              # Slack
    | SG\.[A-Za-z0-9_\-]{16,}+\.[A-Za-z0-9_\-]{16,}+ | SK[0-9a-f]{32}(?![0-9a-f])  # SendGrid; Twilio
    | key-[0-9a-f]{32}(?![0-9a-f]) | [0-9a-f]{32}-us[0-9]{1,2}(?![0-9])         # Mailgun; Mailchimp
    | xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16} | mlsn\.[0-9a-f]{40,}+               # Brevo; MailerSend
    | re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}+                                       # Resend
    | [MNO][A-Za-z0-9_\-]{23,27}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,}+       # Discord
    | [0-9]{8,10}:[A-Za-z0-9_\-]{35}(?![A-Za-z0-9_\-])                          # Telegram
    | EAA[A-Za-z0-9]{100,}+                                                     # Facebook
"""
_WORK = r"""
      lin_(?:api|oauth)_[A-Za-z0-9]{30,}+                                       # Linear
    | ntn_[A-Za-z0-9]{40,}+ | secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])             # Notion
    | PMAK-[0-9a-f]{24}-[0-9a-f]{34} | fig[dour]{1,2}_[A-Za-z0-9_\-]{36,}+      # Postman; Figma
    | pat[A-Za-z0-9]{14}\.[0-9a-f]{64} | CFPAT-[A-Za-z0-9_\-]{40,}+             # Airtable; Contentful
    | [12]/[0-9]{10,20}(?:/[0-9]{10,20})?:[0-9a-f]{32}(?![0-9a-f])              # Asana
    | rdme_[a-z0-9]{60,}+ | tfp_[A-Za-z0-9_.=\-]{40,}+ | fio-u-[A-Za-z0-9_=\-]{50,}+  # ReadMe; Typeform; Frame.io
    | sl\.[A-Za-z0-9_\-]{100,}+ | p8e-[A-Za-z0-9]{32}(?![A-Za-z0-9])            # Dropbox; Adobe
    | (?:pat|sat)\.[A-Za-z0-9_\-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}            # Harness
"""
_MONEY = r"""
      [sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}+ | whsec_[A-Za-z0-9+/=]{20,}+   # Stripe
    | shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32,}+                                      # Shopify
    | sq0(?:atp|csp)-[A-Za-z0-9_\-]{20,}+ | EAAA[A-Za-z0-9_\-]{60}              # Square
    | access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32}          # Braintree
    | access-(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}  # Plaid
    | duffel_(?:test|live)_[A-Za-z0-9_=\-]{40,}+ | EZ[AT]K[A-Za-z0-9]{50,}+     # Duffel; EasyPost
    | FLWSECK(?:_TEST)?-[0-9a-zA-Z]{10,40}(?:-X)? | shippo_(?:live|test)_[0-9a-f]{40}  # Flutterwave; Shippo
"""
_KEYS = r"""
      AGE-SECRET-KEY-1[A-Z0-9]{50,}+ | (?i:covey1[0-9a-z]{40,}+)                  # age; invites of Covey
    | nsec1[02-9ac-hj-np-z]{50,}+ | ncryptsec1[02-9ac-hj-np-z]{50,}+            # Nostr
    | S[OAUCNX][A-Z2-7]{56}(?![A-Z2-7])                                         # NATS
    | [xyztuvYZTUV]prv[1-9A-HJ-NP-Za-km-z]{100,}+                               # wallets
    | eyJ[A-Za-z0-9_\-]{8,}+\.[A-Za-z0-9_\-]{8,}+(?:\.[A-Za-z0-9_\-]*+)?        # JSON web tokens
"""

KNOWN = f"(?<![A-Za-z0-9])(?:{_MODELS}|{_CODE}|{_CLOUDS}|{_OBSERVERS}|{_MESSAGES}|{_WORK}|{_MONEY}|{_KEYS})"
"""Any of them, at the beginning of a word."""
