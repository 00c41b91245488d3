-- What is known of the URLs of a scope, as `simhash_gate.urls` encodes it.
CREATE TABLE url_rules (
    scope text PRIMARY KEY,
    rules bytea NOT NULL
);

-- Empty rules are none.
CREATE FUNCTION keep_url_rules(page_scope text, new bytea) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF length(new) = 0 THEN
        DELETE FROM url_rules WHERE scope = page_scope;
    ELSE
        INSERT INTO url_rules VALUES (page_scope, new)
            ON CONFLICT (scope) DO UPDATE SET rules = excluded.rules;
    END IF;
END
$$;
