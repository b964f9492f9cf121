/** Which refusals suppress an address (campaigns, "Channels"). */
import { describe, expect, it } from 'vitest'
import { isLoginRefusal, refusedState, suppressionOf } from '../../../src/rules/messages/blame.ts'

describe('a refusal', () => {
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
