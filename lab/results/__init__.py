"""Every agent trained and scored on held-out scenarios, and the page of results."""
