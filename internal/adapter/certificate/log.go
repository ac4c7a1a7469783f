package certificate

import (
	"context"
	"log/slog"

	"go.uber.org/zap/zapcore"
)

// logCore writes certmagic's log, which is zap's, to slog. Its progress is logged for
// debugging only; what became of the certificate is logged by ACME.logEvent.
type logCore struct {
	log    *slog.Logger
	fields []zapcore.Field
}

func (c logCore) slogLevel(l zapcore.Level) slog.Level {
	if l >= zapcore.WarnLevel {
		return slog.LevelWarn // errors too: ACME.logEvent logs the failures that matter
	}
	return slog.LevelDebug
}

// Enabled reports whether a level is logged.
func (c logCore) Enabled(l zapcore.Level) bool {
	return l >= zapcore.InfoLevel && c.log.Enabled(context.Background(), c.slogLevel(l))
}

// With returns a core that adds fields.
func (c logCore) With(fields []zapcore.Field) zapcore.Core {
	return logCore{c.log, append(c.fields[:len(c.fields):len(c.fields)], fields...)}
}

// Check adds the core to an entry that it logs.
func (c logCore) Check(e zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return checked.AddCore(e, c)
	}
	return checked
}

// Write logs an entry.
func (c logCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	values := zapcore.NewMapObjectEncoder()
	for _, f := range append(c.fields[:len(c.fields):len(c.fields)], fields...) {
		f.AddTo(values)
	}
	r := slog.NewRecord(e.Time, c.slogLevel(e.Level), "certificates: "+e.Message, 0)
	for k, v := range values.Fields {
		r.AddAttrs(slog.Any(k, v))
	}
	return c.log.Handler().Handle(context.Background(), r)
}

// Sync does nothing: slog does not buffer.
func (c logCore) Sync() error { return nil }
