# TeamsClone, Environment Specification: React to Message
{
  "type": "react_to_message",
  "payload": {
    "messageId": "msg-uuid",  # Required: message to react to
    "reaction": "👍"          # Required: emoji reaction
  }
}
