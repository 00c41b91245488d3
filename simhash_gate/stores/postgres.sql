-- Timestamps are of the server's clock; first_seen and last_seen are Unix times of the crawlers.
-- Names of scopes can be longer than a B-tree takes: they are hashed. Runs are 64-bit hashes of
-- their names.

CREATE TABLE run (
    id bigint PRIMARY KEY,
    owner bigint NOT NULL,
    state text NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'ended', 'dead')),
    expires timestamptz NOT NULL
);
CREATE INDEX run_state ON run (state) WHERE state <> 'ended';

CREATE SEQUENCE number;

-- `last` is the number of the page that was added last, `previous` that of the one before it; `first`
-- is that of the first one that may be there;
-- `epoch` changes when pages go in any other order.
CREATE TABLE scope (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name bytea NOT NULL,
    last bigint NOT NULL DEFAULT 0,
    previous bigint NOT NULL DEFAULT 0,
    first bigint NOT NULL DEFAULT 0,
    epoch bigint NOT NULL,
    EXCLUDE USING hash (name WITH =)
) WITH (fillfactor = 50);

-- Within a scope, ids are in order of insertion. `head` and `body` are as crawlers pack them;
-- `last_seen` goes before what they say; `mark` is 1 once a page is settled, 2 if it counts whatever
-- becomes of its run.
CREATE TABLE page (
    id bigint PRIMARY KEY,
    scope integer NOT NULL,
    run bigint NOT NULL,
    mark smallint NOT NULL,
    last_seen double precision NOT NULL,
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
CREATE FUNCTION news(known bytea, known_last bigint, known_epoch bigint)
RETURNS TABLE (last bigint, first bigint, epoch bigint, heads bytea)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT here.last, here.first, here.epoch, (
        SELECT string_agg(int8send(page.id) || page.head, ''::bytea ORDER BY page.id + 0)
        FROM page
        WHERE (page.scope, page.id) < (here.id + 1, 0) AND (page.scope, page.id) > (here.id, CASE
            WHEN here.epoch = known_epoch AND here.last >= known_last THEN known_last
            ELSE here.first - 1
        END)
    ) FROM scope AS here WHERE here.name = known;
END;

-- Adds a page to a scope whose epoch is known, makes the scope where none is known, and removes all
-- pages up to number `through`, unless others have added pages before: `old`. Each statement sees
-- what those have written for whom an earlier one has waited.
CREATE FUNCTION append(
    known bytea, known_last bigint, known_epoch bigint, through bigint, new_epoch bigint,
    run bigint, mark bigint, seen double precision, head bytea, body bytea,
    OUT number bigint, OUT first bigint, OUT epoch bigint, OUT old bytea
)
LANGUAGE plpgsql AS $$
DECLARE
    here integer;
    previous bigint;
BEGIN
    UPDATE scope SET last = nextval('number'), previous = scope.last
    WHERE scope.name = known AND scope.epoch = known_epoch
    RETURNING scope.id, scope.previous, scope.last, scope.first, scope.epoch
    INTO here, previous, number, first, epoch;
    IF here IS NULL AND known_epoch = 0 THEN
        INSERT INTO scope (name, last, epoch) VALUES (known, nextval('number'), new_epoch)
        ON CONFLICT DO NOTHING
        RETURNING scope.id, scope.last, scope.first, scope.epoch INTO here, number, first, epoch;
    END IF;
    IF here IS NULL THEN
        RETURN;
    END IF;
    IF previous > known_last THEN
        SELECT string_agg(int8send(page.id) || page.head, ''::bytea ORDER BY page.id + 0)
        INTO old FROM page
        WHERE (page.scope, page.id) > (here, known_last) AND (page.scope, page.id) < (here + 1, 0);
    END IF;
    INSERT INTO page VALUES (number, here, run, mark, seen, head, body);
    IF through >= first AND old IS NULL THEN
        first := through + 1;
        UPDATE scope SET first = append.first WHERE scope.id = here;
        DELETE FROM page WHERE page.scope = here AND (page.scope, page.id) <= (here, through);
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

-- What is remembered, and counts.
CREATE VIEW kept_page AS
SELECT
    page.id, as_text(scope.name) AS scope, its.told ->> 0 AS url,
    its.told ->> 5 AS title, (its.told ->> 4)::bigint AS words,
    encode(substring(page.head FOR 8), 'hex') AS fingerprint,
    to_timestamp((its.told ->> 8)::double precision) AS first_seen,
    to_timestamp(page.last_seen) AS last_seen, its.told ->> 7 AS run,
    coalesce(run.state, 'dead') AS run_state, page.mark > 0 AS settled, its.told ->> 6 AS pipeline,
    its.told ->> 1 AS request
FROM page
JOIN scope ON scope.id = page.scope
CROSS JOIN LATERAL (SELECT told(page.body) OFFSET 0) AS its
LEFT JOIN run ON run.id = page.run
WHERE page.mark = 2 OR run.state = 'ended' OR run.state = 'live' AND run.expires > clock_timestamp();
