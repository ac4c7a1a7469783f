package app

// SetReady makes the service say that it is, as Serve does.
func (a *App) SetReady() { a.ready.setReady(true) }

// AfterStep has fn called between the steps of a rotation of the sealing key.
func (a *App) AfterStep(fn func(step string)) { a.seal.afterStep = fn }
