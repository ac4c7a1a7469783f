// Package automations is the room of what happens by itself: automations, their
// executions, and webhooks.
package automations

import (
	"embed"

	"frontdesk/internal/door/desk"
)

//go:embed pages/*.html
var pages embed.FS

var _ = desk.AddTemplates(pages, "pages/*.html")

// Join adds the room to the desk.
func Join(d *desk.Desk) {
	d.AddPages(desk.SignedIn, desk.Pages{
		"GET /webhooks":     webhooksPage,
		"GET /webhooks/new": newWebhookPage, "POST /webhooks/new": createWebhook,
		"GET /webhooks/{id}":      webhookPage,
		"GET /webhooks/{id}/edit": editWebhookPage, "POST /webhooks/{id}/edit": editWebhook,
		"GET /webhooks/{id}/rotate": rotateWebhookPage, "POST /webhooks/{id}/rotate": rotateWebhook,
		"POST /webhooks/{id}/test":   testWebhook,
		"POST /webhooks/{id}/enable": enableWebhook,
		"GET /webhooks/{id}/disable": disableWebhookPage, "POST /webhooks/{id}/disable": disableWebhook,
		"GET /webhooks/{id}/delete": deleteWebhookPage, "POST /webhooks/{id}/delete": deleteWebhook,
		"GET /webhooks/{id}/deliveries/{delivery}":            deliveryPage,
		"POST /webhooks/{id}/deliveries/{delivery}/redeliver": redeliver,
		"GET /automations":     automationsPage,
		"GET /automations/new": newAutomationPage, "POST /automations/new": createAutomation,
		"GET /automations/{id}":      automationPage,
		"GET /automations/{id}/edit": editAutomationPage, "POST /automations/{id}/edit": editAutomation,
		"GET /automations/{id}/test":  testAutomationPage,
		"POST /automations/{id}/run":  runAutomation,
		"GET /automations/{id}/pause": pauseAutomationPage, "POST /automations/{id}/pause": pauseAutomation,
		"POST /automations/{id}/activate": activateAutomation,
		"GET /automations/{id}/delete":    deleteAutomationPage, "POST /automations/{id}/delete": deleteAutomation,
		"GET /executions":             executionsPage,
		"GET /executions/{id}":        executionPage,
		"GET /executions/{id}/cancel": cancelExecutionPage, "POST /executions/{id}/cancel": cancelExecution,
		"POST /executions/{id}/retry": retryExecution,
	})
}

var _ = desk.AddDoneTexts(map[string]string{
	"paused":        "Paused. Runs that had not begun are canceled.",
	"resumed":       "Active again.",
	"hook-enabled":  "Enabled. It receives events from now on.",
	"hook-disabled": "Disabled. Waiting deliveries are canceled.",
	"tested":        "The test event was sent. This is what came back.",
	"resent":        "Sent again. This is what came back.", "started": "Started.", "canceled": "Canceled.",
	"retried": "It continues from where it stopped.",
})
