# Both stages start from one Python. The wheel is built where there is a compiler; the image that runs
# has neither it nor the sources.
FROM python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d AS base

FROM base AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY requirements requirements
RUN python -m venv /build \
    && /build/bin/pip install --no-cache-dir --require-hashes -r requirements/build.txt \
    && python -m venv --without-pip /opt/manyclass \
    && pip --python /opt/manyclass install --no-cache-dir --require-hashes -r requirements/serve.txt
# Extras for the image: docker build --build-arg EXTRAS=s3 .
ARG EXTRAS=""
RUN for extra in $EXTRAS; do \
        pip --python /opt/manyclass install --no-cache-dir --require-hashes -r requirements/$extra.txt; \
    done
COPY pyproject.toml setup.py README.md LICENSE NOTICE ./
# src/manyclass links to the folders after it.
COPY src src
COPY core core
COPY service service
COPY client client
COPY cli cli
COPY training training
COPY evaluation evaluation
RUN /build/bin/pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels . \
    && pip --python /opt/manyclass install --no-cache-dir --no-index --no-deps /wheels/*.whl

FROM base
RUN useradd --system --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin manyclass \
    && install --directory --owner=manyclass --group=manyclass --mode=750 /data
COPY --from=build /opt/manyclass /opt/manyclass
# The service listens on all addresses of the container; publishing the port decides which clients
# reach it. Without keys it refuses to start on them, unless MANYCLASS_INSECURE_OPEN=yes.
ENV PATH=/opt/manyclass/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    MANYCLASS_HOST=0.0.0.0 \
    MANYCLASS_PORT=8000 \
    MANYCLASS_STORE=sqlite:/data/manyclass.db \
    SQLITE_TMPDIR=/data
WORKDIR /data
VOLUME /data
USER manyclass
EXPOSE 8000
# Ready is when the state is restored and replayed, which takes longer the longer the log is. To rank
# no store is needed, so a container is healthy while a store on another machine is away.
HEALTHCHECK --interval=10s --timeout=3s --start-period=120s CMD ["python", "-c", \
    "import os, urllib.request as r; port = os.environ['MANYCLASS_PORT']; \
    r.urlopen(f'http://127.0.0.1:{port if port.isdigit() else 8000}/readyz?to=rank', timeout=2)"]
ENTRYPOINT ["manyclass"]
CMD ["serve"]
