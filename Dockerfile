# The wheel is built where there is a compiler; the image that runs has neither it nor the sources.
FROM python:3.11-slim AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY pyproject.toml setup.py README.md LICENSE ./
COPY core core
COPY service service
RUN pip wheel --no-cache-dir --wheel-dir /wheels .
RUN python -m venv --without-pip /opt/manyclass \
    && pip --python /opt/manyclass install --no-cache-dir --no-index /wheels/*.whl

FROM python:3.11-slim
RUN useradd --system --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin manyclass \
    && install --directory --owner=manyclass --group=manyclass --mode=750 /data
COPY --from=build /opt/manyclass /opt/manyclass
# All addresses of the container: who can reach them is for those who publish the port. Without
# keys the service refuses to start so, unless MANYCLASS_INSECURE_OPEN=yes says that it is meant.
ENV PATH=/opt/manyclass/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    MANYCLASS_HOST=0.0.0.0 \
    MANYCLASS_PORT=8000 \
    MANYCLASS_STORE=sqlite:/data/manyclass.db
WORKDIR /data
VOLUME /data
USER manyclass
EXPOSE 8000
# Ready is when the state is restored and replayed, which takes longer the longer the log is. To rank
# no store is needed, so a container is healthy while a store on another machine is away.
HEALTHCHECK --interval=10s --timeout=3s --start-period=120s CMD ["python", "-c", \
    "import os, urllib.request as r; r.urlopen('http://127.0.0.1:' + os.environ['MANYCLASS_PORT'] + '/readyz?to=rank', timeout=2)"]
ENTRYPOINT ["manyclass"]
CMD ["serve"]
