/** Which settings of channels are refused, field by field. What an address resolves to is tested through HTTP. */
import { describe, expect, it } from 'vitest'
import { readSettings } from '../../../src/messages/channels/read-settings.ts'
import type { MessageChannel } from '../../../src/messages/templates/template.ts'

/** The paths of the faults: those of single fields, and otherwise those of the provider. */
function faultsOf(channel: MessageChannel, sent: Record<string, unknown>): string[] {
  const read = readSettings(channel, sent)
  const faults = 'faults' in read ? read.faults : read.provider.check(read.settings, Object.keys(read.secrets))
  return faults.map(({ path }) => path)
}

const smtp = (more: object = {}) => ({
  provider: 'smtp',
  host: '127.0.0.1',
  port: 25,
  sender: 'Shop <hello@shop.example>',
  ...more,
})
const hook = (more: object = {}) => ({ provider: 'webhook', ...more })
const SECRET = 'x'.repeat(16)

describe('an SMTP server', () => {
  it.each<[object, string]>([
    [{ host: 'x y' }, 'host'],
    [{ host: 'user@host' }, 'host'],
    [{ host: 'x.io/path' }, 'host'],
    [{ host: '999.1.1.1' }, 'host'],
    [{ host: 5 }, 'host'],
    [{ port: 0 }, 'port'],
    [{ port: 65_536 }, 'port'],
    [{ port: 1.5 }, 'port'],
    [{ port: '25' }, 'port'],
    [{ secure: 'yes' }, 'secure'],
    [{ sender: 'Shop' }, 'sender'],
    [{ sender: 'a@x.io\r\nBcc: b@x.io' }, 'sender'],
    [{ sender: 'a@x.io, b@x.io' }, 'sender'],
    [{ replyTo: 'nobody' }, 'replyTo'],
    [{ user: 'a\r\nb', password: 'x' }, 'user'],
    [{ user: 'a' }, 'password'],
    [{ password: 'a' }, 'user'],
    [{ user: 'a', password: 'x\0y' }, 'password'],
    [{ user: 'a\uD800', password: 'x' }, 'user'],
    [{ perSecond: 0 }, 'perSecond'],
    [{ perSecond: 0.5 }, 'perSecond'],
    [{ perSecond: 10_001 }, 'perSecond'],
    [{ dailyBudget: 0 }, 'dailyBudget'],
    [{ dailyBudget: 1_000_000_001 }, 'dailyBudget'],
  ])('with %j is refused', (settings, path) => {
    expect(faultsOf('email', smtp(settings))).toEqual([path])
  })

  it('is taken at its limits, and refused one past them', () => {
    const login = (user: number, password: number) => ({ user: 'u'.repeat(user), password: 'p'.repeat(password) })
    const named = (length: number) => ({ sender: `${'n'.repeat(length)} <a@x.io>` })
    const taken = [{}, login(320, 1024), named(200), { port: 65_535, perSecond: 10_000, dailyBudget: 1_000_000_000 }]
    expect(taken.map((settings) => faultsOf('email', smtp(settings)))).toEqual([[], [], [], []])
    const past = [login(321, 1), login(1, 1025), named(201)]
    expect(past.map((settings) => faultsOf('email', smtp(settings)))).toEqual([['user'], ['password'], ['sender']])
  })
})

describe('a webhook', () => {
  it.each<[object, string]>([
    [{}, 'url'],
    [{ url: 'ftp://x.io', secret: SECRET }, 'url'],
    [{ url: 'https://user:pass@x.io', secret: SECRET }, 'url'],
    [{ url: 'http://999.1.1.1/', secret: SECRET }, 'url'],
    [{ url: 'https://x.io', secret: 'x'.repeat(15) }, 'secret'],
    [{ url: 'https://x.io', secret: 'x'.repeat(257) }, 'secret'],
  ])('with %j is refused', (settings, path) => {
    expect(faultsOf('webhook', hook(settings))).toEqual([path])
  })

  it('is taken at its limits, and refused one past them', () => {
    const long = (length: number) => hook({ url: `https://x.io/${'a'.repeat(length - 13)}`, secret: 'x'.repeat(256) })
    expect([faultsOf('webhook', long(2048)), faultsOf('webhook', long(2049))]).toEqual([[], ['url']])
  })
})

const PROVIDERS: Record<string, [MessageChannel, object]> = {
  resend: ['email', { sender: 'a@x.io', apiKey: 'secret' }],
  postmark: ['email', { sender: 'a@x.io', webhookUser: 'sluice', serverToken: 'secret' }],
  ses: ['email', { sender: 'a@x.io', region: 'eu-central-1', accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' }],
  twilio: ['sms', { accountSid: `AC${'0'.repeat(32)}`, from: '+15005550006', authToken: 'secret' }],
  meta: ['whatsapp', { phoneNumberId: '106540352242922', token: 'secret' }],
}

describe('a provider by HTTP', () => {
  const faultsWith = (provider: string, more: object) => {
    const [channel, settings] = PROVIDERS[provider]!
    return faultsOf(channel, { provider, ...settings, ...more })
  }

  it.each(Object.keys(PROVIDERS))('%s is taken', (provider) => {
    expect(faultsWith(provider, {})).toEqual([])
  })

  it.each<[string, object, string]>([
    ['resend', { sender: 'Shop' }, 'sender'],
    ['postmark', { webhookUser: 'a:b' }, 'webhookUser'],
    ['postmark', { messageStream: 'a b' }, 'messageStream'],
    ['ses', { region: 'Frankfurt' }, 'region'],
    ['ses', { accessKeyId: 'a/b' }, 'accessKeyId'],
    ['ses', { configurationSet: 'x'.repeat(65) }, 'configurationSet'],
    ['twilio', { accountSid: 'SM0' }, 'accountSid'],
    ['twilio', { from: 'twelve chars' }, 'from'],
    ['meta', { phoneNumberId: 'x' }, 'phoneNumberId'],
  ])('%s with %j is refused', (provider, more, path) => {
    expect(faultsWith(provider, more)).toEqual([path])
  })
})
