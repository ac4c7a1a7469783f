package guard

// RuleEvents are the events of the rules: types, or beginnings of types that end with a dot.
func RuleEvents() (out []string) {
	for _, r := range exitRules {
		out = append(out, r.events...)
	}
	return out
}
