-- Who comes second finds all of it.

-- A scope is a 64-bit hash of its name, read as a signed number, and so is a run. Names are bytes:
-- UTF-8 with the lone surrogates of broken pages. `removals` says how often pages were removed, but
-- for those that fell out of the window.
CREATE TABLE IF NOT EXISTS scope (
    id INTEGER PRIMARY KEY,
    name BLOB NOT NULL,
    removals INTEGER NOT NULL DEFAULT 0
);

-- A commit costs what it writes, page by page: so an insert touches this table and its index alone.
-- The index has all that a mirror of a scope needs: to read the table takes three times as long.
-- `head` and `body` are as `base.py` packs them; `mark` and `last_seen` go before what they say.
-- `gave` is 0 if the page gave no item.
CREATE TABLE IF NOT EXISTS page (
    id INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL REFERENCES scope,
    run INTEGER NOT NULL,
    mark INTEGER NOT NULL,
    last_seen REAL NOT NULL,
    gave INTEGER NOT NULL,
    head BLOB NOT NULL,
    body BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS page_scope ON page (scope, id, head);

-- What is kept beside pages. An address begins with a hash of kind and scope.
CREATE TABLE IF NOT EXISTS blob (
    address BLOB PRIMARY KEY,
    kind TEXT NOT NULL,
    scope BLOB NOT NULL,
    key BLOB NOT NULL,
    at REAL NOT NULL,
    data BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS blob_kind ON blob (kind, address);
