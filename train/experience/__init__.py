"""What every algorithm collects: the scenarios that are played, and the steps taken in them."""
