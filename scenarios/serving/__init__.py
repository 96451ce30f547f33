"""The environments as text over HTTP and WebSocket, by the protocol of OpenEnv; needs the extra `openenv`."""
