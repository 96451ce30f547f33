# TeamsClone, Environment Specification: State Dictionary Structure
{
  "agentState": {
    "currentTeamId": "team-1",
    "currentChannelId": "channel-1",
    "userId": "agent"
  },
  "currentChannel": {
    "id": "channel-1",
    "name": "General",
    "teamId": "team-1",
    "unread": 0
  },
  "recentMessages": [
    {
      "id": "msg-uuid",
      "channelId": "channel-1",
      "userId": "user-1",
      "content": "Hello team!",
      "timestamp": 1698765432000,
      "reactions": []
    }
  ],
  "teams": [
    {
      "id": "team-1",
      "name": "General Team",
      "channels": [...]
    }
  ],
  "users": [
    {
      "id": "user-1",
      "name": "Alice",
      "status": "available",  # available, busy, away, offline
      "avatar": "👩"
    }
  ],
  "episodeStats": {
    "stepCount": 10,
    "totalReward": 2.5,
    "messagesSent": 3,
    "channelsSwitched": 2,
    "startTime": 1698765432000
  },
  "timestamp": 1698765432100
}
