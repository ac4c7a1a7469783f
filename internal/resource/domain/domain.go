// Package domain holds the names that an organization is reached by.
package domain
