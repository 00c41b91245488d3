-- What a scope repeats on pages of different names, as the gate encodes it.
CREATE TABLE site_memory (
    scope INTEGER PRIMARY KEY REFERENCES scope,
    repeated BLOB NOT NULL
);
