"""Two processes of the service on one Redis."""

from contextlib import ExitStack, contextmanager

from deploy.ports import free_port
from tests.redis_server import RedisServer
from tests.system.process import Service


@contextmanager
def two_on_one_redis(folder, **settings):
    """Yield a Redis server and two processes of the service; stop them afterwards."""
    with ExitStack() as stack:
        redis = stack.enter_context(RedisServer(folder / "redis"))
        processes = []
        for name in "ab":
            (folder / name).mkdir()
            process = Service(folder / name, store=redis.url, port=free_port(), **settings)
            stack.callback(lambda process=process: process.process and process.kill())
            processes.append(process.start())
        yield redis, processes


def ports_of(processes):
    return [process.environment["MANYCLASS_PORT"] for process in processes]
