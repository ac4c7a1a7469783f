package clients

import (
	"encoding/json"
	"fmt"
	"strings"
)

// ShellExample is the operation's example as a command.
func ShellExample(o *Operation) string {
	example := parseExample(o)
	words := []string{"frontdesk", "api"}
	for _, n := range strings.Split(o.Noun.Full, ".") {
		words = append(words, KebabCase(n))
	}
	words = append(words, KebabCase(o.Verb))
	for _, f := range o.PathFields {
		words = append(words, quoteShellWord(example.textOf(f.Wire)))
	}
	words = append(words, example.renderInput(o, func(name string, f *Field, v any) string {
		flag := "--" + KebabCase(name)
		switch v := v.(type) {
		case nil:
			return "--null " + KebabCase(name)
		case bool:
			if v {
				return flag
			}
			return flag + "=false"
		case string:
			if f.Kind == Bytes {
				return flag + " letter.txt"
			}
			return flag + " " + quoteShellWord(v)
		case []any:
			if f.Elem != nil && f.Elem.Kind == String {
				var out []string
				for _, e := range v {
					out = append(out, flag+" "+quoteShellWord(fmt.Sprint(e)))
				}
				return strings.Join(out, " ")
			}
		}
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return flag + " " + quoteShellWord(string(text))
	})...)
	return strings.Join(words, " ")
}

// MarshalJSON writes the members in their order.
func (o *orderedObject) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	for i, name := range o.names {
		if i > 0 {
			b.WriteString(", ")
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(o.values[name])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s: %s", key, value)
	}
	return []byte("{" + b.String() + "}"), nil
}

// quoteShellWord puts quotes around a word that a shell would split or expand.
func quoteShellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@+,") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
