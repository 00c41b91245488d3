"""The demonstration project: two spiders, and a news site and shop in miniature to try them on."""
