"""The demonstration project: two spiders, and a news site in miniature to let them loose on."""
