"""The adapters that come with Covey: programs that connect a kept session to the world, one file for each kind."""
