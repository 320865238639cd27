"""A model of another library behind FastAPI and uvicorn, as its users serve it.

`python -m benchmarks.peer_app PORT KIND FILE` trains on the pairs of features and class in a JSON
file, then answers POST /rank with the five best classes and their probabilities.
"""

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

RANKED = 5

Pair = tuple[dict[str, float], str]
Probabilities = dict[str, float]


class Instance(BaseModel):
    """The body of a request."""

    features: dict[str, float]


class RankedClass(BaseModel):
    """A class with its score."""

    name: str
    score: float


def river(pairs: list[Pair]) -> Callable[[dict[str, float]], Probabilities]:
    """Return the probabilities of naive Bayes, which River's pages take for counts of words."""
    model = import_module("river.naive_bayes").MultinomialNB()
    for features, name in pairs:
        model.learn_one(features, name)
    predict: Callable[[dict[str, float]], Probabilities] = model.predict_proba_one
    return predict


def sklearn(pairs: list[Pair]) -> Callable[[dict[str, float]], Probabilities]:
    """Return the probabilities of logistic regression by SGD on tf-idf."""
    pipeline = import_module("sklearn.pipeline").make_pipeline(
        import_module("sklearn.feature_extraction").DictVectorizer(),
        import_module("sklearn.feature_extraction.text").TfidfTransformer(sublinear_tf=True),
        import_module("sklearn.linear_model").SGDClassifier(loss="log_loss", random_state=0),
    )
    pipeline.fit([features for features, _ in pairs], [name for _, name in pairs])
    names = pipeline.classes_.tolist()

    def predict(features: dict[str, float]) -> Probabilities:
        return dict(zip(names, pipeline.predict_proba([features])[0].tolist(), strict=True))

    return predict


KINDS = {"river": river, "sklearn": sklearn}


def application(predict: Callable[[dict[str, float]], Probabilities]) -> FastAPI:
    app = FastAPI()

    @app.post("/rank")
    async def rank(instance: Instance) -> list[RankedClass]:
        found = predict(instance.features)
        best = sorted(found, key=found.__getitem__, reverse=True)[:RANKED]
        return [RankedClass(name=name, score=found[name]) for name in best]

    @app.get("/livez")
    @app.get("/readyz")
    async def ready() -> str:
        return "ready"

    return app


def main(port: int, kind: str, file: Path) -> None:
    app = application(KINDS[kind](json.loads(file.read_text(encoding="utf-8"))))
    uvicorn.run(app, port=port, log_config=None, access_log=False)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
