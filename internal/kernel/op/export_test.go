package op

// ExposureOf is exposureOf, for tests.
var ExposureOf = exposureOf
