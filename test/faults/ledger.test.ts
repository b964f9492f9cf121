/** Tests the meaning of a 202 when Redis has lost everything. */
import { expect, it } from 'vitest'
import { Ledger, type Outcome } from './ledger.ts'

const business = { businessId: 'b' } as Parameters<Ledger['open']>[0]['business']

/** Returns a ledger with one request per attempt, sent at this time and with this outcome. */
function ledgerOf(...attempts: [sentAt: number, outcome: Outcome][]): Ledger {
  const ledger = new Ledger()
  const nothing = { business, kind: 'track' as const, body: {}, facts: [], mark: '', identity: [], known: 0 }
  for (const [sentAt, outcome] of attempts)
    ledger.open(nothing).attempts.push({ sentAt, endedAt: sentAt + 5000, outcome, answer: '', data: {} })
  return ledger
}

const outcomesOf = (ledger: Ledger) => ledger.attempts().map(({ outcome }) => outcome)

it('a 202 is a promise where Redis lost nothing', () => {
  const ledger = ledgerOf([1, 'queued'], [2, 'answered'])
  ledger.doubtQueued()
  expect(outcomesOf(ledger)).toEqual(['queued', 'answered'])
})

it('a 202 before the loss is in doubt, and one sent afterwards is a promise', () => {
  const ledger = ledgerOf([99, 'queued'], [100, 'queued'], [100, 'answered'], [101, 'queued'])
  ledger.forgottenAt = 100
  ledger.doubtQueued()
  expect(outcomesOf(ledger)).toEqual(['unknown', 'unknown', 'answered', 'queued'])
})
