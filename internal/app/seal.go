package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/secret"
)

var _ = db.Declare("sealing_keys", db.Life{})

// seal holds the sealing keys, and knows whether they fit the database. The database
// has a proof of every key in use, so that a server with the wrong key file, or none,
// says so when it starts and not when it needs a secret.
type seal struct {
	path    string
	problem error // why the keys do not fit, or nil

	mu   sync.RWMutex
	box  *secret.Box
	file os.FileInfo // as it was when the box was read

	rotation  sync.Mutex   // held by a rotation
	afterStep func(string) // a test stops a rotation here
}

const wrongKeyFormat = "the sealing key in %s does not belong to this database; copy the file from the server that " +
	"made it, or from where you keep it"

// proof is a known word, sealed with a key of the database. Whoever can open it has the
// key.
type proof struct {
	Number int    `db:"number"`
	Sealed []byte `db:"proof"`
}

const proofWord = "proof" // the word that is sealed, and the place that it is bound to

// readProofs reads the proofs of all keys in use.
func readProofs(ctx context.Context, tx *db.Tx) ([]proof, error) {
	return db.QueryAll[proof](ctx, tx, "SELECT number, proof FROM sealing_keys ORDER BY number")
}

// boxHasKeys reports whether a box has every key that the database needs.
func boxHasKeys(box *secret.Box, needed []proof) bool {
	for _, p := range needed {
		if _, err := box.Open(p.Sealed, proofWord); err != nil {
			return false
		}
	}
	return true
}

// openSeal reads the key file, and creates it for a database that has none yet. A
// missing or wrong file is not an error here, because an admin command on another
// machine may do without it: only sealing and opening fail.
func openSeal(ctx context.Context, d *db.DB, path string) (*seal, error) {
	s := &seal{path: path}
	var needed []proof
	read := func(ctx context.Context, tx *db.Tx) (err error) {
		needed, err = readProofs(ctx, tx)
		return err
	}
	if err := d.Read(ctx, read); err != nil {
		return nil, err
	}
	var err error
	if len(needed) > 0 {
		s.box, err = secret.ReadBox(path)
	} else {
		s.box, err = secret.OpenOrCreateBox(path)
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		s.problem = fmt.Errorf(wrongKeyFormat, path)
		return s, nil
	case err != nil:
		return nil, err
	}
	s.file, _ = os.Stat(path)
	if !boxHasKeys(s.box, needed) {
		s.problem = fmt.Errorf(wrongKeyFormat, path)
		return s, nil
	}
	// Two servers may start at once on an empty database: the first proof stays.
	err = d.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := recordProof(ctx, tx, s.box); err != nil {
			return err
		}
		return read(ctx, tx)
	})
	if err == nil && !boxHasKeys(s.box, needed) {
		s.problem = fmt.Errorf(wrongKeyFormat, path)
	}
	return s, err
}

// recordProof records that the database is sealed with the newest key. A rotation
// that was killed may have left that key only in the file.
func recordProof(ctx context.Context, tx *db.Tx, box *secret.Box) error {
	sealed, err := box.Seal([]byte(proofWord), proofWord)
	if err != nil {
		return err
	}
	_,
		err = db.Exec(ctx, tx, `
			INSERT INTO sealing_keys (number, proof)
			VALUES ($1, $2)
			ON CONFLICT (number) DO NOTHING`,
		int(box.NewestKey()), sealed)
	return err
}

// checkKey returns why the keys do not fit the database, or nil.
func (s *seal) checkKey() error { return s.problem }

// currentBox returns the keys as the file has them now. Another process may have rotated
// them, and what is sealed with a retired key would be lost with it.
func (s *seal) currentBox() *secret.Box {
	s.mu.RLock()
	box, file := s.box, s.file
	s.mu.RUnlock()
	now, err := os.Stat(s.path)
	if err != nil || file != nil && os.SameFile(now, file) && now.ModTime().Equal(file.ModTime()) {
		return box
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// A file that is half copied, or another database's, changes nothing.
	if next, err := secret.ReadBox(s.path); err == nil && next.DescendsFrom(s.box) {
		s.box, s.file = next, now
	}
	return s.box
}

// refreshBox notices a change of the key file even while nothing is sealed.
func (s *seal) refreshBox() {
	if s.problem == nil {
		s.currentBox()
	}
}

// setBox takes the keys that a rotation in this process wrote.
func (s *seal) setBox(box *secret.Box) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.box = box
	s.file, _ = os.Stat(s.path)
}

// Seal encrypts for the database, or says why it cannot.
func (s *seal) Seal(plain []byte, place string) ([]byte, error) {
	if s.problem != nil {
		return nil, s.problem
	}
	return s.currentBox().Seal(plain, place)
}

// Open decrypts what the database holds, or says why it cannot.
func (s *seal) Open(sealed []byte, place string) ([]byte, error) {
	if s.problem != nil {
		return nil, s.problem
	}
	return s.currentBox().Open(sealed, place)
}

// SealProblem returns why nothing can be sealed or opened, or nil.
func (a *App) SealProblem() error { return a.seal.checkKey() }
