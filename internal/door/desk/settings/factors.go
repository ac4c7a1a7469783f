package settings

import (
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"

	"rsc.io/qr"
)

func signInCrumbs(more ...desk.Crumb) []desk.Crumb {
	return settingsCrumbs("Sign-in", desk.SignInSettings, more...)
}

func readFactors(v *desk.Visit) (f *account.Factors, err error) {
	return f, v.Do("factors.list", v.Own(nil), &f)
}

type signInSettingsData struct {
	Factors  *account.Factors
	Sessions desk.Sheet[sessionRow]
	Owner    bool
	Required bool // of the organization's owners and admins
	Next     string
	Form     *desk.Typed
	Provider string
}

func signInSettings(v *desk.Visit) error {
	return showSignInSettings(v, http.StatusOK, desk.NewTyped())
}

func showSignInSettings(v *desk.Visit, status int, form *desk.Typed) error {
	f, err := readFactors(v)
	if err != nil {
		return err
	}
	d := signInSettingsData{Factors: f, Owner: v.Session.Role == "owner", Required: v.Session.Required, Form: form,
		Next: v.Next(), Provider: v.ProviderName()}
	if v.MustEnroll() {
		return v.ShowView(status, "enroll", desk.View{Title: "Add a second factor", Bare: true, Data: d})
	}
	if d.Sessions, err = desk.ListSheet[sessionRow](v, "sessions.list", v.Own(nil)); err != nil {
		return err
	}
	return v.ShowView(status, "sign-in-settings",
		desk.View{Title: "Sign-in", Section: "settings", Tab: "sign-in", Crumbs: signInCrumbs(), Data: d})
}

// confirmFirst asks who the visitor is, when an operation wants to know, and
// returns here afterwards.
func confirmFirst(v *desk.Visit, err error) error {
	if !fault.IsKind(err, account.NotConfirmed) {
		return err
	}
	return v.Redirect(desk.SignInSettings + "/confirm?next=" + url.QueryEscape(v.ReturnPath()))
}

type confirmData struct {
	Form    *desk.Typed
	Factors *account.Factors
	Options string
	Problem string
	Next    string
	Email   string

	Provider string // what the identity provider is called; empty without one
}

func confirmPage(v *desk.Visit) error { return showConfirm(v, http.StatusOK, desk.NewTyped(), "") }

func showConfirm(v *desk.Visit, status int, f *desk.Typed, problem string) error {
	has, err := readFactors(v)
	if err != nil {
		return err
	}
	d := confirmData{Form: f, Factors: has, Next: v.Next(), Problem: problem, Email: v.Session.Email,
		Provider: v.ProviderName()}
	if len(has.Passkeys) > 0 && has.Offered {
		var options account.PasskeyOptions
		if err := v.Do("sessions.ask_reconfirm", v.Own(nil), &options); err != nil {
			return err
		}
		d.Options = options.Options
	}
	return v.ShowView(status, "reconfirm", desk.View{Title: "Confirm that it is you", Section: "settings",
		Tab: "sign-in", Crumbs: signInCrumbs(desk.Crumb{Text: "Confirm"}), Bare: v.MustEnroll(), Data: d})
}

func confirmIdentity(v *desk.Visit) error {
	input := desk.Fields{}
	if code := v.Value("code"); code != "" {
		input["code"] = code
	} else {
		input["password"] = v.R.PostFormValue("password")
	}
	return confirmBy(v, "sessions.reconfirm", input)
}

func confirmByPasskey(v *desk.Visit) error {
	return confirmBy(v, "sessions.reconfirm_passkey", desk.Fields{"credential": v.Value("credential")})
}

func confirmBy(v *desk.Visit, operation string, input desk.Fields) error {
	if err := v.Do(operation, v.Origin(v.Own(input)), nil); err != nil {
		v.SetRetryAfter(err)
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		problem := ""
		if input["credential"] != nil {
			problem, f.Error = f.Error, ""
		}
		return showConfirm(v, status, f, problem)
	}
	return v.Redirect(v.Next())
}

type codesData struct {
	Form   *desk.Typed
	Secret string
	QR     template.HTML
	Next   string
}

func codesPage(v *desk.Visit) error { return showCodes(v, http.StatusOK, desk.NewTyped()) }

func showCodes(v *desk.Visit, status int, f *desk.Typed) error {
	var made account.NewCodes
	if err := v.Do("factors.begin_codes", v.Own(nil), &made); err != nil {
		return confirmFirst(v, err)
	}
	picture, err := qrPicture(made.URL, "A picture that your app for one-time codes reads")
	if err != nil {
		return err
	}
	return v.ShowView(status, "codes", desk.View{Title: "Add an app for one-time codes", Section: "settings",
		Tab: "sign-in", Crumbs: signInCrumbs(desk.Crumb{Text: "One-time codes"}), Bare: v.MustEnroll(),
		Data: codesData{f, spaced(made.Secret), picture, v.Next()}})
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

func addCodes(v *desk.Visit) error {
	var made account.RecoveryCodes
	if err := v.Do("factors.add_codes", v.Own(desk.Fields{"code": v.Value("code")}), &made); err != nil {
		if fault.IsKind(err, account.NotConfirmed) {
			return confirmFirst(v, err)
		}
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		return showCodes(v, status, f)
	}
	return showAdded(v, made.Codes)
}

type recoveryData struct {
	Codes []string
	Next  string
}

// showAdded shows the recovery codes that came with the first factor, once.
func showAdded(v *desk.Visit, codes []string) error {
	if len(codes) == 0 {
		return v.Done(desk.SignInSettings, "factor", nil)
	}
	return showRecovery(v, codes)
}

func showRecovery(v *desk.Visit, codes []string) error {
	next := v.Next()
	if next == "/" && !v.MustEnroll() {
		next = desk.SignInSettings
	}
	return v.ShowView(http.StatusOK, "recovery",
		desk.View{Title: "Your recovery codes", Section: "settings", Tab: "sign-in",
			Crumbs: signInCrumbs(desk.Crumb{Text: "Recovery codes"}), Bare: v.MustEnroll(), Data: recoveryData{codes,
				next}})
}

func renewRecoveryPage(v *desk.Visit) error {
	return v.Ask(desk.Question{Title: "Create new recovery codes", Section: "settings", Tab: "sign-in",
		Crumbs: signInCrumbs(desk.Crumb{Text: "Recovery codes"}),
		Lead:   "You get ten new codes. The ones that you have stop working.", Button: "Create new codes",
		Back: desk.SignInSettings})
}

func renewRecovery(v *desk.Visit) error {
	var made account.RecoveryCodes
	if err := v.Do("factors.renew_recovery", v.Own(nil), &made); err != nil {
		return confirmFirst(v, err)
	}
	return showRecovery(v, made.Codes)
}

type passkeyData struct {
	Form    *desk.Typed
	Options string
	Next    string
}

func newPasskeyPage(v *desk.Visit) error {
	return showNewPasskey(v, http.StatusOK, desk.NewTyped("name", "My device"))
}

func showNewPasskey(v *desk.Visit, status int, f *desk.Typed) error {
	var options account.PasskeyOptions
	if err := v.Do("factors.begin_passkey", v.Own(nil), &options); err != nil {
		return confirmFirst(v, err)
	}
	return v.ShowView(status, "passkey-new", desk.View{Title: "Add a passkey", Section: "settings", Tab: "sign-in",
		Crumbs: signInCrumbs(desk.Crumb{Text: "Passkey"}), Bare: v.MustEnroll(),
		Data: passkeyData{f, options.Options, v.Next()}})
}

func addPasskey(v *desk.Visit) error {
	var made account.RecoveryCodes
	err := v.Do("factors.add_passkey", v.Own(desk.Fields{"name": v.Value("name"), "credential": v.Value("credential")}),
		&made)
	if err != nil {
		if fault.IsKind(err, account.NotConfirmed) {
			return confirmFirst(v, err)
		}
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		return showNewPasskey(v, status, f)
	}
	return showAdded(v, made.Codes)
}

// askToRemove asks before a factor is removed, and says what that means.
func askToRemove(v *desk.Visit, title, about string) error {
	f, err := readFactors(v)
	if err != nil {
		return err
	}
	if !f.Confirmed {
		return confirmFirst(v, account.NotConfirmed.New())
	}
	q := desk.Question{Title: title, About: about, Section: "settings", Tab: "sign-in",
		Crumbs: signInCrumbs(desk.Crumb{Text: "Remove"}), Lead: "Signing in still asks for one of your other factors.",
		Button: "Remove", Back: desk.SignInSettings}
	if n := len(f.Passkeys); n == 0 || n == 1 && f.Codes == nil {
		q.Lead = "It is your only second factor. Without it your password alone signs in, and your recovery codes end."
		if f.Required {
			q.Lead = "It is your only second factor, and " + v.Session.OrgName + " requires one. " +
				"You will have to add another one at once."
		}
	}
	return v.Ask(q)
}

func removeCodesPage(v *desk.Visit) error {
	return askToRemove(v, "Remove the app for one-time codes", "")
}

func removeCodes(v *desk.Visit) error {
	if err := v.Do("factors.remove_codes", v.Own(nil), nil); err != nil {
		return confirmFirst(v, err)
	}
	return v.Done(desk.SignInSettings, "removed", nil)
}

func removePasskeyPage(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	f, err := readFactors(v)
	if err != nil {
		return err
	}
	for _, k := range f.Passkeys {
		if k.ID == ref {
			return askToRemove(v, "Remove the passkey", k.Name)
		}
	}
	return fault.NotFound.New()
}

func removePasskey(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	if err := v.Do("factors.remove_passkey", v.Own(desk.Fields{"id": ref}), nil); err != nil {
		return confirmFirst(v, err)
	}
	return v.Done(desk.SignInSettings, "removed", nil)
}

func saveFactorRequirement(v *desk.Visit) error {
	err := v.Do("organizations.require_factor", desk.Fields{"required": v.Value("required") == "yes"}, nil)
	if err != nil {
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		return showSignInSettings(v, status, f)
	}
	return v.Done(desk.SignInSettings, "saved", nil)
}

func endSession(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	if ref == v.Session.ID {
		return v.SignOut()
	}
	if err := v.Do("sessions.end", desk.Fields{"id": ref}, nil); err != nil {
		return err
	}
	return v.Done(desk.SignInSettings, "ended", nil)
}

func endOtherSessions(v *desk.Visit) error {
	if err := v.Do("sessions.end_others", v.Own(nil), nil); err != nil {
		return err
	}
	return v.Done(desk.SignInSettings, "endedall", nil)
}
