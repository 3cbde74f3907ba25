"""Who is in the mesh: members, their keys, profiles and groups, as the authority and they themselves have signed it."""
