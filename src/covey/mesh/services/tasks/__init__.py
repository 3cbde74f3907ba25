"""The service `task`: work that members hand to each other, each done by exactly one."""
