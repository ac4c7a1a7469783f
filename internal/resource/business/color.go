package business

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Color is red, green and blue.
type Color [3]uint8

func (c Color) String() string { return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2]) }

// accentColorOf is the color of a business, made dark enough to be read on white, or nil where it
// has none.
func accentColorOf(b *Business) *Color {
	if b.AccentColor == nil {
		return nil
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(*b.AccentColor, "#"), 16, 32)
	if err != nil {
		return nil
	}
	c := Color{uint8(n >> 16), uint8(n >> 8), uint8(n)}
	for c.contrastToWhite() < 4.5 { // WCAG 2.2, 1.4.3
		for i := range c {
			c[i] = uint8(float64(c[i]) * 0.95)
		}
	}
	return &c
}

// contrastToWhite is the contrast ratio as WCAG 2.2 defines it, 1 to 21.
func (c Color) contrastToWhite() float64 {
	linear := func(v uint8) float64 {
		if s := float64(v) / 255; s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((float64(v)/255+0.055)/1.055, 2.4)
	}
	return 1.05 / (0.2126*linear(c[0]) + 0.7152*linear(c[1]) + 0.0722*linear(c[2]) + 0.05)
}
