-- A commit costs what it writes, page by page: so an insert touches the record and its index alone.
-- The number of a record is the last one that was ever given, and one more: the greatest there is,
-- or, once that is gone, what is noted here.
CREATE TABLE sequence (last INTEGER NOT NULL);
INSERT INTO sequence SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'record';

CREATE TABLE newer (
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

INSERT INTO newer
SELECT id, scope, run, url, request, fingerprint, digest, words, title, pipeline, first_seen,
    last_seen, sketch, settled
FROM record;

DROP TABLE record;
ALTER TABLE newer RENAME TO record;

CREATE INDEX record_scope ON record (scope);

-- `kept` is how many records a scope has up to number `counted`: those after it are few.
ALTER TABLE scope ADD COLUMN counted INTEGER NOT NULL DEFAULT 0;
UPDATE scope SET counted = (SELECT last FROM sequence);

CREATE TRIGGER record_gone AFTER DELETE ON record BEGIN
    UPDATE scope SET kept = kept - 1 WHERE id = old.scope AND counted >= old.id;
    UPDATE sequence SET last = old.id
        WHERE last < old.id AND old.id > coalesce((SELECT max(id) FROM record), 0);
END;
