package settings

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/business"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/template"
)

const setupPath = "/setup"

// setup is what there is of a business while its owner sets it up.
type setup struct {
	v       *desk.Visit
	house   *business.Business
	office  *business.BusinessPhysicalPresence // the first place with an address, or nil
	profile business.BusinessProfile
	usage   account.Usage
	settled []string // the steps that the owner skipped, or whose default they kept
}

// setupData is what the template "setup-steps" shows.
type setupData struct {
	Steps       []shownStep
	Done, Count int
	Skipped     int
	Finished    bool
	Paper       string // the address of the letterhead, for a frame
}

// shownStep is a step as the page shows it.
type shownStep struct {
	*step
	Number             int
	Value              string // what is set
	Done, Skipped, Now bool
	Open               bool
	Form               *desk.Form
	Colors             []desk.Option
	Color              string // the chosen one
	Logo               string // the address of the logo
}

// setupSteps shows an owner what is left to set up, with the letterhead beside it.
func setupSteps(v *desk.Visit) error {
	if !v.Session.Manager() {
		standings, err := desk.ListFirst[account.Standing](v, "agreements.list", nil)
		if err != nil {
			return err
		}
		return v.ShowView(http.StatusOK, "setup-member", desk.View{Title: "Set up", Section: "today",
			Data: len(desk.Unaccepted(standings)) > 0})
	}
	return showSetup(v, http.StatusOK, "", "", nil)
}

// showSetup shows the page. failed is the step that was refused, with what is wrong.
func showSetup(v *desk.Visit, status int, failed, whole string, wrong map[string]string) error {
	s, err := readSetup(v)
	if err != nil {
		return err
	}
	d := &setupData{Count: len(steps), Paper: setupPath + "/paper"}
	view := desk.View{Title: "Set up", Section: "today", Own: true, Data: d, Sub: "your first hour",
		Buttons: []desk.Button{{Text: "Later", Href: "/"}}}
	for i := range steps {
		shown, err := s.show(&steps[i])
		if err != nil {
			return err
		}
		shown.Number = i + 1
		switch {
		case shown.Done:
			d.Done++
		case shown.Skipped:
			d.Skipped++
		case view.Main == nil:
			shown.Now = true
			view.Main = &desk.Button{Text: "Go on with " + shown.Short, Href: "#s-" + shown.Key}
		}
		shown.Open = shown.Now
		if shown.Key == failed {
			shown.Open = true
			shown.Form.Fill(v.R.PostForm, whole, wrong)
		}
		d.Steps = append(d.Steps, shown)
	}
	if d.Finished = view.Main == nil; d.Finished {
		view.Main, view.Buttons = &desk.Button{Text: "Open Today", Href: "/"}, nil
	}
	return v.Show(status, "setup-steps", view)
}

// SetupLeft reports whether something is left to set up that was not skipped.
func SetupLeft(v *desk.Visit) (bool, error) {
	if !v.Session.Manager() || v.CurrentBusiness().ID == "" {
		return false, nil
	}
	s, err := readSetup(v)
	if err != nil {
		return false, err
	}
	for i := range steps {
		if slices.Contains(s.settled, steps[i].Key) {
			continue
		}
		if value, err := steps[i].look(s); err != nil || value == "" {
			return err == nil, err
		}
	}
	return false, nil
}

// settledChoice names what a browser keeps of the steps of a business.
func (s *setup) settledChoice() string { return "desk_setup_" + string(s.house.ID) }

func readSetup(v *desk.Visit) (*setup, error) {
	s := &setup{v: v, house: v.CurrentBusiness()}
	if s.house.ID == "" {
		return nil, fault.NotFound.Say("There is no business to set up.")
	}
	s.settled = strings.Fields(v.Choice(s.settledChoice()))
	places, err := desk.ListFirst[business.BusinessPhysicalPresence](v, "businesses.physical_presences.list",
		desk.Fields{"id": s.house.ID, "sortOrder": "asc"})
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(places, hasAddress); i >= 0 {
		s.office = &places[i]
	}
	if err := v.Do("businesses.profile.get", desk.Fields{"id": s.house.ID}, &s.profile); err != nil {
		return nil, err
	}
	return s, v.Do("organizations.usage", desk.Fields{}, &s.usage)
}

func hasAddress(p business.BusinessPhysicalPresence) bool { return p.Address != nil }

// show is a step with what there is.
func (s *setup) show(of *step) (shownStep, error) {
	value, err := of.look(s)
	out := shownStep{step: of, Value: value}
	settled := slices.Contains(s.settled, of.Key)
	out.Done = value != "" || settled && of.Default != nil
	out.Skipped = settled && !out.Done
	switch {
	case out.Value != "":
	case of.Default != nil:
		out.Value = of.Default(s)
	case out.Skipped:
		out.Value = "Skipped"
	default:
		out.Value = of.Text
	}
	out.Form = &desk.Form{To: setupPath, Button: "Save and go on"}
	for _, part := range of.Parts {
		for _, f := range part.Fields {
			in := s.v.Describe(part.Operation, f, s.values()[f.Field])
			in.Options, in.List, in.Unmarked = of.options(in.Value), of.Offers, true
			out.Form.Fields = append(out.Form.Fields, in)
		}
	}
	if of.Key == "logo" {
		out.Colors, out.Color = s.colors()
		if s.house.LogoFileID != nil {
			out.Logo = "/files/" + string(*s.house.LogoFileID) + "/content"
		}
	}
	return out, err
}

// values are what the fields of the steps hold.
func (s *setup) values() map[string]string {
	b, out := s.house, map[string]string{}
	fields := map[string]*string{"name": &b.Name, "timezone": &b.Timezone, "currency": &b.Currency, "iban": b.IBAN,
		"bic": b.BIC, "bankName": b.BankName, "paymentInstructions": b.PaymentInstructions,
		"email": s.profile.Email, "phone": s.profile.Phone}
	if s.office != nil {
		fields["address"] = s.office.Address
	}
	for name, text := range fields {
		if text != nil {
			out[name] = *text
		}
	}
	return out
}

// colors are those to choose from, and the one of the business.
func (s *setup) colors() (all []desk.Option, chosen string) {
	all = slices.Clone(paperColors)
	if s.house.AccentColor == nil {
		return all, ""
	}
	chosen = strings.ToLower(*s.house.AccentColor)
	if !slices.ContainsFunc(all, func(o desk.Option) bool { return o.Value == chosen }) {
		all = append(all, desk.Option{Value: chosen, Text: "Yours"})
	}
	return all, chosen
}

// saveStep saves or skips one step, and goes on with the next.
func saveStep(v *desk.Visit) error {
	files, err := v.ReadUploads()
	if err != nil {
		return v.Explain(err, "today", setupPath)
	}
	s, err := readSetup(v)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(steps, func(x step) bool { return x.Key == v.Value("step") })
	if i < 0 {
		return fault.NotFound.Say("There is no such step.")
	}
	of := &steps[i]
	if v.Value("skip") != "" {
		s.settle(of.Key)
		return v.Redirect(setupPath)
	}
	whole, wrong, status, err := s.save(of, files)
	if err != nil {
		return err
	}
	if whole != "" || len(wrong) > 0 {
		return showSetup(v, status, of.Key, whole, wrong)
	}
	if of.Default != nil {
		s.settle(of.Key) // a default that was saved is an answer too
	}
	return v.Done(setupPath, "saved", nil)
}

func (s *setup) settle(key string) {
	if !slices.Contains(s.settled, key) {
		s.settled = append(s.settled, key)
	}
	s.v.KeepChoice(s.settledChoice(), strings.Join(s.settled, " "))
}

// save runs the operations of a step, or says what is wrong with what was typed.
func (s *setup) save(of *step, files []id.ID) (whole string, wrong map[string]string, status int, err error) {
	if of.Key == "logo" {
		return s.saveLogo(files)
	}
	for _, part := range of.Parts {
		in, issues := s.v.Read(part.Operation, part.Fields, s.v.R.PostForm)
		if len(issues) > 0 {
			return "", issues, http.StatusBadRequest, nil
		}
		in["id"] = s.house.ID
		operation := part.Operation
		if operation == addPlace {
			if operation = s.placeOperation(in); operation == "" {
				continue
			}
		}
		if err := s.v.Do(operation, in, nil); err != nil {
			return desk.Refused(err)
		}
	}
	return "", nil, 0, nil
}

const addPlace = "businesses.physical_presences.create"

// placeOperation is what saves the address: the head office is changed, or made if there is none. Without both there
// is nothing to do.
func (s *setup) placeOperation(in desk.Fields) string {
	switch {
	case s.office != nil:
		in["physicalPresenceId"] = s.office.ID
		return "businesses.physical_presences.update"
	case in["address"] == nil:
		return ""
	}
	in["name"] = "Head office"
	return addPlace
}

// saveLogo keeps the picture that was dropped or chosen, or the color. What is no logo does not stay among the files.
func (s *setup) saveLogo(files []id.ID) (whole string, wrong map[string]string, status int, err error) {
	in := desk.Fields{"id": s.house.ID}
	switch color := s.v.Value("accentColor"); color {
	case "":
	case "other":
		in["accentColor"] = s.v.Value("other")
	default:
		in["accentColor"] = color
	}
	if len(files) > 0 {
		var f file.File
		if err := s.v.Do("files.get", desk.Fields{"id": files[0]}, &f); err != nil {
			return "", nil, 0, err
		}
		if !slices.Contains(logoTypes, f.ContentType) || f.SizeBytes > template.LogoBytes {
			return "This picture cannot be used. Choose a PNG or JPEG of at most 256 KB.", nil, http.StatusBadRequest,
				s.v.Do("files.delete", desk.Fields{"id": f.ID}, nil)
		}
		in["logoFileId"] = f.ID
	}
	if err := s.v.Do("businesses.update", in, nil); err != nil {
		return desk.Refused(err)
	}
	return "", nil, 0, nil
}

// logoTypes are the pictures that both invoices and mail can carry.
var logoTypes = []string{"image/png", "image/jpeg"}

// paperData is the sample invoice that shows the letterhead.
type paperData struct {
	*business.Letterhead
	Color, Day, Due    string
	Price, Sum, LogoID string
}

// setupPaper shows the letterhead as it will look, with what is being typed in the address of the page.
func setupPaper(v *desk.Visit) error {
	s, err := readSetup(v)
	if err != nil {
		return err
	}
	q := v.R.URL.Query()
	b, profile, office := *s.house, s.profile, (*string)(nil)
	if s.office != nil {
		office = s.office.Address
	}
	for name, field := range map[string]**string{"address": &office, "email": &profile.Email, "phone": &profile.Phone,
		"iban": &b.IBAN, "bic": &b.BIC, "bankName": &b.BankName, "paymentInstructions": &b.PaymentInstructions,
		"accentColor": &b.AccentColor} {
		fillTyped(q, name, field)
	}
	if name := strings.TrimSpace(q.Get("name")); name != "" {
		b.Name = name
	}
	b.NormalizeBankDetails()
	now := v.Now().Std().In(v.Zone())
	d := paperData{Letterhead: business.NewLetterhead(&b, office, &profile), Color: "#13201d", LogoID: template.LogoID,
		Day: v.Day(now), Due: v.Day(now.AddDate(0, 0, 14)),
		Price: v.Money(6200, b.Currency), Sum: v.Money(12400, b.Currency)}
	if d.Accent != nil {
		d.Color = d.Accent.String()
	}
	html, err := desk.PartText("setup-paper", d)
	if err != nil {
		return err
	}
	if d.LogoFileID != nil {
		if err := v.EmbedPicture(&html, template.LogoID, *d.LogoFileID); err != nil {
			return err
		}
	}
	return v.Paper(http.StatusOK, &html, nil)
}

// fillTyped replaces a field by what is being typed, if it is.
func fillTyped(q url.Values, name string, field **string) {
	if !q.Has(name) {
		return
	}
	if *field = nil; strings.TrimSpace(q.Get(name)) != "" {
		text := strings.TrimSpace(q.Get(name))
		*field = &text
	}
}
