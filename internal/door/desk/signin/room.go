// Package signin is the room in front of the desk: signing in with a password, a
// second factor or an identity provider, the first set-up of a server, joining an
// organization and a forgotten password. Start reading at signIn (signin.go), then
// second_step.go.
package signin

import (
	"embed"
	"net/http"

	"frontdesk/internal/door/desk"
)

//go:embed pages/*.html
var pages embed.FS

var _ = desk.AddTemplates(pages, "pages/*.html")

// Join adds the room to the desk.
func Join(d *desk.Desk) {
	d.SignInPage = func(v *desk.Visit, k *desk.Kept) error {
		return showSignInFor(v, http.StatusUnauthorized, desk.NewTyped(), k)
	}
	d.AddPages(desk.Anyone, desk.Pages{
		"GET /sign-in": signInPage, "POST /sign-in": signIn,
		"GET /sign-in/second": secondStepPage, "POST /sign-in/second": answerSecondStep,
		"POST /sign-in/passkey":          answerByPasskey,
		"GET /sign-in/provider":          toProvider,
		"GET /sign-in/provider/callback": fromProvider,
		"GET /sign-in/link/{token}":      signInLinkPage, "POST /sign-in/link/{token}": signInByLink,
		"GET /setup/{token}": setupPage, "POST /setup/{token}": setUp,
		"GET /join/{token}": joinPage, "POST /join/{token}": joinOrganization,
		"GET /forgotten":        forgottenPage,
		"GET /password/{token}": resetPage, "POST /password/{token}": resetPassword,
	})
	d.AddPages(desk.SignedIn, desk.Pages{"GET /sign-out": signOutPage, "POST /sign-out": signOut})
}

var _ = desk.AddDoneTexts(map[string]string{
	"reset":   "Your password is changed, and you are signed out everywhere. Sign in with the new one.",
	"welcome": "Welcome. You are signed in.", "expired": "That took too long. Sign in again.",
})
