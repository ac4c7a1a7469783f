package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/secret"
)

// seal is the box of keys, and whether it fits the database. The database
// holds a proof of every key it was sealed with, so that a server on another
// machine, or with a lost key file, says so at its start and not when a
// secret is wanted.
type seal struct {
	*secret.Box
	path    string
	problem error
}

const noKey = "the sealing key in %s does not belong to this database; copy the file from the server that made it, or from where you keep it"

// openSeal reads the key file, and makes it for a database that has none yet.
// An admin command on another machine may do without: only what seals fails.
func openSeal(ctx context.Context, d *db.DB, path string) (*seal, error) {
	s := &seal{path: path}
	type row struct {
		Number int    `db:"number"`
		Proof  []byte `db:"proof"`
	}
	var proofs []row
	read := func(ctx context.Context, tx *db.Tx) (err error) {
		proofs, err = db.All[row](ctx, tx, "SELECT number, proof FROM sealing_keys ORDER BY number")
		return err
	}
	if err := d.Read(ctx, read); err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && len(proofs) > 0 {
		s.problem = fmt.Errorf(noKey, path)
		return s, nil
	}
	var err error
	if s.Box, err = secret.OpenBox(path); err != nil {
		return nil, err
	}
	// Two servers may start at once on an empty database: the first proof stays.
	err = d.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		proof, err := s.Box.Seal([]byte("proof"), "proof")
		if err != nil {
			return err
		}
		if _, err := db.Exec(ctx, tx, "INSERT INTO sealing_keys (number, proof) VALUES ($1, $2) ON CONFLICT (number) DO NOTHING", int(s.Newest()), proof); err != nil {
			return err
		}
		return read(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	for _, p := range proofs {
		if _, err := s.Box.Open(p.Proof, "proof"); err != nil {
			s.problem = fmt.Errorf(noKey, path)
		}
	}
	return s, nil
}

// fits refuses to serve with a key that is not the database's.
func (s *seal) fits() error { return s.problem }

// Seal encrypts for the database, or says why it cannot.
func (s *seal) Seal(plain []byte, place string) ([]byte, error) {
	if s.problem != nil {
		return nil, s.problem
	}
	return s.Box.Seal(plain, place)
}

// Open decrypts what the database holds, or says why it cannot.
func (s *seal) Open(sealed []byte, place string) ([]byte, error) {
	if s.problem != nil {
		return nil, s.problem
	}
	return s.Box.Open(sealed, place)
}
