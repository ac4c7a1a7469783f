package pdftext_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"codeberg.org/go-pdf/fpdf"

	"frontdesk/internal/kernel/cputest"
	"frontdesk/internal/resource/filetext/pdftext"
)

// made is a PDF of two pages, as the library for invoices writes it.
func made(t testing.TB) []byte {
	t.Helper()
	f := fpdf.New("P", "mm", "A4", "")
	f.SetFont("Helvetica", "", 12)
	latin := f.UnicodeTranslatorFromDescriptor("")
	f.AddPage()
	f.Cell(60, 10, latin("Grüße aus Köln (Rhein)"))
	f.Cell(60, 10, "100.00 EUR")
	f.Ln(5)
	f.Cell(60, 10, `a \ b`)
	f.AddPage()
	f.Cell(60, 10, "second page")
	var out bytes.Buffer
	if err := f.Output(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestRead(t *testing.T) {
	got, err := pdftext.Read(made(t))
	if want := "Grüße aus Köln (Rhein) 100.00 EUR\na \\ b\n\nsecond page"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// written is a PDF of one page with this content and these further objects.
func written(content string, objects ...string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%%PDF-1.7\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n"+
		"2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj\n"+
		"3 0 obj <</Type/Page/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>/XObject<</X 6 0 R>>>>>> endobj\n"+
		"4 0 obj <</Length %d>> stream\n%s\nendstream endobj\n", len(content), content)
	for _, o := range objects {
		b.WriteString(o + "\n")
	}
	b.WriteString("trailer <</Root 1 0 R>>\n")
	return []byte(b.String())
}

const plainFont = "5 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj"

func deflated(s string) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write([]byte(s)) //nolint:errcheck // into memory
	z.Close()          //nolint:errcheck // into memory
	return b.String()
}

func TestReadSyntax(t *testing.T) {
	unicodeFont := "5 0 obj <</Type/Font/Subtype/Type0/Encoding/Identity-H/ToUnicode 7 0 R>> endobj\n" +
		"7 0 obj <</Length 1>> stream\n1 begincodespacerange <0000> <FFFF> endcodespacerange " +
		"1 beginbfchar <0001> <0041> endbfchar 2 beginbfrange <0002> <0004> <0062> " +
		"<0010> <0011> [<D83DDE00> <0066006C>] endbfrange\nendstream endobj"
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"distances are spaces": {written(`BT /F1 10 Tf [(Hel) 20 (lo) -400 (world)] TJ ET`, plainFont), "Hello world"},
		"lines":                {written(`BT /F1 10 Tf 12 TL (a) Tj T* (b) Tj (c) ' ET`, plainFont), "a\nb\nc"},
		"escapes":              {written(`BT /F1 10 Tf (\101\(\)\\) Tj <4243> Tj ET`, plainFont), `A()\BC`},
		"characters":           {written(`BT /F1 10 Tf <000100020004001000110099> Tj ET`, unicodeFont), "Abd😀fl"},
		"names of glyphs": {written(`BT /F1 10 Tf (abc) Tj ET`,
			`5 0 obj <</Subtype/Type1/Encoding<</Differences[97/Euro/uni0416/g7]>>>> endobj`), "€Ж"},
		"a form": {written(`q 1 0 0 1 5 5 cm /X Do Q`, plainFont,
			"6 0 obj <</Subtype/Form/Length 26>> stream\nBT /F1 10 Tf (inside) Tj ET\nendstream endobj"), "inside"},
		"a picture between": {written("BT /F1 10 Tf (a) Tj ET BI /W 1 ID \x00(EI( EI BT /F1 10 Tf (b) Tj ET",
			plainFont), "ab"},
		"the last of two objects": {written(`BT /F1 10 Tf (old) Tj ET`, plainFont,
			"4 0 obj <</Length 9999>> stream\nBT /F1 10 Tf (new) Tj ET\nendstream endobj"), "new"},
		"objects in a stream": {written(`BT /F1 10 Tf (x) Tj ET`, fmt.Sprintf(
			"9 0 obj <</Type/ObjStm/N 1/First 4/Filter/FlateDecode/Length 9999>> stream\n%s\nendstream endobj",
			deflated("5 0 <</Subtype/Type1>>"))), "x"},
	} {
		if got, err := pdftext.Read(c.file); got != c.want || err != nil {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}

// Files that cannot be read say why, and cost little however they are made.
func TestHostile(t *testing.T) {
	bomb := strings.Repeat("q ", 30<<20)
	stream := func(num int, extra, data string) string {
		return fmt.Sprintf("%d 0 obj <<%s/Length %d>> stream\n%s\nendstream endobj", num, extra, len(data), data)
	}
	forms := ""
	for n := range 9 { // each form shows the next one a thousand times
		forms += stream(6+n, fmt.Sprintf("/Subtype/Form/Resources<</XObject<</X %d 0 R>>>>", 7+n),
			strings.Repeat("/X Do ", 1000)) + "\n"
	}
	for name, c := range map[string]struct {
		file []byte
		want error
	}{
		"nothing":   {nil, pdftext.ErrDamaged},
		"no PDF":    {[]byte("hello"), pdftext.ErrDamaged},
		"no text":   {written("0 0 m 10 10 l S"), pdftext.ErrNoText},
		"encrypted": {append(written(""), "trailer <</Encrypt 9 0 R>>"...), pdftext.ErrProtected},
		"pages in a ring": {[]byte("1 0 obj <</Pages 1 0 R/Type/Catalog/Kids[1 0 R 1 0 R]>> endobj"),
			pdftext.ErrDamaged},
		"a bomb": {written("/X Do", stream(6, "/Subtype/Form/Filter/FlateDecode", deflated(bomb))),
			pdftext.ErrTooMuch},
		"a bomb in a bomb": {written("/X Do", stream(6, "/Subtype/Form/Filter[/FlateDecode/FlateDecode]",
			deflated(deflated(bomb)))), pdftext.ErrTooMuch},
		"forms in forms":      {written("/X Do", forms), pdftext.ErrTooMuch},
		"a form shows itself": {written("/X Do", stream(6, "/Subtype/Form", "/X Do /X Do")), pdftext.ErrTooMuch},
		"brackets":            {written(strings.Repeat("[", 1<<20)), pdftext.ErrTooMuch},
		"many operands":       {written(strings.Repeat("1 ", 1<<20)), pdftext.ErrTooMuch},
		"many objects": {[]byte(strings.Repeat("1 0 obj[1 1 1 1 1 1 1 1]endobj ", 400_000)),
			pdftext.ErrTooMuch},
		"streams without ends": {[]byte(strings.Repeat("1 0 obj<<>>stream\n", 200_000)), pdftext.ErrDamaged},
		"a reference to itself": {[]byte("trailer <</Root 1 0 R>> 1 0 obj <</Pages 1 0 R/Kids 7 0 R>> endobj"),
			pdftext.ErrNoText},
	} {
		t.Run(name, func(t *testing.T) {
			took := cputest.CPUTimeOf(t, func() {
				if _, err := pdftext.Read(c.file); !errors.Is(err, c.want) {
					t.Errorf("%v, want %v", err, c.want)
				}
			})
			if took.Seconds() > 5 {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// Whatever is changed in a file, reading it ends.
func TestDamaged(t *testing.T) {
	whole := made(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		b := bytes.Clone(whole)
		for range 1 + r.IntN(20) {
			b[r.IntN(len(b))] = byte(r.IntN(256))
		}
		_, _ = pdftext.Read(b[:r.IntN(len(b))])
	}
}
