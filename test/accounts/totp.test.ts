import { expect, it } from 'vitest'
import { createTotpSecret, matchTotp, totpCode, totpUri } from '../../src/accounts/totp.ts'

/** "12345678901234567890", the secret of RFC 6238, appendix B. */
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

it.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('gives the code of RFC 6238 at %i s', (seconds, code) => {
  expect(totpCode(RFC_SECRET, Math.floor(seconds / 30))).toBe(code)
})

it('accepts the code of the step before and after, and no further one', () => {
  const step = 1000
  const now = step * 30_000 + 15_000
  const matches = [-2, -1, 0, 1, 2].map((drift) => matchTotp(RFC_SECRET, totpCode(RFC_SECRET, step + drift), now))
  expect(matches).toEqual([null, step - 1, step, step + 1, null])
})

it.each(['', '12345', '1234567', '12345a', 'ééé', '１２３４５６'])('accepts no code of another form: %j', (code) => {
  expect(matchTotp(RFC_SECRET, code, 60_000)).toBeNull()
})

it('makes a secret of 160 bits, and a link that apps read', () => {
  const secret = createTotpSecret()
  expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  expect(createTotpSecret()).not.toBe(secret)
  expect(totpUri(secret, 'ann@x.io')).toBe(`otpauth://totp/Sluice%3Aann%40x.io?secret=${secret}&issuer=Sluice`)
})
