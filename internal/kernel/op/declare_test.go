package op

import "context"

type ctxType = context.Context

func handler[In any](context.Context, *Call, In) (*everything, error) { return nil, nil }
