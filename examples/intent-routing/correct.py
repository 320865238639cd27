"""Teach a question with a wrong intent, then correct the label by its event."""

from os import environ

from manyclass import Client

QUESTION = "My umbrella was left in your branch"
EVENT = "umbrella-1"


def show(client: Client, moment: str) -> None:
    """Print the first intent of the question, and the words that speak most for it."""
    [first] = client.rank({"text": QUESTION}, k=1, explain=True).ranked
    words = [
        vote for vote in first.features if not vote.feature.startswith("~")
    ]  # or a part of one
    shown = ", ".join(f"{vote.feature} {vote.score:.2f}" for vote in words[:3])
    print(f"{moment}: {first.name} ({shown})")


with Client(environ["MANYCLASS_URL"], environ.get("MANYCLASS_KEY")) as client:
    show(client, "before")
    client.learn({"text": QUESTION, "classes": ["card_arrival"], "event_id": EVENT}, source="ben")
    show(client, "taught wrong")
    client.correct(EVENT, ["lost_property"])
    show(client, "corrected")
    client.rebuild()  # so that nothing of the wrong label is left in the weights
    show(client, "rebuilt")
