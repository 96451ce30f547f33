# TeamsClone, Environment Specification: Gym-like Interface
from scenarios.teamsclone import TeamsEnvClient

env = TeamsEnvClient()

# Reset
state = env.reset()

# Episode loop
done = False
while not done:
    # Agent selects action
    action = agent.select_action(state)
    
    # Execute action
    result = env.step(action)
    
    next_state = result['state']
    reward = result['reward']
    done = result['done']
    info = result['info']
    
    # Learn from experience
    agent.update(state, action, reward, next_state, done)
    
    state = next_state
