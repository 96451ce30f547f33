"""The networks: from features and an action mask to a distribution over actions and a value."""
