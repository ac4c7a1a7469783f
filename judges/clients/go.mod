module frontdesk/judges/clients

go 1.26.0

require frontdesk.example/go v0.0.0

replace frontdesk.example/go => ../../clients/go
