-- Times are Unix times of the crawlers. Scopes and runs are 64-bit hashes of their names.

CREATE SEQUENCE number;

-- `last` is the number of the page that was added last, `previous` that of the one before it; `first`
-- is that of the first one that may be there; `removals` says how often pages went in any other order.
CREATE TABLE scope (
    id bigint PRIMARY KEY,
    name bytea NOT NULL,
    last bigint NOT NULL,
    previous bigint NOT NULL DEFAULT 0,
    first bigint NOT NULL,
    removals bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- Within a scope, ids are in order of insertion. `head` and `body` are as crawlers pack them;
-- `last_seen` goes before what they say; `mark` adds up 1 once a page is settled, 2 if it counts
-- whatever becomes of its run; `gave` is 0 if it gave no item.
CREATE TABLE page (
    id bigint PRIMARY KEY,
    scope bigint NOT NULL,
    run bigint NOT NULL,
    mark smallint NOT NULL,
    last_seen double precision NOT NULL,
    gave bigint NOT NULL,
    head bytea NOT NULL,
    body bytea NOT NULL
) WITH (fillfactor = 90);
-- Comparing (scope, id) as one, and sorting by id + 0, leaves the planner this index alone, whatever it
-- knows of the table. With `scope = here` beside it, PostgreSQL 18 reads a scope from its beginning.
CREATE INDEX page_order ON page (scope, id);
CREATE INDEX page_run ON page (run);

-- What is kept beside pages. An address begins with a hash of kind and scope.
CREATE TABLE blob (
    address bytea PRIMARY KEY,
    kind text NOT NULL,
    scope bytea NOT NULL,
    key bytea NOT NULL,
    at double precision NOT NULL,
    data bytea NOT NULL
) WITH (fillfactor = 80);
ALTER TABLE blob ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE INDEX blob_kind ON blob (kind, address);

-- What is new to one who knows a scope in a state; see `News` in driver.py.
CREATE FUNCTION news(known bigint, known_last bigint, known_removals bigint)
RETURNS TABLE (last bigint, first bigint, removals bigint, heads bytea)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT here.last, here.first, here.removals, (
        SELECT string_agg(int8send(page.id) || page.head, ''::bytea ORDER BY page.id + 0)
        FROM page
        WHERE (page.scope, page.id) <= (known, here.last) AND (page.scope, page.id) > (known, CASE
            WHEN here.removals = known_removals AND here.last >= known_last THEN known_last
            ELSE here.first - 1
        END)
    ) FROM scope AS here WHERE here.id = known;
END;

-- Adds a page to a scope that is known, or makes the scope where there is none, and removes all pages
-- up to number `through`, unless others have added pages before: `old`. Each statement sees what those
-- have written for whom an earlier one has waited.
CREATE FUNCTION append(
    known bigint, known_last bigint, known_removals bigint, through bigint, name bytea,
    run bigint, mark bigint, seen double precision, gave bigint, head bytea, body bytea,
    OUT number bigint, OUT first bigint, OUT removals bigint, OUT old bytea
)
LANGUAGE plpgsql AS $$
DECLARE
    previous bigint;
BEGIN
    IF known_last > 0 THEN
        UPDATE scope SET last = nextval('number'), previous = scope.last WHERE scope.id = known
        RETURNING scope.previous, scope.last, scope.first, scope.removals
        INTO previous, number, first, removals;
    END IF;
    IF number IS NULL THEN
        number := nextval('number');
        INSERT INTO scope (id, name, last, first) VALUES (known, append.name, number, number)
        ON CONFLICT DO NOTHING RETURNING scope.first, scope.removals INTO first, removals;
        IF first IS NULL THEN
            number := NULL;
            RETURN;
        END IF;
    END IF;
    IF previous > known_last OR removals <> known_removals THEN
        SELECT heads INTO old FROM news(known, known_last, known_removals);
    END IF;
    INSERT INTO page VALUES (number, known, run, mark, seen, gave, head, body);
    IF through >= first AND old IS NULL THEN
        first := through + 1;
        UPDATE scope SET first = append.first WHERE scope.id = known;
        DELETE FROM page WHERE (page.scope, page.id) <= (known, through)
            AND (page.scope, page.id) > (known, 0);
    END IF;
END
$$;

-- Removes pages of a scope, and the scope with the last one. Who adds a page at the same time waits.
CREATE FUNCTION remove(here bigint, numbers bigint[], OUT last bigint, OUT removals bigint)
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE scope SET removals = scope.removals + 1 WHERE id = here
    RETURNING scope.last, scope.removals INTO last, removals;
    DELETE FROM page WHERE id = ANY(numbers);
    DELETE FROM scope WHERE id = here AND NOT EXISTS (SELECT FROM page WHERE page.scope = here);
    IF FOUND THEN
        last := 0;
        removals := 0;
    END IF;
END
$$;

-- For those who ask in SQL: fingerprints are 16 hex digits.
CREATE FUNCTION hamming_distance(a text, b text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN bit_count(('x' || a)::bit(64) # ('x' || b)::bit(64))::integer;

-- Texts of broken pages can have characters that PostgreSQL has not: these functions return NULL then,
-- or one broken page would hide all others.
CREATE FUNCTION as_text(bytes bytea) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN convert_from(bytes, 'UTF8');
EXCEPTION WHEN data_exception THEN
    RETURN NULL;
END
$$;

-- What a body says, in the order of the fields of a record, but its scope. To read it as jsonb fails
-- for the NUL of a text; to read it as json would fail later, outside of this function.
CREATE FUNCTION told(body bytea) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    size integer := ('x' || encode(substring(body FOR 4), 'hex'))::bit(32)::integer;
BEGIN
    RETURN as_text(substring(body FROM 5 FOR size))::jsonb;
EXCEPTION WHEN data_exception THEN
    RETURN NULL;
END
$$;

-- What is remembered, and counts. What is kept of a live run says until when its lease is.
CREATE VIEW kept_page AS
WITH run AS (
    SELECT key, scope = 'ended' AS ended, split_part(as_text(data), ' ', 2) AS until
    FROM blob WHERE kind = 'run'
), state AS (
    SELECT key, CASE
        WHEN bool_or(ended) THEN 'ended'
        WHEN max(until)::double precision > extract(epoch FROM clock_timestamp()) THEN 'live'
        ELSE 'dead' END AS state
    FROM run GROUP BY key
)
SELECT
    page.id, as_text(scope.name) AS scope, its.told ->> 0 AS url,
    its.told ->> 5 AS title, (its.told ->> 4)::bigint AS words,
    encode(substring(page.head FOR 8), 'hex') AS fingerprint,
    to_timestamp((its.told ->> 10)::double precision) AS first_seen,
    to_timestamp(page.last_seen) AS last_seen, its.told ->> 7 AS run,
    coalesce(state.state, 'dead') AS run_state, page.mark & 3 > 0 AS settled, its.told ->> 6 AS pipeline,
    its.told ->> 1 AS key
FROM page
JOIN scope ON scope.id = page.scope
CROSS JOIN LATERAL (SELECT told(page.body) OFFSET 0) AS its
LEFT JOIN state ON state.key = convert_to(lpad(to_hex(page.run), 16, '0'), 'UTF8')
WHERE page.mark & 2 > 0 OR state.state <> 'dead';
