"""What Hypothesis draws for turns of every format: texts, JSON values, pictures and outcomes."""

from __future__ import annotations

from hypothesis import strategies as st

from toolflow.model import Image, Outcome

any_text = st.text(st.characters())  # lone surrogates too
whole_text = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | whole_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(whole_text, inner, max_size=3),
    max_leaves=8,
)
arguments = st.dictionaries(whole_text, values, max_size=4)
good_ids = st.text("abcXYZ019_-", min_size=1, max_size=40)
images = st.lists(
    st.builds(Image, st.sampled_from(["image/png", "image/tiff"]), st.just("AAAA")), max_size=2
).map(tuple)
outcomes = st.builds(
    Outcome,
    st.sampled_from(["ok", "failed", "aborted", "running", "timed_out", "not_started"]),
    values,
    st.none() | any_text,
    images,
)
