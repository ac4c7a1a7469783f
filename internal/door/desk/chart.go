package desk

import (
	"strconv"
	"strings"

	"frontdesk/internal/kernel/locale"
)

// Chart is bars over time, in one currency, and the table with the same figures. Across
// they are placed in per cent and upwards in pixels, so that a wide chart stretches
// nothing.
type Chart struct {
	Caption string
	Says    string // to those who cannot see it
	Height  int
	Lines   []chartLine
	Bars    []chartBar
	Labels  []chartLabel
	Heads   []string
	Rows    []ChartRow
	Total   string // the head of the last column
}

type chartLine struct {
	Y    int
	Text string
}

type chartBar struct {
	Class, X, Width, Title string
	Y, Height              int
}

type chartLabel struct{ X, Text string }

// ChartRow is a row of the table below a chart.
type ChartRow struct {
	Word, Class string
	Cells       []string
	Total       string
}

// Series is one kind of bar: its word, its look ("pale", "full") and its cents in each
// period.
type Series struct {
	Word, Class string
	Cents       []int64
}

// chartHeight is that of the tallest bar.
const chartHeight = 176

// NewChart draws series over periods with the given heads.
func (v *Visit) NewChart(currency string, heads []string, series ...Series) *Chart {
	c := &Chart{Caption: strings.ToUpper(currency), Heads: heads, Height: chartHeight + 4,
		Total: Count(len(heads), "period", "periods")}
	most := int64(0)
	for _, s := range series {
		for _, cents := range s.Cents {
			most = max(most, cents)
		}
	}
	unit := pow10(locale.CurrencyDigits(currency))
	step := niceStep(most, unit)
	top := max(step, (most+step-1)/step*step)
	for at := int64(0); at <= top; at += step {
		c.Lines = append(c.Lines, chartLine{chartHeight - int(at*chartHeight/top),
			v.Number(strconv.FormatInt(at/unit, 10))})
	}
	slot := 100 / float64(max(1, len(heads)))
	width := min(slot*0.56/float64(len(series)), 6)
	for i, head := range heads {
		middle := slot * (float64(i) + 0.5)
		c.Labels = append(c.Labels, chartLabel{perCent(middle), head[:1]})
		for n, s := range series {
			if s.Cents[i] <= 0 {
				continue
			}
			height := max(1, int(s.Cents[i]*chartHeight/top))
			left := middle + (float64(n)-float64(len(series))/2)*width*1.17
			c.Bars = append(c.Bars, chartBar{Class: s.Class, X: perCent(left), Width: perCent(width),
				Y: chartHeight - height, Height: height, Title: head + ": " + s.Word + " " + v.Money(s.Cents[i],
					currency)})
		}
	}
	for _, s := range series {
		row, sum := ChartRow{Word: s.Word, Class: s.Class}, int64(0)
		for _, cents := range s.Cents {
			row.Cells = append(row.Cells, v.Amount(cents, currency))
			sum += cents
		}
		row.Total = v.Amount(sum, currency)
		c.Rows = append(c.Rows, row)
	}
	return c
}

// niceStep is a round distance between the lines of a chart, of which there are at most
// four.
func niceStep(most, unit int64) int64 {
	for step := unit; ; step *= 10 {
		for _, nice := range []int64{1, 2, 5} {
			if most <= 4*nice*step {
				return nice * step
			}
		}
	}
}

func perCent(share float64) string { return strconv.FormatFloat(share, 'f', 2, 64) + "%" }

// PerCent is a part of a whole, for the width of a bar.
func PerCent(part, whole int64) string {
	if whole <= 0 {
		return "0%"
	}
	return perCent(100 * float64(part) / float64(whole))
}
