package clients

func python() language { return language{} }
func golang() language { return language{} }
