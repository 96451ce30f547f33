"""How good a policy is: returns on held-out scenarios, scores, the final table, and the critic's calibration."""
