-- Fingerprints are indexed in memory; numbers are never used again, so that what is new is known by
-- them. `settled` is 0 until the page is settled, 1 from then on, 2 if it is durable: it outlives
-- its run.
CREATE TABLE newer (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
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

INSERT INTO newer
SELECT id, scope, run, url, request, fingerprint, digest, words, title, pipeline, first_seen,
    last_seen, sketch, 0
FROM record;

DROP TABLE record;
ALTER TABLE newer RENAME TO record;

CREATE INDEX record_scope ON record (scope);

CREATE TRIGGER record_kept AFTER INSERT ON record BEGIN
    UPDATE scope SET kept = kept + 1 WHERE id = new.scope;
END;

CREATE TRIGGER record_gone AFTER DELETE ON record BEGIN
    UPDATE scope SET kept = kept - 1 WHERE id = old.scope;
END;
