/** The standards of web push, with their own examples. */
import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { MAX_PLAINTEXT_BYTES, encryptPush, isBrowserKey } from '../../../src/messages/channels/web-push/encrypt.ts'
import { combineOutcomes } from '../../../src/messages/channels/web-push/combine-outcomes.ts'
import { makeVapidKeys, vapidHeader } from '../../../src/messages/channels/web-push/vapid.ts'
import { makeBrowser, verifyVapid } from './push-service.ts'

/** RFC 8291, section 5 and appendix A. */
const EXAMPLE = {
  plaintext: 'When I grow up, I want to be a watermelon',
  keys: {
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  },
  oneTime: {
    privateKey: Buffer.from('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw', 'base64url'),
    salt: Buffer.from('DGv6ra1nlYgDCS1FRnbzlw', 'base64url'),
  },
  body:
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_' +
    'yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
}
/** RFC 8292, section 2.4. */
const TOKEN =
  'vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1YiI6Im1h' +
  'aWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA,' +
  ' k=BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs'

describe('encryption', () => {
  it('makes the example of the standard', () => {
    const { plaintext, keys, oneTime, body } = EXAMPLE
    expect(encryptPush(Buffer.from(plaintext), keys, oneTime).toString('base64url')).toBe(body)
  })

  it('is read by the browser that it is for, up to the most that push services take', async () => {
    const browser = makeBrowser('https://push.example/')
    for (const bytes of [0, 1, MAX_PLAINTEXT_BYTES]) {
      const text = 'x'.repeat(bytes)
      const body = encryptPush(Buffer.from(text), browser.subscription.keys)
      expect(body.length).toBe(bytes + 103)
      expect(await browser.decrypt(body)).toBe(text)
    }
    expect(MAX_PLAINTEXT_BYTES + 103).toBe(4096)
    const stranger = makeBrowser('https://push.example/')
    await expect(stranger.decrypt(encryptPush(Buffer.from('x'), browser.subscription.keys))).rejects.toBeInstanceOf(
      Error,
    )
  })

  it('is another one for each message', () => {
    const { keys } = EXAMPLE
    expect(encryptPush(Buffer.from('x'), keys)).not.toEqual(encryptPush(Buffer.from('x'), keys))
  })

  it('takes the points of the curve as keys alone', () => {
    expect(isBrowserKey(EXAMPLE.keys.p256dh)).toBe(true)
    const noPoint = Buffer.concat([Buffer.from([4]), randomBytes(32), Buffer.alloc(32, 0xff)])
    for (const wrong of [noPoint, Buffer.alloc(65, 4), Buffer.alloc(0), Buffer.alloc(64, 4)])
      expect([wrong, isBrowserKey(wrong.toString('base64url'))]).toEqual([wrong, false])
  })
})

describe('the token of the sender', () => {
  it('is verified as the example of the standard is', async () => {
    expect(await verifyVapid(TOKEN)).toMatchObject({ claims: { aud: 'https://push.example.net' } })
    await expect(verifyVapid(TOKEN.replace('.i3', '.j3'))).rejects.toThrow('the key has not signed it')
  })

  it('says for which push service it is, until when, and whom to ask', async () => {
    const now = Date.UTC(2026, 2, 1)
    const endpoint = 'https://push.example:8443/send/abc?d=e'
    for (let round = 0; round < 20; round += 1) {
      const keys = makeVapidKeys()
      expect([keys.publicKey.length, keys.privateKey.length]).toEqual([87, 43])
      const header = await vapidHeader(keys, { endpoint, subject: 'mailto:push@shop.example', now })
      const { claims, key } = await verifyVapid(header)
      expect(key).toBe(keys.publicKey)
      expect(claims).toEqual({
        aud: 'https://push.example:8443',
        exp: now / 1000 + 12 * 3600,
        sub: 'mailto:push@shop.example',
      })
    }
  })
})

describe('a message to several browsers', () => {
  const gone = { kind: 'refused', reason: 'HTTP 410', blame: 'recipient' } as const
  const refused = { kind: 'refused', reason: 'HTTP 403' } as const
  const busy = { kind: 'temporary', reason: 'HTTP 429' } as const
  const broken = { kind: 'unknown', reason: 'HTTP 500' } as const
  const taken = { kind: 'accepted' } as const

  it.each([
    ['taken by one, it is sent', [gone, broken, taken, busy], { kind: 'accepted', reason: '1 of 4 browsers' }],
    ['it may have arrived at one, so it is not sent again', [busy, gone, broken, refused], broken],
    ['it is tried again while one may still take it', [gone, refused, busy], busy],
    ['the sender is to blame before browsers that are gone', [gone, refused, gone], refused],
    ['all are gone', [gone, gone], gone],
  ])('%s', (_, outcomes, expected) => {
    expect(combineOutcomes(outcomes)).toEqual(expected)
  })
})
