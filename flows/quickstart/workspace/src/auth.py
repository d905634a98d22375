"""Who may log in."""

ATTEMPTS = 3
TIMEOUT = 30


def login(name, password, known):
    """Whether the password fits the name."""
    if name not in known:
        return False
    return known[name] == password


def attempts_left(used):
    """How many more times somebody may try."""
    return ATTEMPTS - used
