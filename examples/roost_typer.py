"""roost with typer."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from roost import about, birds

from murli import annotated
from murli.typer import run

Region = Literal["north", "south"]
Species = Literal["crow", "heron", "owl", "wren"]
Failure = Literal[
    "user",
    "tool",
    "partial",
    "timeout",
    "not-found",
    "permission",
    "conflict",
    "rate-limit",
    "cancel",
    "crash",
    "unwritable",
]

app = typer.Typer(add_completion=False)
nest = typer.Typer(help="Look after the nests.")


@app.callback()
@annotated(about.ROOT)
def roost(
    ctx: typer.Context,
    file: Annotated[str, typer.Option(help="File that holds the birds.")] = "roost.json",
    region: Annotated[Region, typer.Option(help="Region to watch.")] = "north",
    token: Annotated[str | None, typer.Option(help="Token of the bird watchers' club.")] = None,
) -> None:
    """Keep a list of the birds you see."""
    ctx.obj = {"file": file, "region": region, "token": token}


@app.command("list")
@annotated(about.LIST)
def list_birds(
    ctx: typer.Context,
    species: Annotated[Species | None, typer.Option(help="Only this species.")] = None,
    sort: Annotated[Literal["id", "species"], typer.Option(help="Order of the list.")] = "id",
) -> None:
    """List the birds of a region."""
    birds.list_birds(ctx.obj["file"], ctx.obj["region"], species, sort)


@app.command()
@annotated(about.GET)
def get(ctx: typer.Context, id: str) -> None:  # noqa: A002 - the parameter is called that
    """Show one bird."""
    birds.get_bird(ctx.obj["file"], id)


@app.command()
@annotated(about.ADD)
def add(  # one per flag
    ctx: typer.Context,
    name: str,
    species: Annotated[Species, typer.Option("-s", "--species", help="Its species.")],
    count: Annotated[int, typer.Option(help="How many there are.")] = 1,
    tag: Annotated[list[str] | None, typer.Option(help="A word about it.")] = None,
    no_tags: Annotated[bool, typer.Option("--no-tags", help="Add it without any tag.")] = False,  # noqa: ARG001, FBT002
) -> None:
    """Add a bird."""
    birds.add_bird(ctx.obj["file"], ctx.obj["region"], name, species, count, tag or [])


@app.command()
@annotated(about.DELETE)
def delete(ctx: typer.Context, id: str) -> None:  # noqa: A002
    """Delete a bird."""
    birds.delete_bird(ctx.obj["file"], id)


@app.command()
@annotated(about.WATCH)
def watch(ctx: typer.Context, steps: Annotated[int, typer.Option(help="How many sightings to wait for.")] = 5) -> None:
    """Report sightings as they come."""
    birds.watch(ctx.obj["file"], steps)


@nest.command("list")
@annotated(about.NEST_LIST)
def list_nests(ctx: typer.Context) -> None:
    """Count the birds by region."""
    birds.list_nests(ctx.obj["file"])


@nest.command()
@annotated(about.NEST_CLEAR)
def clear(ctx: typer.Context, region: Region) -> None:
    """Remove every bird of a region."""
    birds.clear_nest(ctx.obj["file"], region)


@app.command()
@annotated(about.WHOAMI)
def whoami(ctx: typer.Context, loud: Annotated[bool, typer.Option(help="Shout.")] = False) -> None:  # noqa: FBT002
    """Tell who is watching."""
    birds.whoami(ctx.obj["region"], ctx.obj["token"], loud=loud)


@app.command()
@annotated(about.REHEARSE)
def rehearse(kind: Failure) -> None:
    """Fail in a chosen way."""
    raise typer.Exit(birds.rehearse(kind))


app.add_typer(nest, name="nest")

if __name__ == "__main__":
    run(app, name="roost", version=about.VERSION)
