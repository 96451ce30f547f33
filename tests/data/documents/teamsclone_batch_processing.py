# TeamsClone, Environment Specification: Batch Processing
# Collect trajectories
trajectories = []
for _ in range(num_parallel_envs):
    trajectory = collect_trajectory(env, policy)
    trajectories.append(trajectory)

# Update policy
policy.update(trajectories)
