"""roost with click."""

from __future__ import annotations

import click
from roost import about, birds

from murli import annotated
from murli.click import run

STATE = click.make_pass_decorator(dict)


@click.group()
@click.option("--file", default="roost.json", help="File that holds the birds.")
@click.option("--region", type=click.Choice(birds.REGIONS), default="north", help="Region to watch.")
@click.option("--token", help="Token of the bird watchers' club.")
@click.pass_context
@annotated(about.ROOT)
def roost(ctx: click.Context, /, **flags: str | None) -> None:
    """Keep a list of the birds you see."""
    ctx.obj = flags


@roost.command("list")
@click.option("--species", type=click.Choice(birds.SPECIES), help="Only this species.")
@click.option("--sort", type=click.Choice(["id", "species"]), default="id", help="Order of the list.")
@STATE
@annotated(about.LIST)
def list_birds(state: dict[str, str], species: str | None, sort: str) -> None:
    """List the birds of a region."""
    birds.list_birds(state["file"], state["region"], species, sort)


@roost.command()
@click.argument("id")
@STATE
@annotated(about.GET)
def get(state: dict[str, str], id: str) -> None:  # noqa: A002 - the parameter is called that
    """Show one bird."""
    birds.get_bird(state["file"], id)


@roost.command()
@click.argument("name")
@click.option("-s", "--species", type=click.Choice(birds.SPECIES), required=True, help="Its species.")
@click.option("--count", type=int, default=1, help="How many there are.")
@click.option("--tag", multiple=True, help="A word about it.")
@click.option("--no-tags", is_flag=True, help="Add it without any tag.")
@STATE
@annotated(about.ADD)
def add(state: dict[str, str], name: str, species: str, count: int, tag: tuple[str, ...], no_tags: bool) -> None:  # noqa: FBT001, ARG001
    """Add a bird."""
    birds.add_bird(state["file"], state["region"], name, species, count, tag)


@roost.command()
@click.argument("id")
@STATE
@annotated(about.DELETE)
def delete(state: dict[str, str], id: str) -> None:  # noqa: A002
    """Delete a bird."""
    birds.delete_bird(state["file"], id)


@roost.command()
@click.option("--steps", type=int, default=5, help="How many sightings to wait for.")
@STATE
@annotated(about.WATCH)
def watch(state: dict[str, str], steps: int) -> None:
    """Report sightings as they come."""
    birds.watch(state["file"], steps)


@roost.command()
@click.option("--loud/--no-loud", default=False, help="Shout.")
@STATE
@annotated(about.WHOAMI)
def whoami(state: dict[str, str], loud: bool) -> None:  # noqa: FBT001
    """Tell who is watching."""
    birds.whoami(state["region"], state["token"], loud=loud)


@roost.command()
@click.argument("kind", type=click.Choice(birds.FAILURES))
@click.pass_context
@annotated(about.REHEARSE)
def rehearse(ctx: click.Context, kind: str) -> None:
    """Fail in a chosen way."""
    ctx.exit(birds.rehearse(kind))


@roost.group()
def nest() -> None:
    """Look after the nests."""


@nest.command("list")
@STATE
@annotated(about.NEST_LIST)
def list_nests(state: dict[str, str]) -> None:
    """Count the birds by region."""
    birds.list_nests(state["file"])


@nest.command()
@click.argument("region", type=click.Choice(birds.REGIONS))
@STATE
@annotated(about.NEST_CLEAR)
def clear(state: dict[str, str], region: str) -> None:
    """Remove every bird of a region."""
    birds.clear_nest(state["file"], region)


if __name__ == "__main__":
    run(roost, name="roost", version=about.VERSION)
