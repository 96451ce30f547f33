"""The speed of programs on this machine, and facts of programs compiled for another one."""
