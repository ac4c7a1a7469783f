package account

import "frontdesk/internal/kernel/op"

// Operations lists the operations on accounts.
func (a *Accounts) Operations() []*op.Op {
	var all []*op.Op
	for _, part := range [][]*op.Op{
		a.organizationOperations(), a.overviewOperations(), a.userOperations(), a.memberOperations(),
		a.colleagueOperations(), a.passwordLinkOperations(), a.inviteOperations(), a.agreementOperations(),
		a.keyOperations(), a.meOperations(), a.sessionOperations(), a.setupOperations(), a.secondStepOperations(),
		a.factorOperations(), a.passkeyOperations(), a.sessionListOperations(), a.providerOperations(),
		signatureOperations(),
	} {
		all = append(all, part...)
	}
	return all
}
