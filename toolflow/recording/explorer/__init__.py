"""The parts of the explorer; `toolflow.recording.explore` is its front door.

``world`` holds a scheduler with what its driver knows, ``facts`` says what may happen next,
``telling`` tells it, ``oracle`` works out from the rules of spec 6 what may start, ``rules``
compares that with every decision and ``rests`` with every state, ``store`` runs the effects of
bodies, ``resume`` goes on after a pause or a crash, ``copies`` makes copies and keys of worlds.
"""
