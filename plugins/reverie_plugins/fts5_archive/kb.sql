-- The index of one corpus. Everything here can be made again from Markdown, but for the counts of retrievals.
-- Times are in milliseconds since 1970 (UTC), those of files in nanoseconds as the file system gives them.

CREATE TABLE kb_sources (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL,                     -- NFC, relative to the root; no two have the same
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,              -- negative: read so soon after that its hash decides once more
    inode INTEGER NOT NULL,
    digest BLOB,                            -- the first 16 bytes of the SHA-256 of what it holds
    origin TEXT NOT NULL,                   -- its provenance
    kind TEXT NOT NULL,                     -- 'file', or 'added' by a job
    revision INTEGER NOT NULL,              -- of the run that saw it change
    importance INTEGER NOT NULL DEFAULT 5,  -- of its front matter
    text TEXT                               -- of an added one only
);
CREATE INDEX kb_sources_added ON kb_sources (path) WHERE kind = 'added';

CREATE TABLE kb_chunks (
    id INTEGER PRIMARY KEY,                 -- the rowid in kb_fts
    source INTEGER NOT NULL REFERENCES kb_sources ON DELETE CASCADE,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    text TEXT NOT NULL,
    headings TEXT NOT NULL
);
CREATE INDEX kb_chunks_source ON kb_chunks (source);

-- All entries of a source in two values, for a row each would take three times as long: 12 bytes of place for each,
-- and as many times the first 8 bytes of its hash where kb_entry_lifecycle has the rest, or all 32 where they never age.
CREATE TABLE kb_entries (
    source INTEGER PRIMARY KEY REFERENCES kb_sources ON DELETE CASCADE,
    places BLOB NOT NULL,                   -- little-endian: first line, last line, 16 * date (yyyymmdd) + importance
    keys BLOB NOT NULL
);
CREATE INDEX kb_entries_ageless ON kb_entries (source) WHERE length(keys) > length(places);

CREATE TABLE kb_entry_lifecycle (
    entry_hash BLOB PRIMARY KEY,            -- SHA-256, 32 bytes
    first_seen INTEGER,
    last_retrieved INTEGER,
    retrieval_count INTEGER NOT NULL DEFAULT 0,
    supersedes_key TEXT,                    -- '#12', or '#12 #13'
    superseded_by TEXT,
    invalid_at INTEGER,
    places INTEGER NOT NULL DEFAULT 0       -- how often the entry stands in the corpus; 0 goes at the end of a run
) WITHOUT ROWID;
CREATE INDEX kb_entry_lifecycle_gone ON kb_entry_lifecycle (entry_hash) WHERE places <= 0;

CREATE TABLE kb_retrieval_log (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    entry_hash TEXT NOT NULL,               -- in hex
    at INTEGER NOT NULL
);

CREATE TABLE kb_common (term TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE kb_index_state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    revision INTEGER NOT NULL DEFAULT 0,
    signature TEXT NOT NULL DEFAULT '',
    indexed_at INTEGER,                     -- when a run last went through everything
    drift INTEGER NOT NULL DEFAULT 0        -- chunks written or deleted since kb_common was made
);
INSERT INTO kb_index_state (id) VALUES (1);
