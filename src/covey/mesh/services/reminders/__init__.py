"""The service `reminder`: messages that come at a time, to this member or to others."""
