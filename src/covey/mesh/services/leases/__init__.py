"""The service `lease`: names and files that one agent at a time works on."""
