/**
 * Who is to blame, by replies as mail servers send them (campaigns, "Channels"). Addresses and hosts in them are
 * invented.
 */
import { describe, expect, it } from 'vitest'
import { blameOfReply } from '../../../src/rules/messages/refused-reply.ts'

const atRecipient = (reply: string) => blameOfReply({ reply, isAtRecipient: true })
const later = (reply: string) => blameOfReply({ reply, isAtRecipient: false })

const HARD = ['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1']

describe('the reply', () => {
  it.each(HARD)('with %s is a hard bounce, at whatever command and with whatever words', (status) => {
    for (const reply of [`550 ${status} no such user`, `554 ${status}`, `550-${status} no\r\n550 ${status} spam`])
      expect([reply, atRecipient(reply), later(reply)]).toEqual([reply, 'hard_bounce', 'hard_bounce'])
  })

  it.each(['550', '551', '553'])('%s without an enhanced code is a hard bounce at RCPT alone', (code) => {
    for (const reply of [
      code,
      `${code} go away`,
      `${code}-go\n${code} away`,
      `${code} 5.1.1x`,
      `${code} 192.0.2.1 says no`,
    ])
      expect([reply, atRecipient(reply), later(reply)]).toEqual([reply, 'hard_bounce', undefined])
  })

  it.each([
    // Microsoft 365, Outlook.com, and others.
    '550 5.4.1 Recipient address rejected: Access denied. [AM0EUR02FT012.eop-EUR02.prod.protection.outlook.com]',
    '550 5.4.1 [gone@shop.example]: Recipient address rejected: Access denied',
    '550 5.5.0 Requested action not taken: mailbox unavailable',
    '550-5.5.0 Requested action not taken:\r\n550 5.5.0 mailbox unavailable',
    '550 5.1.0 gone@shop.example: no such user',
    '554 5.1.0 This account does not accept mail',
    '550 5.5.0 Recipients refused',
  ])('%j is a hard bounce, by its words', (reply) => {
    expect([atRecipient(reply), later(reply)]).toEqual(['hard_bounce', 'hard_bounce'])
  })

  it.each([
    // Full mailboxes.
    '552 5.2.2 mailbox full',
    '552 5.2.2 The email account that you tried to reach is over quota, see https://mail.example/policy',
    '552-5.2.2 over\r\n552 5.2.2 quota',
    '554 5.2.0 Mailbox unavailable',
    '550 5.2.3 too large for this mailbox',
    '552 mailbox full',
    '552 Requested mail action aborted: exceeded storage allocation',
    '554 mailbox over quota',
    // Codes about the address, without words about it.
    '550 5.1.0 Address rejected',
    '550 5.1.4 ambiguous',
    '550 5.1.9 no',
    '550 5.1.11 no',
    '550 5.4.1 Access denied',
    '550 5.4.1 <user@account.example>: no',
    '550 5.5.0 no',
    '550 5.4.4 Host not found',
    '550 5.6.7 SMTPUTF8 required',
    '525 5.7.13 disabled',
    '550 5.7.17 The owner has changed',
    // Only the words are about the recipient.
    '550 5.0.0 User unknown',
    "554 delivery error: dd This user doesn't have a yahoo.com account (gone@yahoo.com) [0] - mta1.mail.example",
    '554 delivery error: dd This user doesn’t have a yahoo.com account',
    '554 30 Sorry, your message to gone@aol.example cannot be delivered. This mailbox is disabled (554.30).',
    '554 5.7.1 <gone@shop.example>: user does not exist',
    '550 5.7.1 Recipient unknown',
    '554 Recipient not found',
    '554 5.3.0 unknown user account',
  ])('%j at RCPT is about the recipient, and suppresses nothing', (reply) => {
    expect(atRecipient(reply)).toBe('recipient')
  })

  it.each([
    "554 delivery error: dd This user doesn't have a yahoo.com account",
    '550 user unknown',
    '552 5.2.2 mailbox full',
    '550 5.0.0 User unknown',
  ])('%j after the message is about the recipient, too', (reply) => {
    expect(later(reply)).toBe('recipient')
  })

  it.each([
    '550 5.7.1 blocked',
    '554 5.7.1 Relay access denied',
    '550 5.7.1 Recipient address rejected: policy',
    '550 5.7.1 your account was suspended',
    '550 5.7.26 This mail is unauthenticated',
    '550 5.7.606 Access denied, banned sending IP [192.0.2.7]',
    '550 5.1.7 invalid address of the sender',
    '550 5.1.8 bad domain of the sender',
    '550 5.1.0 Sender rejected, unknown user',
    '550 5.4.1 Relay access denied for this user',
    '550 5.5.0 blocked by the policy of this mailbox',
    '554 Your message was blocked as spam by this user',
    '554 listed in a dnsbl, recipient unavailable',
    '552 5.3.4 Message too big for system',
    '554 5.6.0 Message with invalid header',
    '550 5.2.0 Suspected spam message rejected',
  ])('%j is about the sender or the content', (reply) => {
    expect(atRecipient(reply)).toBe('sender')
  })

  it.each([
    '500',
    '501 no',
    '554 no',
    '554 5.0.0 no',
    '554 5.5.1 no',
    '5500 user unknown?',
    'x',
    '',
    '452 4.2.2 later',
  ])('%j does not show who is to blame', (reply) => {
    expect(later(reply.replace('user unknown?', ''))).toBeUndefined()
  })

  it('is read in no time when it is long', () => {
    const began = performance.now()
    for (const part of ['user ', 'unknown ', 'a.', '@', 'no such '])
      blameOfReply({ reply: `554 ${part.repeat(200_000)}`, isAtRecipient: true })
    expect(performance.now() - began).toBeLessThan(1000)
  })
})
