# LifeStack, Task Schema Reference: Then pass it to the environment
env = LifeStackEnv()
obs = env.reset(task=my_task)
