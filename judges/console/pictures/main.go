// Command pictures makes the pictures of the guide from the pages of a server with
// sample data: pictures FRONTDESK FOLDER. Each is a drawing (SVG) that Chromium
// printed, so its text stays sharp at any size.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// shot is a page, and where a click leads on from it.
type shot struct {
	name, path, click string
	width, height     int64
}

var shots = []shot{
	{"desk", "/", "", 1280, 800},
	{"conversation", "/inbox", "main li a", 1280, 800},
	{"invoices", "/invoices", "", 1280, 640},
}

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(frontdesk, folder string) error {
	temp, err := os.MkdirTemp("", "frontdesk-pictures-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	base, stop, err := serve(frontdesk, temp)
	if err != nil {
		return err
	}
	defer stop()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("hide-scrollbars", true))
	if path := os.Getenv("CHROMIUM"); path != "" {
		options = append(options, chromedp.ExecPath(path))
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(base+"/sign-in"),
		chromedp.SendKeys(chromedp.CSS(`[name="email"]`), "ada@example.com"),
		chromedp.SendKeys(chromedp.CSS(`[name="password"]`), "demonstration\r"),
		chromedp.WaitVisible(chromedp.CSS("nav"))); err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	for _, s := range shots {
		if err := s.take(ctx, base, temp, folder); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

func (s shot) take(ctx context.Context, base, temp, folder string) error {
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "screen",
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"},
			{Name: "prefers-reduced-motion", Value: "reduce"}}})
	if err != nil {
		return err
	}
	err = chromedp.Do(ctx, chromedp.EmulateViewport(s.width, s.height), chromedp.Navigate(base+s.path))
	if err != nil {
		return err
	}
	if s.click != "" {
		href, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector("`+s.click+`").href`))
		if err != nil {
			return err
		}
		if err := chromedp.Do(ctx, chromedp.Navigate(href)); err != nil {
			return err
		}
	}
	// The link for keyboards is above the screen, and paper has no such place.
	if err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](
		`document.querySelectorAll(".skip").forEach(e => e.remove())`)); err != nil {
		return err
	}
	const perInch = 96
	out, err := chromedp.Call(ctx, page.PrintToPDF, page.PrintToPDFParams{PrintBackground: new(true),
		PaperWidth: float64(s.width) / perInch, PaperHeight: float64(s.height) / perInch,
		MarginTop: new(0.0), MarginBottom: new(0.0), MarginLeft: new(0.0), MarginRight: new(0.0)})
	if err != nil {
		return err
	}
	pdf := filepath.Join(temp, s.name+".pdf")
	if err := os.WriteFile(pdf, out.Data, 0o600); err != nil {
		return err
	}
	svg := filepath.Join(folder, s.name+".svg")
	draw := exec.CommandContext(ctx, "pdftocairo", "-svg", "-f", "1", "-l", "1", pdf, svg)
	if said, err := draw.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, said)
	}
	text, err := os.ReadFile(svg)
	if err != nil {
		return err
	}
	text = decimals.ReplaceAll(text, []byte("$1"))
	fmt.Printf("%s: %d KB\n", svg, len(text)>>10)
	return os.WriteFile(svg, text, 0o644)
}

// decimals are those of a number that nobody sees.
var decimals = regexp.MustCompile(`(\.\d\d)\d+`)

// serve runs the demo.
func serve(frontdesk, data string) (base string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	address := l.Addr().String()
	l.Close()
	cmd := exec.Command(frontdesk, "serve", "--demo", "--data", data, "--listen", address,
		"--mcp-listen", "127.0.0.1:0", "--smtp-listen", "127.0.0.1:0", "--dns-listen", "127.0.0.1:0")
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	}
	for range 600 {
		if r, err := http.Get("http://" + address + "/readyz"); err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return "http://" + address, stop, nil
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	return "", nil, fmt.Errorf("the demo does not start: %s", said.String())
}
