/** Sends rare cases on purpose: each kind of end of an enrolment, an identity that moves, a repeat. */
import type { Business } from './create-businesses.ts'
import type { Fact, Ledger, Sending } from './ledger.ts'
import { deliver } from './traffic.ts'

export async function sendRare(url: string, business: Business, ledger: Ledger): Promise<void> {
  const { businessId } = business
  const now = Date.now()
  const event = (name: string, identity: Record<string, string>, occurredAt: number): Sending => {
    const mark = crypto.randomUUID()
    const names = Object.entries(identity).map(([kind, value]) => `${kind}:${value}`)
    const body = { event: name, identity, occurredAt, type: 'lead', properties: { mark }, idempotencyKey: mark }
    const money = { cents: 0, currency: undefined, order: false }
    const fact: Fact = { mark, businessId, event: name, identity: names, occurredAt, ...money, key: mark, valid: true }
    return ledger.open({ business, kind: 'track', body, facts: [fact], mark, identity: names, known: 0 })
  }
  const unkeyed = (identity: Record<string, string>): Sending => {
    const mark = crypto.randomUUID()
    const names = Object.entries(identity).map(([kind, value]) => `${kind}:${value}`)
    const body = { businessId, identity, method: mark, traits: { said_without_key: true } }
    const common = { business, body, facts: [], mark, identity: names, known: 0 }
    return ledger.open({ ...common, kind: 'identify', unkeyed: true })
  }
  const repeated = event('lesson_done', { email: 'repeated@rare.example' }, now)
  const sendings = [
    repeated,
    repeated,
    // Two people are enrolled, then merged.
    event('lesson_done', { email: 'merged@rare.example' }, now - 2000),
    event('lesson_done', { platformCustomerId: 'merged' }, now - 1000),
    event('page_read', { email: 'merged@rare.example', platformCustomerId: 'merged' }, now),
    event('lesson_done', { email: 'converted@rare.example' }, now - 1000),
    event('course_bought', { email: 'converted@rare.example' }, now),
    event('lesson_done', { email: 'stopped@rare.example' }, now),
    event('course_bought', { email: 'stopped@rare.example' }, now - 1000),
    // Sent without a key for a person who turns out to be someone else.
    unkeyed({ email: 'moved@rare.example' }),
    event('page_read', { platformCustomerId: 'moved' }, now),
    event('page_read', { platformCustomerId: 'moved', email: 'moved@rare.example' }, now),
    unkeyed({ email: 'unproven@rare.example' }),
  ]
  for (const sending of sendings) await deliver(url, sending)
}
