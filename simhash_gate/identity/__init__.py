"""Which page an address is: the spider's word, a canonical link, lists, what a host has shown."""
