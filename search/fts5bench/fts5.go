package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cairn/internal/corpus"
)

// A table is one way to use FTS5.
type table struct {
	name   string
	create []string
	find   string
	// anyWord ranks all notes that hold any of the words. Otherwise notes must
	// hold all of them, and any will do only if none does.
	anyWord bool
}

var tables = []table{
	{
		name:   "usual FTS5",
		create: []string{`CREATE VIRTUAL TABLE notes USING fts5(title, tags, body, tokenize = 'unicode61')`},
		find:   `SELECT rowid FROM notes WHERE notes MATCH ? ORDER BY bm25(notes, 10, 5, 1) LIMIT ?`,
	},
	{
		name: "good FTS5",
		create: []string{
			`CREATE VIRTUAL TABLE notes USING fts5(title, tags, body, tokenize = 'porter unicode61', prefix = '2 3 4')`,
			`INSERT INTO notes(notes, rank) VALUES ('rank', 'bm25(10, 5, 1)')`,
		},
		find:    `SELECT rowid FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT ?`,
		anyWord: true,
	},
}

// A driver is one way to run SQLite.
type driver struct{ name, registered string }

// openFTS5 fills a database with each driver, and opens it with that.
func openFTS5(ctx context.Context, dir string, t table, notes []corpus.Note) ([]engine, error) {
	var engines []engine
	for _, d := range drivers {
		name := t.name + ", " + d.name
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".db")
		built, err := build(path, func() error { return t.fill(ctx, d, path, notes) })
		if err != nil {
			return engines, fmt.Errorf("fill %s: %w", name, err)
		}
		e, err := t.open(ctx, d, path)
		if err != nil {
			return engines, fmt.Errorf("open %s: %w", name, err)
		}
		e.built = built
		e.grow = func(ctx context.Context) error { return grow(ctx, d, path, notes) }
		engines = append(engines, e)
	}
	return engines, nil
}

// grow adds the notes that come later, in small steps.
func grow(ctx context.Context, d driver, path string, notes []corpus.Note) (err error) {
	db, err := connect(ctx, d, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, live := split(notes)
	for part := range slices.Chunk(live, liveStep) {
		if err := insert(ctx, db, part); err != nil {
			return err
		}
	}
	return nil
}

// connect opens a database for one connection, tuned as its users advise.
func connect(ctx context.Context, d driver, path string) (*sql.DB, error) {
	db, err := sql.Open(d.registered, path)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	for _, pragma := range []string{
		"journal_mode = WAL", "synchronous = NORMAL", "cache_size = -200000", "mmap_size = 1000000000",
	} {
		if _, err := db.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}

func (t table) fill(ctx context.Context, d driver, path string, notes []corpus.Note) (err error) {
	db, err := connect(ctx, d, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, statement := range t.create {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	bulk, _ := split(notes)
	for part := range slices.Chunk(bulk, 5000) {
		if err := insert(ctx, db, part); err != nil {
			return err
		}
	}
	_, err = db.ExecContext(ctx, `INSERT INTO notes(notes) VALUES ('optimize')`)
	return err
}

func insert(ctx context.Context, db *sql.DB, notes []corpus.Note) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, n := range notes {
		_, err := tx.ExecContext(ctx, `INSERT INTO notes(title, tags, body) VALUES (?, ?, ?)`,
			n.Title, strings.Join(n.Tags, " "), n.Text)
		if err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

func (t table) open(ctx context.Context, d driver, path string) (engine, error) {
	ask, end, err := t.finder(ctx, d, path)
	if err != nil {
		return engine{}, err
	}
	return engine{
		name: t.name + ", " + d.name, ask: ask, close: end,
		cold: func(ctx context.Context, q question) (found []int, err error) {
			ask, end, err := t.finder(ctx, d, path)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, end()) }()
			return ask(ctx, q)
		},
	}, nil
}

// finder opens the database to ask it until end is called.
func (t table) finder(ctx context.Context, d driver, path string) (ask find, end func() error, err error) {
	db, err := connect(ctx, d, path)
	if err != nil {
		return nil, nil, err
	}
	statement, err := db.PrepareContext(ctx, t.find)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	ask = func(ctx context.Context, q question) ([]int, error) {
		for _, match := range t.matches(q) {
			if found, err := places(ctx, statement, match, q.limit); len(found) > 0 || err != nil {
				return found, err
			}
		}
		return nil, nil
	}
	return ask, func() error { return errors.Join(statement.Close(), db.Close()) }, nil
}

// matches are the expressions to try until one of them finds something.
func (t table) matches(q question) []string {
	if len(q.words) == 0 {
		return nil
	}
	if q.phrase {
		return []string{`"` + strings.Join(q.words, " ") + `"`}
	}
	var words []string
	for _, w := range q.words {
		words = append(words, `"`+w+`"`)
	}
	if q.prefix {
		words[len(words)-1] += "*"
	}
	if t.anyWord || len(words) == 1 {
		return []string{strings.Join(words, " OR ")}
	}
	return []string{strings.Join(words, " AND "), strings.Join(words, " OR ")}
}

// places are those of the notes found; rows count from 1 in the order in which
// they were put in.
func places(ctx context.Context, find *sql.Stmt, match string, limit int) (found []int, err error) {
	rows, err := find.QueryContext(ctx, match, limit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return found, err
		}
		found = append(found, id-1)
	}
	return found, rows.Err()
}
