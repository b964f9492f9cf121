import { expect, test } from 'vitest'
import { isCurrencyCode } from '../../src/rules/events/currencies.ts'

test.each(['USD', 'EUR', 'KWD', 'XAU', 'ZWG', 'DEM', 'BGN'])('%s is a currency', (code) => {
  expect(isCurrencyCode(code)).toBe(true)
})

test.each(['EURO', 'US', '$', '', 'usd', 'BTC', 'CNH', '840', 'QQQ'])('%j is not a currency', (code) => {
  expect(isCurrencyCode(code)).toBe(false)
})
