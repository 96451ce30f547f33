# Three images: docker build --target cpu|cuda|openenv -t jaxenv .
# `docker run jaxenv ppo --env LifeOps-Shaped-v0` trains; for a GPU add --gpus all and mount a folder on /runs.
FROM python:3.11-slim AS source
WORKDIR /jaxenv
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY jaxenv jaxenv
COPY scenarios scenarios
COPY train train
RUN useradd --create-home --uid 1000 user && mkdir /runs && chown user /runs
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

FROM source AS cpu
RUN pip install '.[train,viz]' -c constraints.txt
USER 1000
WORKDIR /runs
ENTRYPOINT ["jaxenv"]

# CUDA comes with JAX's wheels; the machine needs the driver and NVIDIA's container toolkit alone.
FROM source AS cuda
RUN pip install '.[train,viz,cuda12]' -c constraints.txt
USER 1000
WORKDIR /runs
ENTRYPOINT ["jaxenv"]

# The server of openenv.yaml, which is what `docker build .` makes. OpenEnv cannot be installed beside the pinned releases.
FROM source AS openenv
COPY openenv.yaml ./
# hadolint ignore=DL3013
RUN pip install '.[openenv]'
USER 1000
EXPOSE 8000
HEALTHCHECK --start-period=60s CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://localhost:8000/health')"]
CMD ["jaxenv", "scenarios", "serve", "--host", "0.0.0.0", "--port", "8000"]
