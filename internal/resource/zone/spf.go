package zone

import (
	"slices"
	"strings"

	"frontdesk/internal/kernel/id"
)

// SPFPrefix begins an SPF record. A name must not have two of them (RFC 7208 §4.5): receivers then obey neither.
const SPFPrefix = "v=spf1 "

// IsSPF reports whether the content of a TXT record is an SPF policy.
func IsSPF(content string) bool {
	content += " "
	return len(content) >= len(SPFPrefix) && strings.EqualFold(content[:len(SPFPrefix)], SPFPrefix)
}

// SPFTerms lists the terms of an SPF record that apply: those before its all mechanism.
func SPFTerms(policy string) (out []string) {
	for i, term := range strings.Fields(strings.ToLower(policy)) {
		term = strings.TrimPrefix(term, "+")
		if isAllTerm(term) {
			break
		}
		if i > 0 {
			out = append(out, term)
		}
	}
	return out
}

func isAllTerm(term string) bool { return strings.TrimLeft(strings.ToLower(term), "+-~?") == "all" }

// mergeSPF is one policy that allows what both allow, and ends as the first does.
func mergeSPF(policy, other string) string {
	terms := SPFTerms(policy)
	for _, term := range SPFTerms(other) {
		if !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
	}
	merged := strings.TrimSpace(SPFPrefix) + " " + strings.Join(terms, " ")
	for _, p := range []string{policy, other} {
		if i := slices.IndexFunc(strings.Fields(p), isAllTerm); i >= 0 {
			return merged + " " + strings.ToLower(strings.Fields(p)[i])
		}
	}
	return merged
}

// extendsSPF reports whether a policy allows all that another one does, and perhaps more.
func extendsSPF(policy, base string) bool {
	terms := SPFTerms(policy)
	return IsSPF(policy) && !slices.ContainsFunc(SPFTerms(base),
		func(t string) bool { return !slices.Contains(terms, t) })
}

// checkSingleSPF refuses a second SPF record of a name, and says what the first would be with both. except is a
// record that is being replaced.
func checkSingleSPF(rows []DNSRecord, r Record, except id.ID) error {
	if r.Type != "TXT" || !IsSPF(r.Content) {
		return nil
	}
	for i := range rows {
		v := &rows[i]
		if v.ID == except || v.Type != "TXT" || v.Name != r.Name || !IsSPF(v.Content) || v.toRecord().Same(r) {
			continue
		}
		merged := mergeSPF(v.Content, r.Content)
		f := SPFExists.Say("%s has an SPF record already, and must not have two: receivers would obey neither. "+
			"Change that one (PATCH its content) to: %s", r.Name, merged)
		f.Details = map[string]string{"recordId": string(v.ID), "content": merged}
		return f
	}
	return nil
}
