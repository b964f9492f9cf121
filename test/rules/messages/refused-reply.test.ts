/**
 * Who is to blame, by replies as mail servers send them (campaigns, "Channels"). Addresses and hosts in them are
 * invented.
 */
import { describe, expect, it } from 'vitest'
import { blameOfReply, saysHardBounce } from '../../../src/rules/messages/refused-reply.ts'

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
  ])('%j at RCPT is a hard bounce, by its words; later it suppresses nothing', (reply) => {
    expect([atRecipient(reply), later(reply)]).toEqual(['hard_bounce', 'recipient'])
  })

  it.each([
    '550 user unknown',
    '550 <gone@shop.example>: Recipient address rejected: User unknown in relay recipient table',
    '550 Requested action not taken: mailbox unavailable',
    '550 Recipient address rejected: Access denied',
    '550 No such user. Please check the address before sending again',
    '550 Mailbox not found, see https://mail.example/policy',
    '550 Recipient verify failed',
    '551 User not local; please try another address',
    '553 Requested action not taken: mailbox name not allowed',
    '550 User not listed in directory',
    '550 The user you are sending to does not exist',
    '550 user exceeded its storage limit',
  ])('%j at RCPT is a hard bounce: no word is about the sender', (reply) => {
    expect(atRecipient(reply)).toBe('hard_bounce')
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
    '550 5.7.17 The owner has changed',
    // Only the words are about the recipient.
    '550 5.0.0 User unknown',
    "554 delivery error: dd This user doesn't have a yahoo.com account (gone@yahoo.com) [0] - mta1.mail.example",
    '554 delivery error: dd This user doesn’t have a yahoo.com account',
    '554 30 Sorry, your message to gone@aol.example cannot be delivered. This mailbox is disabled (554.30).',
    '554 5.7.1 <gone@shop.example>: user does not exist',
    '550 5.7.1 Recipient unknown',
    '550 5.7.1 No such user!',
    '554 5.7.1 Recipient address rejected: User unknown in relay recipient table',
    '550 5.4.6 Routing loop detected',
    '552 mailbox has exceeded its storage limit',
    '552 5.2.2 the daily limit of this mailbox',
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
    // Without an enhanced code.
    '550 192.0.2.7 is blacklisted at zen.dnsbl.example',
    '550 192.0.2.7 listed in zen.dnsbl.example',
    '550 Blocked by spam filter, see policy',
    '550 relay not permitted',
    '550 Sender verify failed',
    '550 Verification failed for <news@shop.example>',
    '553 Sender address rejected: not owned by user ada',
    "553 sorry, that domain isn't in my list of allowed rcpthosts",
    '550 authentication required',
    '550 Please log in first, unknown user',
    '550 You are not authorized to send from this account',
    '550 not allowed to send to this mailbox',
    '550 Client host rejected: Access denied',
    '550 IP frequency limited',
    '550 Recipient limit exceeded',
    '550 Domain shop.example has exceeded the max emails per hour allowed',
    '550 Too many recipients',
    '551 Your IP is not welcome',
    // Rights of the sender.
    '550 5.1.0 Your account is not allowed to send from this address',
    '554 5.2.252 SendAsDenied; news@shop.example not allowed to send as ada@shop.example',
    '554 5.2.0 STOREDRV.Submission.Exception: MapiExceptionSendAsDenied',
    '550-5.7.1 Invalid credentials for relay [192.0.2.7]. The IP address that you have registered does\r\n550-5.7.1 not match the domain of the account this email is being sent from.',
    '550 5.7.1 The account is invalid',
    '550 5.7.0 user unknown',
    '525 5.7.13 user account disabled',
    // Limits of the sender.
    '550 5.5.0 your account has exceeded its hourly limit',
    '550 5.4.5 Daily user sending quota exceeded',
    '550 5.4.5 no',
    '550 5.4.6 Unusual sending activity detected',
    '550 5.4.6 no',
    '554 5.1.90 Your message cannot be sent because you have reached your daily limit',
    '554 5.1.90 no',
    '550 5.2.121 no',
    '550 5.2.122 no',
    '550 5.4.1 user exceeded the sending limit',
    // The login.
    '535 5.7.8 user unknown',
    '535 5.7.1 user unknown',
    '535 5.0.0 user unknown',
    '535 user unknown',
    '530 5.5.0 unknown account',
  ])('%j is about the sender or the content, at whatever command', (reply) => {
    expect([atRecipient(reply), later(reply)]).toEqual(['sender', 'sender'])
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

describe('words of a provider', () => {
  it.each([
    '550 5.1.1 user unknown',
    'smtp; 550-5.1.1 user unknown',
    'The server said (550 5.1.10 no recipient)',
    '550 5.2.1',
    '550 5.5.0 mailbox',
  ])('%j say that the address accepts no mail', (said) => {
    expect(saysHardBounce(said)).toBe(true)
  })

  it.each([
    null,
    '',
    '5.1.1',
    '450 4.1.1 user unknown',
    '450 5.1.1 user unknown',
    '550 5.1.11 user unknown',
    '1550 5.1.1',
    '550 5.1.1.2',
    '550 user unknown',
    '550 5.2.2 mailbox full',
    '550 5.7.1 user unknown',
  ])('%j do not', (said) => {
    expect(saysHardBounce(said)).toBe(false)
  })
})
