"""roost with argparse."""

from __future__ import annotations

import argparse

from roost import about, birds

from murli.argparse import annotate, run


def parser() -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(prog="roost", description="Keep a list of the birds you see.")
    root.add_argument("--file", default="roost.json", help="File that holds the birds.")
    root.add_argument("--region", choices=birds.REGIONS, default="north", help="Region to watch.")
    root.add_argument("--token", help="Token of the bird watchers' club.")
    annotate(root, about.ROOT)
    commands = root.add_subparsers()

    command = annotate(commands.add_parser("list", help="List the birds of a region."), about.LIST)
    command.add_argument("--species", choices=birds.SPECIES, help="Only this species.")
    command.add_argument("--sort", choices=["id", "species"], default="id", help="Order of the list.")
    command.set_defaults(func=lambda args: birds.list_birds(args.file, args.region, args.species, args.sort))

    command = annotate(commands.add_parser("get", help="Show one bird."), about.GET)
    command.add_argument("id")
    command.set_defaults(func=lambda args: birds.get_bird(args.file, args.id))

    command = annotate(commands.add_parser("add", help="Add a bird."), about.ADD)
    command.add_argument("name")
    command.add_argument("-s", "--species", choices=birds.SPECIES, required=True, help="Its species.")
    command.add_argument("--count", type=int, default=1, help="How many there are.")
    command.add_argument("--tag", action="append", help="A word about it.")
    command.add_argument("--no-tags", action="store_true", help="Add it without any tag.")
    command.set_defaults(
        func=lambda args: birds.add_bird(args.file, args.region, args.name, args.species, args.count, args.tag or [])
    )

    command = annotate(commands.add_parser("delete", help="Delete a bird."), about.DELETE)
    command.add_argument("id")
    command.set_defaults(func=lambda args: birds.delete_bird(args.file, args.id))

    command = annotate(commands.add_parser("watch", help="Report sightings as they come."), about.WATCH)
    command.add_argument("--steps", type=int, default=5, help="How many sightings to wait for.")
    command.set_defaults(func=lambda args: birds.watch(args.file, args.steps))

    command = annotate(commands.add_parser("whoami", help="Tell who is watching."), about.WHOAMI)
    command.add_argument("--loud", action=argparse.BooleanOptionalAction, default=False, help="Shout.")
    command.set_defaults(func=lambda args: birds.whoami(args.region, args.token, loud=args.loud))

    command = annotate(commands.add_parser("rehearse", help="Fail in a chosen way."), about.REHEARSE)
    command.add_argument("kind", choices=birds.FAILURES)
    command.set_defaults(func=lambda args: birds.rehearse(args.kind))

    nest = commands.add_parser("nest", help="Look after the nests.").add_subparsers()
    annotate(nest.add_parser("list", help="Count the birds by region."), about.NEST_LIST).set_defaults(
        func=lambda args: birds.list_nests(args.file)
    )
    command = annotate(nest.add_parser("clear", help="Remove every bird of a region."), about.NEST_CLEAR)
    command.add_argument("region", choices=birds.REGIONS)
    command.set_defaults(func=lambda args: birds.clear_nest(args.file, args.region))
    return root


if __name__ == "__main__":
    run(parser(), version=about.VERSION)
