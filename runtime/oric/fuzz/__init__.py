"""Random programs for the whole compiler: what they are, what they compute, and campaigns that look for a difference."""
