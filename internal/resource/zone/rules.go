package zone

import "frontdesk/internal/kernel/fault"

// Refusals of DNS record writes.
var (
	Refused = fault.DefineKind("DNS_ERROR", 404, "The DNS provider refused the change.")

	RecordExists   = fault.DefineKind("DNS_RECORD_EXISTS", 409, "The zone already has this record.")
	RecordConflict = fault.DefineKind("DNS_RECORD_CONFLICT", 409,
		"A CNAME record cannot stand beside other records of its name.")
	SPFExists     = fault.DefineKind("DNS_SPF_EXISTS", 409, "The name has an SPF record already.")
	RecordManaged = fault.DefineKind("DNS_RECORD_MANAGED", 409, "This record is managed and cannot be changed here.")
	Missing       = fault.DefineKind("DNS_ZONE_MISSING", 409, "This domain has no zone.")
	Busy          = fault.DefineKind("DNS_ZONE_BUSY", 409,
		"Another change of this zone is under way. Retry in a moment.")
	Full = fault.DefineKind("DNS_ZONE_FULL", 422, "The zone has the maximum number of records.")
)

// MaxRecords bounds a zone, and MaxSetSize the records of one name and type, which a
// name server sends all in one answer.
const (
	MaxRecords = 5000
	MaxSetSize = 200
)

// Same reports whether two records are the same, whatever their TTL.
func (r Record) Same(o Record) bool {
	return r.Type == o.Type && r.Name == o.Name && r.Content == o.Content &&
		(r.Priority == nil) == (o.Priority == nil) && (r.Priority == nil || *r.Priority == *o.Priority)
}

// CheckFits refuses a record that cannot be beside the others of its zone.
func (r Record) CheckFits(others []Record) error {
	if len(others) >= MaxRecords {
		return Full.Say("The zone has %d records, the maximum. Remove some first.", len(others))
	}
	set := 0
	for _, o := range others {
		if o.Name == r.Name && o.Type == r.Type {
			set++
		}
		switch {
		case r.Same(o):
			return RecordExists.Say("The zone already has this %s record, named %s. Change that one with PUT.",
				r.Type, r.Name)
		case r.Name == o.Name && r.Type == "CNAME":
			return RecordConflict.Say("%s has a record of the type %s. A CNAME cannot stand beside other records; "+
				"remove them first, or choose another name.", r.Name, o.Type)
		case r.Name == o.Name && o.Type == "CNAME":
			return RecordConflict.Say("%s is a CNAME, and no other record can stand beside it. "+
				"Remove the CNAME first, or choose another name.", r.Name)
		}
	}
	if set >= MaxSetSize {
		return Full.Say("%s has %d %s records, the maximum of one type. Remove some first.",
			r.Name, set, r.Type)
	}
	return nil
}
