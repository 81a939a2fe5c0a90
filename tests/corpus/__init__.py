"""Machine code that ptxas makes, for every target: own sources, the tool that compiles them, what nvdisasm says of the result."""
