-- What is known of the URLs of a scope, as `simhash_gate.urls` encodes it.
CREATE TABLE url_rules (
    scope TEXT PRIMARY KEY,
    rules BLOB NOT NULL
);
