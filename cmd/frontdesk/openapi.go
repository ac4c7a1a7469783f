package main

import (
	"fmt"

	"frontdesk/internal/app"
	"frontdesk/internal/door/docs"
	"frontdesk/internal/kernel/config"
)

type openapiCommand struct{}

// Run prints the document that a server serves at /v1/openapi.json.
func (openapiCommand) Run(s *config.Settings, out *streams) error {
	if err := s.FillAndValidate(false); err != nil {
		return err
	}
	text, err := docs.OpenAPI(app.Describe(), s.BaseURL)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out.out, string(text))
	return err
}
