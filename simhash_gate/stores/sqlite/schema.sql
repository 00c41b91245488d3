CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    live INTEGER NOT NULL
);

-- `kept` is how many records a scope has up to number `counted`: those after it are few.
CREATE TABLE scope (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    kept INTEGER NOT NULL DEFAULT 0,
    counted INTEGER NOT NULL DEFAULT 0
);

-- A commit costs what it writes, page by page: so an insert touches the record and its index alone.
-- The number of a record is the last one that was ever given, and one more: the greatest there is,
-- or, once that is gone, what is noted here. None is used again, so that what is new is known by it.
CREATE TABLE sequence (last INTEGER NOT NULL);
INSERT INTO sequence VALUES (0);

-- In order of insertion. Fingerprint and digest are the unsigned values read as signed ones.
-- `settled` is 0 until the page is settled, 1 from then on, 2 if it is durable: it outlives its run.
CREATE TABLE record (
    id INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL REFERENCES scope,
    run INTEGER NOT NULL REFERENCES run,
    url TEXT NOT NULL,
    request TEXT NOT NULL,
    fingerprint INTEGER NOT NULL,
    digest INTEGER NOT NULL,
    words INTEGER NOT NULL,
    title TEXT NOT NULL,
    pipeline TEXT NOT NULL,
    first_seen REAL NOT NULL,
    last_seen REAL NOT NULL,
    sketch BLOB NOT NULL,
    settled INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX record_scope ON record (scope);

CREATE TRIGGER record_gone AFTER DELETE ON record BEGIN
    UPDATE scope SET kept = kept - 1 WHERE id = old.scope AND counted >= old.id;
    UPDATE sequence SET last = old.id
        WHERE last < old.id AND old.id > coalesce((SELECT max(id) FROM record), 0);
END;

-- What a scope repeats on pages of different names, as the gate encodes it.
CREATE TABLE site_memory (
    scope INTEGER PRIMARY KEY REFERENCES scope,
    repeated BLOB NOT NULL
);

-- What is known of the URLs of a scope, as `simhash_gate.urls` encodes it.
CREATE TABLE url_rules (
    scope TEXT PRIMARY KEY,
    rules BLOB NOT NULL
);

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
