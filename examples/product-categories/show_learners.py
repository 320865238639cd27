"""Print the accuracy and the taxonomic loss of each learner, before it learned an event."""

from os import environ

from manyclass import Client

with Client(environ["MANYCLASS_URL"], environ.get("MANYCLASS_KEY")) as client:
    print("learner  role       right  family  taxonomic loss   (of the last 1,000)")
    for learner in client.learners():
        last = learner.accuracy["1000"]
        role = "primary" if learner.primary else "shadow"
        print(
            f"{learner.label:<7}  {role:<9}  {last.r1:.3f}   {last.parent_accuracy:.3f}"
            f"  {last.taxonomic_loss:.3f}"
        )
