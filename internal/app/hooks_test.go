package app

// SetReady makes the service say that it is, as Serve does.
func (a *App) SetReady() { a.ready.set(true) }

// AfterStep has fn called between the steps of a rotation of the sealing key.
func (a *App) AfterStep(fn func(step string)) { a.seal.afterStep = fn }

// SealedColumns are the columns that a rotation seals anew.
func SealedColumns() (out []string) {
	for _, p := range sealedPlaces {
		out = append(out, p.table+"."+p.column)
	}
	return out
}
