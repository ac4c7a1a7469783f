package console

import (
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/fault"

	"rsc.io/qr"
)

const signInPath = "/settings/sign-in"

// signInRoutes are the pages of a person's own account, open to those who have yet
// to add a second factor.
var signInRoutes = []any{
	"GET /settings/sign-in", (*visit).signInSettings,
	"GET /settings/sign-in/confirm", (*visit).confirmPage, "POST /settings/sign-in/confirm", (*visit).confirm,
	"POST /settings/sign-in/confirm/passkey", (*visit).confirmByPasskey,
	"GET /settings/sign-in/codes", (*visit).codesPage, "POST /settings/sign-in/codes", (*visit).addCodes,
	"GET /settings/sign-in/codes/remove", (*visit).removeCodesPage,
	"POST /settings/sign-in/codes/remove", (*visit).removeCodes,
	"GET /settings/sign-in/passkeys/new", (*visit).newPasskeyPage,
	"POST /settings/sign-in/passkeys/new", (*visit).addPasskey,
	"GET /settings/sign-in/passkeys/{id}/remove", (*visit).removePasskeyPage,
	"POST /settings/sign-in/passkeys/{id}/remove", (*visit).removePasskey,
	"GET /settings/sign-in/recovery", (*visit).renewRecoveryPage,
	"POST /settings/sign-in/recovery", (*visit).renewRecovery,
	"POST /settings/sign-in/required", (*visit).requireFactor,
	"POST /settings/sign-in/sessions/{id}/end", (*visit).endSession,
	"POST /settings/sign-in/sessions/end-others", (*visit).endOtherSessions,
}

func signInCrumbs(more ...crumb) []crumb { return settingsCrumbs("Sign-in", signInPath, more...) }

// own is the input of an operation on the visitor's own account.
func (v *visit) own(input fields) fields {
	if input == nil {
		input = fields{}
	}
	input["token"] = v.token
	return input
}

func (v *visit) factors() (f *account.Factors, err error) {
	return f, v.do("factors.list", v.own(nil), &f)
}

// mustEnroll reports whether the visitor has to add a second factor before they see
// anything of the organization.
func (v *visit) mustEnroll() bool { return v.session != nil && v.session.MustEnroll() }

// mayVisitBeforeEnrolling reports whether a page is open to such a visitor.
func mayVisitBeforeEnrolling(path string) bool {
	return path == signInPath || strings.HasPrefix(path, signInPath+"/") || path == "/sign-out" ||
		path == "/settings/organizations"
}

type signInSettingsData struct {
	Factors  *account.Factors
	Sessions sheet[account.OpenSession]
	Owner    bool
	Required bool // of the organization's owners and admins
	Next     string
	Form     *form
	Provider string
}

func (v *visit) signInSettings() error { return v.showSignInSettings(http.StatusOK, blank()) }

func (v *visit) showSignInSettings(status int, form *form) error {
	f, err := v.factors()
	if err != nil {
		return err
	}
	d := signInSettingsData{Factors: f, Owner: v.session.Role == "owner", Required: v.session.Required, Form: form,
		Next: v.next(), Provider: v.providerName()}
	if v.mustEnroll() {
		return v.show(status, "enroll", view{Title: "Add a second factor", Bare: true, Data: d})
	}
	if d.Sessions, err = listPage[account.OpenSession](v, "sessions.list", v.own(nil)); err != nil {
		return err
	}
	return v.show(status, "sign-in-settings",
		view{Title: "Sign-in", Section: "settings", Tab: "sign-in", Crumbs: signInCrumbs(), Data: d})
}

// confirmFirst asks who the visitor is, when an operation wants to know, and
// returns here afterwards.
func (v *visit) confirmFirst(err error) error {
	if !fault.IsKind(err, account.NotConfirmed) {
		return err
	}
	v.redirect(signInPath + "/confirm?next=" + url.QueryEscape(v.returnPath()))
	return nil
}

type confirmData struct {
	Form    *form
	Factors *account.Factors
	Options string
	Problem string
	Next    string
	Email   string

	Provider string // what the identity provider is called; empty without one
}

func (v *visit) confirmPage() error { return v.showConfirm(http.StatusOK, blank(), "") }

func (v *visit) showConfirm(status int, f *form, problem string) error {
	has, err := v.factors()
	if err != nil {
		return err
	}
	d := confirmData{Form: f, Factors: has, Next: v.next(), Problem: problem, Email: v.session.Email,
		Provider: v.providerName()}
	if len(has.Passkeys) > 0 && has.Offered {
		var options account.PasskeyOptions
		if err := v.do("sessions.ask_reconfirm", v.own(nil), &options); err != nil {
			return err
		}
		d.Options = options.Options
	}
	return v.show(status, "reconfirm", view{Title: "Confirm that it is you", Section: "settings", Tab: "sign-in",
		Crumbs: signInCrumbs(crumb{"Confirm", ""}), Bare: v.mustEnroll(), Data: d})
}

func (v *visit) confirm() error {
	input := fields{}
	if code := v.value("code"); code != "" {
		input["code"] = code
	} else {
		input["password"] = v.r.PostFormValue("password")
	}
	return v.reconfirm("sessions.reconfirm", input)
}

func (v *visit) confirmByPasskey() error {
	return v.reconfirm("sessions.reconfirm_passkey", fields{"credential": v.value("credential")})
}

func (v *visit) reconfirm(operation string, input fields) error {
	if err := v.do(operation, v.origin(v.own(input)), nil); err != nil {
		v.setRetryAfter(err)
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		problem := ""
		if input["credential"] != nil {
			problem, f.Error = f.Error, ""
		}
		return v.showConfirm(status, f, problem)
	}
	v.redirect(v.next())
	return nil
}

type codesData struct {
	Form   *form
	Secret string
	QR     template.HTML
	Next   string
}

func (v *visit) codesPage() error { return v.showCodes(http.StatusOK, blank()) }

func (v *visit) showCodes(status int, f *form) error {
	var made account.NewCodes
	if err := v.do("factors.begin_codes", v.own(nil), &made); err != nil {
		return v.confirmFirst(err)
	}
	picture, err := qrPicture(made.URL, "A picture that your app for one-time codes reads")
	if err != nil {
		return err
	}
	return v.show(status, "codes", view{Title: "Add an app for one-time codes", Section: "settings", Tab: "sign-in",
		Crumbs: signInCrumbs(crumb{"One-time codes", ""}), Bare: v.mustEnroll(),
		Data: codesData{f, spaced(made.Secret), picture, v.next()}})
}

// spaced writes a secret in groups of four, as people type it.
func spaced(text string) string {
	var b strings.Builder
	for i, r := range text {
		if i > 0 && i%4 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// qrPicture draws a text as a QR code, in the page itself.
func qrPicture(text, says string) (template.HTML, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return "", err
	}
	const quiet = 4 // blank squares around it
	var path strings.Builder
	for y := range code.Size {
		for x := range code.Size {
			if code.Black(x, y) {
				path.WriteString("M" + strconv.Itoa(x+quiet) + " " + strconv.Itoa(y+quiet) + "h1v1h-1z")
			}
		}
	}
	size := strconv.Itoa(code.Size + 2*quiet)
	svg := `<svg class="qr" viewBox="0 0 ` + size + ` ` + size + `" role="img" aria-label="` +
		template.HTMLEscapeString(says) + `"><rect width="` + size + `" height="` + size +
		`" fill="#fff"/><path d="` + path.String() + `" fill="#000"/></svg>`
	return template.HTML(svg), nil //nolint:gosec // it is escaped
}

func (v *visit) addCodes() error {
	var made account.RecoveryCodes
	if err := v.do("factors.add_codes", v.own(fields{"code": v.value("code")}), &made); err != nil {
		if fault.IsKind(err, account.NotConfirmed) {
			return v.confirmFirst(err)
		}
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		return v.showCodes(status, f)
	}
	return v.added(made.Codes)
}

type recoveryData struct {
	Codes []string
	Next  string
}

// added shows the recovery codes that came with the first factor, once.
func (v *visit) added(codes []string) error {
	if len(codes) == 0 {
		return v.done(signInPath, "factor")
	}
	return v.showRecovery(codes)
}

func (v *visit) showRecovery(codes []string) error {
	next := v.next()
	if next == "/" && !v.mustEnroll() {
		next = signInPath
	}
	return v.show(http.StatusOK, "recovery", view{Title: "Your recovery codes", Section: "settings", Tab: "sign-in",
		Crumbs: signInCrumbs(crumb{"Recovery codes", ""}), Bare: v.mustEnroll(), Data: recoveryData{codes, next}})
}

func (v *visit) renewRecoveryPage() error {
	return v.ask(question{Title: "Create new recovery codes", Section: "settings", Tab: "sign-in",
		Crumbs: signInCrumbs(crumb{"Recovery codes", ""}),
		Lead:   "You get ten new codes. The ones that you have stop working.", Button: "Create new codes",
		Back: signInPath})
}

func (v *visit) renewRecovery() error {
	var made account.RecoveryCodes
	if err := v.do("factors.renew_recovery", v.own(nil), &made); err != nil {
		return v.confirmFirst(err)
	}
	return v.showRecovery(made.Codes)
}

type passkeyData struct {
	Form    *form
	Options string
	Next    string
}

func (v *visit) newPasskeyPage() error {
	return v.showNewPasskey(http.StatusOK, blank("name", "My device"))
}

func (v *visit) showNewPasskey(status int, f *form) error {
	var options account.PasskeyOptions
	if err := v.do("factors.begin_passkey", v.own(nil), &options); err != nil {
		return v.confirmFirst(err)
	}
	return v.show(status, "passkey-new", view{Title: "Add a passkey", Section: "settings", Tab: "sign-in",
		Crumbs: signInCrumbs(crumb{"Passkey", ""}), Bare: v.mustEnroll(),
		Data: passkeyData{f, options.Options, v.next()}})
}

func (v *visit) addPasskey() error {
	var made account.RecoveryCodes
	err := v.do("factors.add_passkey", v.own(fields{"name": v.value("name"), "credential": v.value("credential")}),
		&made)
	if err != nil {
		if fault.IsKind(err, account.NotConfirmed) {
			return v.confirmFirst(err)
		}
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		return v.showNewPasskey(status, f)
	}
	return v.added(made.Codes)
}

// askToRemove asks before a factor is removed, and says what that means.
func (v *visit) askToRemove(title, about string) error {
	f, err := v.factors()
	if err != nil {
		return err
	}
	if !f.Confirmed {
		return v.confirmFirst(account.NotConfirmed.New())
	}
	q := question{Title: title, About: about, Section: "settings", Tab: "sign-in",
		Crumbs: signInCrumbs(crumb{"Remove", ""}), Lead: "Signing in still asks for one of your other factors.",
		Button: "Remove", Back: signInPath}
	if n := len(f.Passkeys); n == 0 || n == 1 && f.Codes == nil {
		q.Lead = "It is your only second factor. Without it your password alone signs in, and your recovery codes end."
		if f.Required {
			q.Lead = "It is your only second factor, and " + v.session.OrgName + " requires one. " +
				"You will have to add another one at once."
		}
	}
	return v.ask(q)
}

func (v *visit) removeCodesPage() error {
	return v.askToRemove("Remove the app for one-time codes", "")
}

func (v *visit) removeCodes() error {
	if err := v.do("factors.remove_codes", v.own(nil), nil); err != nil {
		return v.confirmFirst(err)
	}
	return v.done(signInPath, "removed")
}

func (v *visit) removePasskeyPage() error {
	ref, err := v.pathID("id")
	if err != nil {
		return err
	}
	f, err := v.factors()
	if err != nil {
		return err
	}
	for _, k := range f.Passkeys {
		if k.ID == ref {
			return v.askToRemove("Remove the passkey", k.Name)
		}
	}
	return v.notFound()
}

func (v *visit) removePasskey() error {
	ref, err := v.pathID("id")
	if err != nil {
		return err
	}
	if err := v.do("factors.remove_passkey", v.own(fields{"id": ref}), nil); err != nil {
		return v.confirmFirst(err)
	}
	return v.done(signInPath, "removed")
}

func (v *visit) requireFactor() error {
	err := v.do("organizations.require_factor", fields{"required": v.value("required") == "yes"}, nil)
	if err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		return v.showSignInSettings(status, f)
	}
	return v.done(signInPath, "saved")
}

func (v *visit) endSession() error {
	ref, err := v.pathID("id")
	if err != nil {
		return err
	}
	if ref == v.session.ID {
		return v.signOut()
	}
	if err := v.do("sessions.end", fields{"id": ref}, nil); err != nil {
		return err
	}
	return v.done(signInPath, "ended")
}

func (v *visit) endOtherSessions() error {
	if err := v.do("sessions.end_others", v.own(nil), nil); err != nil {
		return err
	}
	return v.done(signInPath, "endedall")
}
