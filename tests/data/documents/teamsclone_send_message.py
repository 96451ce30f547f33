# TeamsClone, Environment Specification: Send Message
{
  "type": "send_message",
  "payload": {
    "content": "Hello team!",  # Required: message text
    "channelId": "channel-1"   # Optional: defaults to current channel
  }
}
