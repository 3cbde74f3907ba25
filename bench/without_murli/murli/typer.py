"""The demo tool's entry without murli: typer's own."""


def run(app, *, name, **_):
    app(prog_name=name)
