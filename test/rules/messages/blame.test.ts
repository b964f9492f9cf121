/** Which refusals suppress an address (campaigns, "Channels"). */
import { describe, expect, it } from 'vitest'
import {
  isHardReply,
  isHardStatus,
  isLoginRefusal,
  refusedState,
  suppressionOf,
} from '../../../src/rules/messages/blame.ts'

const HARD = ['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1']
const OTHER = [
  '5.0.0',
  '5.1.0',
  '5.1.4',
  '5.1.5',
  '5.1.7',
  '5.1.8',
  '5.1.9',
  '5.1.11',
  '5.1.100',
  '5.2.0',
  '5.2.2',
  '5.3.4',
].concat(['5.4.4', '5.5.1', '5.6.0', '5.7.0', '5.7.1', '5.7.26', '4.1.1', '2.1.5'])

describe('a refusal', () => {
  it.each(HARD)('with %s suppresses, at whatever command', (status) => {
    expect(isHardStatus(status)).toBe(true)
    for (const isAtRecipient of [true, false])
      for (const reply of [`550 ${status} no such user`, `554 ${status}`, `550-${status} no\r\n550 ${status} no`])
        expect([reply, isHardReply({ reply, isAtRecipient })]).toEqual([reply, true])
  })

  it.each(OTHER)('with %s does not', (status) => {
    expect(isHardStatus(status)).toBe(false)
    for (const reply of [`550 ${status} no`, `551 ${status}`, `553-${status} no`])
      expect([reply, isHardReply({ reply, isAtRecipient: true })]).toEqual([reply, false])
  })

  it.each(['550', '551', '553'])('with %s and no enhanced code suppresses at RCPT alone', (code) => {
    for (const reply of [
      code,
      `${code} no such user`,
      `${code}-no\n${code} such user`,
      `${code} 5.1.1x`,
      `${code} 192.0.2.1 says no`,
    ]) {
      expect([reply, isHardReply({ reply, isAtRecipient: true })]).toEqual([reply, true])
      expect([reply, isHardReply({ reply, isAtRecipient: false })]).toEqual([reply, false])
    }
  })

  it.each(['500', '501', '502', '503', '504', '521', '530', '535', '541', '552', '554', '555', '556', '5500', 'x', ''])(
    'with %j and no enhanced code does not',
    (reply) => {
      expect(isHardReply({ reply, isAtRecipient: true })).toBe(false)
    },
  )

  it('suppresses for one of the reasons, or not', () => {
    const blames = ['hard_bounce', 'complaint', 'stop', 'recipient', 'sender', undefined] as const
    expect(blames.map(suppressionOf)).toEqual(['hard_bounce', 'complaint', 'stop', null, null, null])
  })

  it('has bounced for an address that does not exist, and has failed otherwise', () => {
    const blames = ['hard_bounce', 'complaint', 'stop', 'recipient', 'sender', undefined] as const
    expect(blames.map(refusedState)).toEqual(['bounced', 'failed', 'failed', 'failed', 'failed', 'failed'])
  })
})

it.each([
  ['535 5.7.8 Error: authentication failed', true],
  ['535-5.7.8 Username and Password not accepted', true],
  ['534 5.7.9 Application-specific password required', true],
  ['454 4.7.0 Temporary authentication failure', false],
  ['530 5.7.0 Must issue a STARTTLS command first', false],
  ['5350', false],
  ['', false],
])('the reply %j is a refusal of the user or the password: %s', (reply, is) => {
  expect(isLoginRefusal(reply)).toBe(is)
})
