# TeamsClone, Environment Specification: Suggested Encoding
def encode_state(state):
    features = []
    
    # 1. Channel encoding (one-hot or embedding)
    channel_id = state['agentState']['currentChannelId']
    # ... encode channel
    
    # 2. Message history (embeddings or BoW)
    messages = state['recentMessages']
    # ... encode recent messages
    
    # 3. Unread counts (normalized)
    unread_vector = [ch['unread'] / 10.0 for team in state['teams'] 
                     for ch in team['channels']]
    
    # 4. Presence information
    available_users = sum(1 for u in state['users'] 
                         if u['status'] == 'available')
    
    # 5. Episode progress
    progress = state['episodeStats']['stepCount'] / 100.0
    
    return np.concatenate([channel_enc, message_enc, 
                          unread_vector, [available_users, progress]])
