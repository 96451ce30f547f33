# TeamsClone, Environment Specification: Switch Channel
{
  "type": "switch_channel",
  "payload": {
    "channelId": "channel-2"  # Required: target channel ID
  }
}
