"""The judge: page, policy and window in, verdict out. Never reads HTML, knows no store by name."""
