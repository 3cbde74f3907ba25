"""The demo tool's entry without murli: click's own."""


def run(command, *, name, **_):
    command(prog_name=name)
