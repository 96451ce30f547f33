"""What is known of every environment: agents trained alike, scored on held-out scenarios, as a table to cite."""
