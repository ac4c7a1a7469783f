package main

import (
	"context"
	"encoding/json"

	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/config"
)

type mailDNS struct{}

func (c *mailDNS) Run(s *config.Settings, out *streams) error {
	var data json.RawMessage
	err := with(s, out, func(ctx context.Context, doer admin.Doer) (err error) {
		data, err = doer.Run(ctx, "mail.dns", struct{}{}, out.say)
		return err
	})
	if err != nil {
		return err
	}
	return print(out, data)
}
