module frontdesk/judges/clients

go 1.26.0

require (
	frontdesk.example/go v0.0.0
	github.com/chromedp/chromedp v0.21.0
)

require (
	github.com/chromedp/cdproto v0.157.8 // indirect
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
)

replace frontdesk.example/go => ../../clients/go
