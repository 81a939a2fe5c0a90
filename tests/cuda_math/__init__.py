"""CUDA's mathematics API, one kernel a function: our code against the vendor's, bit for bit."""
