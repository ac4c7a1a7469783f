package template

// Taken says why a content would be refused when it is written.
func Taken(c Content) error {
	_, err := c.parseVariables()
	return err
}
