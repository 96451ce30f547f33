"""The packages of the extra `openenv`, which only the server needs."""

from jaxenv.host.companions import optional

openenv = optional("openenv.core.env_server", "the server", "openenv")
fastapi = optional("fastapi", "the server", "openenv")
uvicorn = optional("uvicorn", "the server", "openenv")
http = optional("uvicorn.protocols.http.auto", "the server", "openenv")
