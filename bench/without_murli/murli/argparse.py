"""The demo tool's entry without murli: argparse and a call."""


def annotate(target, _):
    return target


def run(parser, **_):
    arguments = parser.parse_args()
    arguments.func(arguments)
