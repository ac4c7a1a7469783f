module frontdesk.example/go

go 1.24.0
