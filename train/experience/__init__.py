"""Experience for every algorithm: the scenarios that are played, and the steps taken in them."""
