# TeamsClone, Environment Specification: Join Call
{
  "type": "join_call",
  "payload": {
    "channelId": "channel-1"  # Optional: defaults to current channel
  }
}
