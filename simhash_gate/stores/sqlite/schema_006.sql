-- What runs know of the visits to pages: of each page one row a run, or two if one of them is durable.
CREATE TABLE history (
    id INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL REFERENCES scope,
    run INTEGER NOT NULL REFERENCES run,
    durable INTEGER NOT NULL DEFAULT 0,
    seen REAL NOT NULL,
    request TEXT NOT NULL,
    url TEXT NOT NULL,
    history BLOB NOT NULL
);

CREATE INDEX history_page ON history (scope, request, seen);
CREATE INDEX history_run ON history (run);

-- Notes on a scope, a JSON object.
CREATE TABLE site_notes (
    scope TEXT PRIMARY KEY,
    notes BLOB NOT NULL
);

-- Texts of pages by the digest of the page, and how many bytes all of them have.
CREATE TABLE kept_text (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    digest INTEGER NOT NULL,
    at REAL NOT NULL,
    size INTEGER NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (scope, digest)
);

CREATE INDEX kept_text_at ON kept_text (at);

CREATE TABLE texts_size (bytes INTEGER NOT NULL);
INSERT INTO texts_size VALUES (0);

CREATE TRIGGER kept_text_comes AFTER INSERT ON kept_text BEGIN
    UPDATE texts_size SET bytes = bytes + new.size;
END;

CREATE TRIGGER kept_text_goes AFTER DELETE ON kept_text BEGIN
    UPDATE texts_size SET bytes = bytes - old.size;
END;
