PRAGMA application_id = 0x53484754;

CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    live INTEGER NOT NULL
);

CREATE TABLE scope (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    kept INTEGER NOT NULL DEFAULT 0
);

-- In order of insertion. Fingerprint and digest are the unsigned values read as signed ones.
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
    block0 INTEGER AS (fingerprint & 65535) VIRTUAL,
    block1 INTEGER AS ((fingerprint >> 16) & 65535) VIRTUAL,
    block2 INTEGER AS ((fingerprint >> 32) & 65535) VIRTUAL,
    block3 INTEGER AS ((fingerprint >> 48) & 65535) VIRTUAL
);

CREATE INDEX record_scope ON record (scope);
CREATE INDEX record_block0 ON record (scope, block0);
CREATE INDEX record_block1 ON record (scope, block1);
CREATE INDEX record_block2 ON record (scope, block2);
CREATE INDEX record_block3 ON record (scope, block3);

CREATE TRIGGER record_kept AFTER INSERT ON record BEGIN
    UPDATE scope SET kept = kept + 1 WHERE id = new.scope;
END;

CREATE TRIGGER record_gone AFTER DELETE ON record BEGIN
    UPDATE scope SET kept = kept - 1 WHERE id = old.scope;
END;
