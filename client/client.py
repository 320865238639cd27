"""A typed client of a running service, whose retries never teach it an event twice."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from secrets import token_hex
from typing import IO, Literal

import httpx

from manyclass.client.advice import AdviceStatus
from manyclass.client.connection import DEFAULT_URL, Connection
from manyclass.client.embedder import Embed, Embedder, with_vectors, with_vectors_of_classes
from manyclass.client.encoding import Parameters, encoded
from manyclass.client.quality import ClassQualityPage, QualityReport, Sort
from manyclass.client.types import (
    Amended,
    ClassCount,
    ClassDescription,
    ClassDetail,
    ClassPage,
    Confusions,
    Deleted,
    DescribedClass,
    EventBody,
    EventNumber,
    EventPage,
    FeatureCount,
    FeatureDetail,
    FeaturePage,
    GivenForReview,
    InstanceBody,
    Learned,
    LearnedMany,
    Learner,
    LearnerAdded,
    LearnerList,
    Leases,
    Live,
    OperatingPoints,
    Ranking,
    Rankings,
    Ready,
    RebuildReport,
    RebuildStatus,
    Review,
    Setting,
    SettingList,
    Snapshot,
    SnapshotList,
    Stats,
    Suspect,
    SuspectList,
    TaughtEvent,
    TaxonomyNode,
    TaxonomyPage,
    TitleList,
    UndoneLabel,
)
from manyclass.client.wire import (
    Moment,
    counted_events,
    error_filter,
    event_filter,
    path_of,
    rank_options,
)


class Client(Connection):
    """A client of the service at `url`, which may contain user and password. Belongs to one thread.

    A request that was refused for now (429, 503) is sent again after the time that the service
    asks for. A request without an answer is sent again only if this does no harm: ranking and
    reading change nothing, and labelled events have an `event_id`, made by the client if omitted.
    The waits of a request add up to at most `patience` seconds. A service that has never answered
    is not waited for. A value that JSON cannot express, such as bytes or a date, raises NoWireForm,
    which is a TypeError, and nothing is sent.

    With `embed`, each text that is sent without a `vector` gets that of `embed`: an `Embedder`,
    which asks a server and is closed with the client, or a function that returns a vector for each
    of some texts, in order.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        key: str | None = None,
        *,
        patience: float = 30.0,
        timeout: float = 60.0,
        embed: Embed | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Make a client. Raises Unusable for a URL or a key that no request can use."""
        super().__init__(
            url, key, patience=patience, timeout=timeout, transport=transport, sleep=sleep
        )
        self._embed = embed
        self._numbers = count(1)
        self._prefix = token_hex(8)

    def close(self) -> None:
        """Close the connections, and those of the embedder."""
        super().close()
        if isinstance(self._embed, Embedder):
            self._embed.close()

    # --- rank and learn ---------------------------------------------------------------------------

    def rank(
        self,
        instance: InstanceBody,
        *,
        k: int = 5,
        threshold: float | None = None,
        among: Sequence[str | int] | None = None,
        min_confidence: float | None = None,
        min_accuracy: float | None = None,
        probabilities: bool = False,
        min_probability: float | None = None,
        min_precision: float | None = None,
        decode: Literal["taxo"] | None = None,
        explain: bool = False,
        min_seq: int = 0,
        keep: bool = True,
    ) -> Ranking:
        """Return the k best classes of an instance, from a process that has learned `min_seq`.

        With `threshold`, only classes with a higher score are returned. With `among`, only these
        classes are ranked, without a confidence. With `min_confidence`, the service abstains if the
        confidence is lower or unknown; with `min_accuracy`, below the least limit of confidence
        whose answers were right at least this often, which is the answer's `limit`. With
        `probabilities`, each class has the probability that it is right; with `min_probability`,
        only classes with this probability are returned, and with `min_precision` those above the
        `limit` from which on classes were right at least this often. With `decode="taxo"`, classes
        are ordered by expected taxonomic loss, least first; the confidence is still that of the
        highest score. With `keep=False`, the service keeps neither the instance nor its text: no
        label can refer to it, and it does not wait for review. Raises ValueError unless `threshold`
        is finite and every other limit is from 0 to 1.
        """
        how = rank_options(
            k,
            threshold,
            among,
            min_confidence,
            min_accuracy,
            probabilities,
            min_probability,
            min_precision,
            decode,
            explain,
            min_seq,
            keep,
        )
        [instance] = with_vectors([instance], self._embed)
        return self._post("/rank", {**instance, **how}, Ranking)

    def rank_many(
        self,
        instances: Sequence[InstanceBody],
        *,
        k: int = 5,
        threshold: float | None = None,
        among: Sequence[str | int] | None = None,
        min_confidence: float | None = None,
        min_accuracy: float | None = None,
        probabilities: bool = False,
        min_probability: float | None = None,
        min_precision: float | None = None,
        decode: Literal["taxo"] | None = None,
        explain: bool = False,
        min_seq: int = 0,
        keep: bool = True,
    ) -> Rankings:
        """Return the k best classes of each instance, in order, as `rank` does."""
        how = rank_options(
            k,
            threshold,
            among,
            min_confidence,
            min_accuracy,
            probabilities,
            min_probability,
            min_precision,
            decode,
            explain,
            min_seq,
            keep,
        )
        instances = with_vectors(instances, self._embed)
        return self._post("/rank", {"instances": instances, **how}, Rankings)

    def learn(self, event: EventBody, *, source: str | None = None) -> Learned:
        """Teach one event; it is durable when this returns. `source` is for events without one."""
        [event] = with_vectors([event], self._embed)
        return self._post("/learn", self._named(event, source), Learned)

    def learn_many(self, events: Sequence[EventBody], *, source: str | None = None) -> LearnedMany:
        """Teach events in order, all or none, as `learn` does; they are durable when this
        returns.
        """
        named = [self._named(event, source) for event in with_vectors(events, self._embed)]
        return self._post("/learn", {"events": named}, LearnedMany)

    # --- history ----------------------------------------------------------------------------------

    def events(
        self,
        *,
        of_class: str | None = None,
        source: str | None = None,
        reviewer: str | None = None,
        batch: str | None = None,
        instance_id: str | None = None,
        text: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        wrong: bool = False,
        undone: bool = False,
        vectors: bool = False,
        oldest_first: bool = False,
        after: int | None = None,
        page: int = 100,
    ) -> Iterator[TaughtEvent]:
        """Yield the learned events, newest first, fetched `page` at a time.

        `since` and `until` are unix seconds, a time such as "2026-11-25T09:30:00Z", a date, or a
        datetime, which is in UTC unless it has another zone. With `wrong`, yields only events whose
        true class was not ranked first before they were learned. With `undone`, also yields events
        that a restore has undone. With `vectors`, the events have the numbers of their vectors.
        With `instance_id`, yields only events that label the ranked instance with this id. With
        `text`, yields only events that contain each of its words, or parts of words, in any case:
        in the text, the features, an id or an origin. With `after`, begins after the event with
        this number. Raises RequestRefused 404 if the service keeps no history.
        """
        parameters = event_filter(
            of_class,
            source,
            reviewer,
            batch,
            instance_id,
            text,
            since,
            until,
            wrong,
            undone,
            oldest_first,
        )
        parameters["limit"] = page
        if vectors:
            parameters["vectors"] = "yes"
        while True:
            if after is not None:
                parameters["after"] = after
            answer = self._get("/events", EventPage, parameters)
            yield from answer.events
            if answer.next is None:
                return
            after = answer.next

    def event(self, key: str) -> TaughtEvent:
        """Return an event of the history, by its `event_id`, by `seq:` and its number, or by the id
        of the ranked instance that it labels. An id may be preceded by `id:`.

        Raises RequestRefused: 404 if the event is unknown, deleted or too old; 409 if the key is
        the id of one event and the number of another, or if several events label the instance. The
        message then has a key for each.
        """
        return self._get(path_of("events", key), TaughtEvent)

    def correct(
        self, key: str, classes: Sequence[str | int], *, reviewer: str | None = None
    ) -> Amended:
        """Correct the true classes of a learned event, and set its `reviewer` if one is given.

        Raises 409 if a restore has undone it.
        """
        content = encoded({"classes": classes} | ({"reviewer": reviewer} if reviewer else {}))
        return self._ask("PUT", path_of("events", key), Amended, content=content, repeatable=True)

    def delete_event(self, key: str) -> Deleted:
        """Delete a learned event, and events with its id that a restore has undone. The id of a
        ranked instance deletes all events that label it. A rebuild removes their effect on the
        weights.
        """
        return self._ask("DELETE", path_of("events", key), Deleted)

    def delete_events(
        self, *, source: str | None = None, reviewer: str | None = None, batch: str | None = None
    ) -> Deleted:
        """Delete all events of a source, a reviewer or a batch, as `delete_event` does, and
        with several names the events that match all. Waits without a time limit. Raises
        RequestRefused 422 without a name.
        """
        given = {"source": source, "reviewer": reviewer, "batch": batch}
        parameters: Parameters = {name: each for name, each in given.items() if each is not None}
        deleted, waiting, more, seq = 0, 0, True, None
        while more:
            answer = self._ask("DELETE", "/events", Deleted, parameters=parameters, is_long=True)
            deleted += answer.deleted
            waiting += answer.waiting
            more, seq = answer.more, answer.seq or seq
        return Deleted(seq, deleted, waiting)

    def rebuild(self, learner: str | None = None, text: str | None = None) -> RebuildReport:
        """Rebuild the state from the amended history; return when the service has the new state.

        `learner` is a shadow that learns the whole history, such as `svm(replay=4)`; it is added if
        it is new. `text` is another text analysis, such as `words+pairs`; the new state is as if
        the service had started with it. Waits without a time limit. Raises 409 while another
        rebuild is in progress, if the history does not reach back to a snapshot, for the primary
        learner, or if the other analysis cannot read all events.
        """
        given = {"learner": learner, "text": text}
        content = encoded({name: each for name, each in given.items() if each is not None})
        return self._ask("POST", "/rebuild", RebuildReport, content=content, is_long=True)

    def rebuild_status(self) -> RebuildStatus:
        """Return whether a rebuild is in progress, and how many amended events wait for one."""
        return self._get("/rebuild", RebuildStatus)

    def confusions(
        self, last: int = 10_000, limit: int = 100, seconds: float | None = None
    ) -> Confusions:
        """Return the classes ranked first instead of the true one, over the `last` events.

        With `seconds`, from 0 to 60, the service answers after that time with the events counted so
        far; `complete` tells whether these are all.
        """
        return self._get("/confusions", Confusions, error_filter(last, limit, seconds))

    def suspects(
        self, last: int = 10_000, limit: int = 100, seconds: float | None = None
    ) -> tuple[Suspect, ...]:
        """Return the events among the `last` whose labels are likely wrong, most likely first.

        With `seconds`, from 0 to 60, the service answers after that time with the events found so
        far.
        """
        return self._get("/suspects", SuspectList, error_filter(last, limit, seconds)).suspects

    def quality(self, last: int = 10_000, seconds: float | None = None) -> QualityReport:
        """Return the accuracy of the `last` events by time, source and parent, and the drift.

        `seconds` is as for `confusions`.
        """
        return self._get("/quality", QualityReport, counted_events(last, seconds))

    def class_quality(
        self,
        sort: Sort = "errors",
        reverse: bool = False,
        limit: int = 100,
        after: int = 0,
        last: int = 10_000,
    ) -> ClassQualityPage:
        """Return classes of the `last` events with recall, precision and confusions.

        `sort` is the order, for example most `errors` or least `recall` first; `after` is the
        `next` of the previous page.
        """
        parameters = counted_events(last, None) | {"sort": sort, "limit": limit, "after": after}
        if reverse:
            parameters["reverse"] = "true"
        return self._get("/quality/classes", ClassQualityPage, parameters)

    def review(
        self,
        limit: int = 20,
        learner: str | None = None,
        source: str | None = None,
        *,
        batch: str | None = None,
        reviewer: str | None = None,
        lease: bool = True,
        strategy: str | None = None,
        abstained: bool = False,
    ) -> Review:
        """Return up to `limit` instances that wait for a label, least certain first.

        With `learner`, named as by `learners`, this learner ranks the instances again, for example
        a shadow; raises 404 if there is none. With `source` and `batch`, only instances of these
        are returned. With `reviewer`, or a key with a name, they are leased to this person, unless
        `lease` is False. `strategy` is "uncertain", "suspect", "random", or "class:" and the class
        that was ranked first. With `abstained`, only instances that were not answered
        automatically are returned. `learn` takes a label by `id`.
        """
        parameters: dict[str, str | int] = {"limit": limit}
        if not lease:
            parameters["lease"] = "false"
        if abstained:
            parameters["abstained"] = "true"
        for name, value in (
            ("learner", learner),
            ("source", source),
            ("batch", batch),
            ("reviewer", reviewer),
            ("strategy", strategy),
        ):
            if value is not None:
                parameters[name] = value
        return self._get("/review", Review, parameters)

    def give_for_review(
        self, instances: Sequence[InstanceBody], *, batch: str | None = None
    ) -> tuple[str, ...]:
        """Let instances wait for a label; return the ids of the waiting ones.

        One that has a label already does not. Raises 409 if there is no room.
        """
        instances = with_vectors(instances, self._embed)
        body = {"instances": instances} | ({} if batch is None else {"batch": batch})
        given = self._post("/review", body, GivenForReview)
        return tuple(each for each in given.ids if each not in given.labelled)

    def lease(
        self, renew: Sequence[str] = (), release: Sequence[str] = (), reviewer: str | None = None
    ) -> Leases:
        """Renew the leases of some waiting instances, and end those of others.

        The answer names the instances that the reviewer has, and instances that do not wait.
        """
        body: dict[str, object] = {"renew": renew, "release": release, "reviewer": reviewer}
        return self._post("/review/leases", body, Leases)

    def undo_label(self, instance_id: str, reviewer: str | None = None) -> UndoneLabel:
        """Delete the label that this reviewer gave an instance, which waits again.

        Raises 404 without a label, and 409 for a label of another reviewer.
        """
        body = {"id": instance_id, "reviewer": reviewer}
        return self._ask(
            "POST", "/review/undo", UndoneLabel, content=encoded(body), repeatable=False
        )

    # --- classes and features ---------------------------------------------------------------------

    def classes(
        self, prefix: str = "", page: int = 100, search: str | None = None
    ) -> Iterator[ClassCount]:
        """Yield every class whose name begins with `prefix`, fetched `page` at a time.

        With `search`, yield classes that have a name with this text in it, the best first: the
        title, another name or the name itself, in any case, with and without accents.
        """
        parameters: dict[str, str | int] = {"prefix": prefix, "limit": page}
        if search is not None:
            parameters["search"] = search
        while True:
            answer = self._get("/classes", ClassPage, parameters)
            yield from answer.classes
            if answer.next is None:
                return
            parameters["after"] = answer.next

    def class_(self, name: str, limit: int = 100, after: str | None = None) -> ClassDetail:
        """Return a class, the features that vote most for it, and its place in the taxonomy.

        A former name stands for the class; `name` of the answer is the present one.
        `limit` bounds the features and the children; children begin after the child `after`. Raises
        404 if the class was neither learned nor placed nor described, or has no such child.
        """
        parameters: dict[str, str | int] = {"limit": limit}
        if after is not None:
            parameters["after"] = after
        return self._get(path_of("classes", name), ClassDetail, parameters)

    def place(self, name: str, parent: str | int | None, move: bool = False) -> int:
        """Place a class below its parent in the taxonomy, or at the top with None; return the
        number of the event. Raises 409 if the class has another parent and may not `move`.
        """
        return self._place("PUT", path_of("classes", name), {"parent": parent, "move": move})

    def describe(self, name: str, changes: ClassDescription) -> int:
        """Change the title, description, other names or vector of a class; None removes a part.

        The class need not be learned yet. With an embedder, a title or description that is sent
        without a `vector` gets one. Return the number of the event.
        """
        [changes] = with_vectors_of_classes([changes], self._embed)
        return self._place("PUT", path_of("classes", name), changes)

    def describe_many(self, classes: Sequence[DescribedClass], move: bool = False) -> int:
        """Describe up to 1,000 classes, and place those with a parent, all or none; return the
        number of the last event.
        """
        classes = with_vectors_of_classes(classes, self._embed)
        return self._place("POST", "/classes", {"classes": classes, "move": move})

    def titles(self, names: Sequence[str | int]) -> dict[str, str]:
        """Return the titles of up to 1,000 classes, by name; a class without a title is absent."""
        found = self._post("/titles", {"classes": names}, TitleList).titles
        return {each.name: each.title for each in found}

    def rename_class(self, name: str, to: str | int) -> int:
        """Rename a class; return the number of the event.

        Raises 409 if a class has the name `to`: merge into it instead.
        """
        return self._place("POST", path_of("classes", name), {"rename": to})

    def release_class(self, former: str) -> int:
        """Make a former name a class of its own again; return the number of the event.

        Events sent under this name count for it after a rebuild, which begins at once. Raises 404
        if it is not a former name.
        """
        return self._place("POST", path_of("classes", former), {"release": True})

    def merge_class(self, name: str, into: str | int) -> int:
        """Merge a class into another; return the number of the event.

        Until the rebuild that follows has ended, rankings lack the events of the merged class:
        `rebuild_status` then has no `merged`.
        """
        return self._place("POST", path_of("classes", name), {"merge_into": into})

    def place_many(self, parents: Mapping[str, str | int | None], move: bool = False) -> int:
        """Place up to 1,000 classes, each below its parent, all or none; return the number of the
        event.
        """
        return self._place("POST", "/classes", {"parents": parents, "move": move})

    def features(self, prefix: str = "", page: int = 100) -> Iterator[FeatureCount]:
        """Yield every feature whose name begins with `prefix`, fetched `page` at a time."""
        parameters: dict[str, str | int] = {"prefix": prefix, "limit": page}
        while True:
            answer = self._get("/features", FeaturePage, parameters)
            yield from answer.features
            if answer.next is None:
                return
            parameters["after"] = answer.next

    def taxonomy(self, parent: str | None = None, page: int = 100) -> Iterator[TaxonomyNode]:
        """Yield the nodes of the taxonomy below `parent`, those at the top for None, fetched `page`
        at a time. Raises 404 if the taxonomy has no such parent.
        """
        parameters: dict[str, str | int] = {"limit": page}
        if parent is not None:
            parameters["parent"] = parent
        while True:
            answer = self._get("/taxonomy", TaxonomyPage, parameters)
            yield from answer.nodes
            if answer.next is None:
                return
            parameters["after"] = answer.next

    def feature(self, name: str) -> FeatureDetail:
        """Return a feature and the classes it votes for. Raises 404 if it was never learned."""
        return self._get(path_of("features", name), FeatureDetail)

    def forget_class(self, name: str) -> int:
        """Forget a class; return the number of the event."""
        return self._ask("DELETE", path_of("classes", name), EventNumber).seq

    def forget_feature(self, name: str) -> int:
        """Forget a feature; return the number of the event."""
        return self._ask("DELETE", path_of("features", name), EventNumber).seq

    def stats(self) -> Stats:
        """Return sizes, accuracy and the settings in force."""
        return self._get("/stats", Stats)

    # --- operation --------------------------------------------------------------------------------

    def learners(self) -> tuple[Learner, ...]:
        """Return the learners, the primary one first."""
        return self._get("/learners", LearnerList).learners

    def add_learner(self, learner: str, history: bool = False) -> LearnerAdded:
        """Add a shadow, such as `svm(C=0.3)`, without a restart.

        With `history`, it learns the whole history by a rebuild; waits without a time limit then.
        Raises RequestRefused: 409 for the primary learner, for too many shadows, or during another
        rebuild; 404 for a text that is not a learner.
        """
        content = encoded({"learner": learner, "history": history})
        return self._ask("POST", "/learners", LearnerAdded, content=content, is_long=history)

    def remove_learner(self, label: str) -> int:
        """Remove a shadow with all it has learned; return the number of the event."""
        return self._ask("DELETE", path_of("learners", label), EventNumber).seq

    def start_advice(
        self,
        last: int | None = None,
        seconds: float | None = None,
        learners: Sequence[str] = (),
    ) -> AdviceStatus:
        """Begin to compare other learners with the present one on the `last` events.

        `advice` returns the progress. Raises RequestRefused: 409 while a comparison is in progress.
        """
        given = {"last": last, "seconds": seconds, "learners": list(learners) or None}
        content = encoded({name: each for name, each in given.items() if each is not None})
        return self._ask("POST", "/advice", AdviceStatus, content=content)

    def advice(self) -> AdviceStatus:
        """Return the progress of the comparison, or the figures of the last one."""
        return self._get("/advice", AdviceStatus)

    def stop_advice(self) -> AdviceStatus:
        """End the comparison in progress; the figures so far stay."""
        return self._ask("DELETE", "/advice", AdviceStatus, repeatable=True)

    def operating_points(
        self,
        target: float | None = None,
        by: Literal["class", "source"] | None = None,
        window: Literal["newest", "all"] = "all",
        learner: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> OperatingPoints:
        """Return the least limits of confidence whose answers were right often enough.

        Without a `target` they are for 0.8, 0.9, 0.95 and 0.99. With `by`, `groups` has a page of
        classes ranked first, or of sources, over the outcomes of `window`.
        """
        given = {"target": target, "by": by, "learner": learner}
        parameters: dict[str, str | int | float] = {
            **{name: value for name, value in given.items() if value is not None},
            **{"window": window, "limit": limit, "offset": offset},
        }
        return self._get("/operating-points", OperatingPoints, parameters)

    def promote(self, label: str) -> int:
        """Make a shadow the primary learner; return the number of the event."""
        return self._ask("POST", path_of("learners", label) + "/promote", EventNumber).seq

    def snapshots(self) -> tuple[Snapshot, ...]:
        """Return the snapshots, newest first."""
        return self._get("/snapshots", SnapshotList).snapshots

    def take_snapshot(self) -> Snapshot:
        """Take a snapshot of the present state."""
        return self._ask("POST", "/snapshots", Snapshot, repeatable=True)

    def save_state(self, file: IO[bytes]) -> int:
        """Write the present state to a file; return the number of bytes.

        Raises ServiceUnreachable if the answer is cut short; the file then has only a part of it.
        """
        return self._copy("/state", file)

    def restore(self, seq: int) -> int:
        """Restore the snapshot taken at `seq`; return the number of the event."""
        return self._ask("POST", f"/snapshots/{seq}/restore", EventNumber).seq

    def settings(self) -> dict[str, Setting]:
        """Return every setting in force, by its environment variable."""
        return self._get("/settings", SettingList).settings

    def check(self) -> None:
        """Raise ServiceUnreachable unless a service answers, ready or not."""
        self._get("/livez", Live)

    def is_ready(self) -> bool:
        """Return whether the service answers and can learn; one request, without a retry."""
        found = self._once("/readyz", Ready)
        return found is not None and found.learns

    # --- one request ------------------------------------------------------------------------------

    def _named(self, event: EventBody, source: str | None) -> EventBody:
        """Return the event with an `event_id`, so that a retry is a duplicate."""
        if source is not None and "source" not in event:
            event = {**event, "source": source}
        if "event_id" in event or ("id" in event and event.get("classes")):
            return event  # the service derives the event_id of a label from the `id`
        return {**event, "event_id": f"{self._prefix}-{next(self._numbers)}"}
