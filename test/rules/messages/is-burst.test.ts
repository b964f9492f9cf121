import { expect, it } from 'vitest'
import { BURST_MS, isBurst } from '../../../src/rules/messages/is-burst.ts'
import { messageEventKey } from '../../../src/rules/messages/message-event.ts'

it('several links within a second are of a program, and so is the opening beside them', () => {
  const visits = [
    { link: 'a', at: 5000 },
    { link: 'a', at: 5001 },
    { link: 'b', at: 5000 + BURST_MS },
    { link: 'c', at: 9000 },
  ]
  expect(isBurst({ link: 'a', at: 5000 }, visits)).toBe(true)
  expect(isBurst({ link: 'b', at: 5000 + BURST_MS }, visits)).toBe(true)
  expect(isBurst({ link: null, at: 5500 }, visits)).toBe(true)
  // Visits that are too far apart, two visits of the same link, and single visits.
  expect(isBurst({ link: 'a', at: 4999 }, visits)).toBe(false)
  expect(isBurst({ link: 'a', at: 5000 }, visits.slice(0, 2))).toBe(false)
  expect(isBurst({ link: null, at: 4999 }, visits)).toBe(false)
  expect(isBurst({ link: 'c', at: 9000 }, visits)).toBe(false)
  expect(isBurst({ link: 'c', at: 9000 }, [])).toBe(false)
})

it('an event of a message and link counts once in 24 hours', () => {
  const DAY = 86_400_000
  const keyAt = (occurredAt: number, event: 'email_opened' | 'email_clicked' = 'email_clicked', link = 'a') =>
    messageEventKey({ event, messageId: 'm', occurredAt }, { link, sentAt: 1000 })
  expect(keyAt(1000)).toBe(keyAt(1000 + DAY - 1))
  // The clock of a front door may be behind that of the sender.
  expect(keyAt(999)).toBe(keyAt(1000))
  const others = [keyAt(1000), keyAt(1000 + DAY), keyAt(1000, 'email_opened', ''), keyAt(1000, 'email_clicked', 'b')]
  expect(new Set(others).size).toBe(4)
})
