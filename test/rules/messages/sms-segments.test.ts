import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { smsSize } from '../../../src/rules/messages/sms-segments.ts'

const show = (text: string) => {
  const { encoding, characters, segments } = smsSize(text)
  return `${encoding} ${characters} ${segments}`
}

describe('the size of an SMS is counted', () => {
  it.each([
    ['nothing', '', 'GSM-7 0 0'],
    ['160 characters', 'a'.repeat(160), 'GSM-7 160 1'],
    ['161 characters', 'a'.repeat(161), 'GSM-7 161 2'],
    ['306 characters', 'a'.repeat(306), 'GSM-7 306 2'],
    ['307 characters', 'a'.repeat(307), 'GSM-7 307 3'],
    ['every character of the alphabet', '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ¤¡ÄÖÑÜ§¿äöñüà', 'GSM-7 44 1'],
    ['80 signs that count twice', '€'.repeat(80), 'GSM-7 160 1'],
    ['81 of them', '€'.repeat(81), 'GSM-7 162 2'],
    // A sign that counts twice does not fit at the end of the first message.
    ['one of them at the end of a message', `${'a'.repeat(152)}€${'a'.repeat(151)}`, 'GSM-7 305 2'],
    ['one more then', `${'a'.repeat(152)}€${'a'.repeat(152)}`, 'GSM-7 306 3'],
    ['70 characters with a small ç', `ç${'a'.repeat(69)}`, 'UCS-2 70 1'],
    ['71 characters with a small ç', `ç${'a'.repeat(70)}`, 'UCS-2 71 2'],
    ['134 characters in Hebrew', 'ש'.repeat(134), 'UCS-2 134 2'],
    ['135 characters in Hebrew', 'ש'.repeat(135), 'UCS-2 135 3'],
    ['an emoji', '🙂', 'UCS-2 2 1'],
    ['an emoji at the end of a message', `${'a'.repeat(66)}🙂${'a'.repeat(65)}`, 'UCS-2 133 2'],
    ['one character more then', `${'a'.repeat(66)}🙂${'a'.repeat(66)}`, 'UCS-2 134 3'],
    ['a curly quote', '“Hi”', 'UCS-2 4 1'],
  ])('for %s', (_, text, expected) => {
    expect(show(text)).toBe(expected)
  })

  it('without fewer messages for a longer text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 150 }),
        fc.string({ unit: 'binary', maxLength: 50 }),
        (text, more) => {
          expect(smsSize(text + more).segments).toBeGreaterThanOrEqual(smsSize(text).segments)
        },
      ),
    )
  })
})
