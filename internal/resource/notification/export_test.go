package notification

// For the tests of this package that start the whole service.
var (
	Hear    = (*Service).hear
	Decrypt = decryptPush
)
