"""The spiders: `articles` for any site, `demo` for the site whose truth is known."""
