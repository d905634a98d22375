"""Who is logged in."""

from auth import login


def open_session(name, password, known, sessions):
    """Log in and remember it."""
    if login(name, password, known):
        sessions.append(name)
    return sessions
