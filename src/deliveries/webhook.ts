/** A webhook of the operator's own: a JSON body, signed so that its receiver knows whom it is from. */
import { createHmac } from 'node:crypto'
import type { Conversion, Outgoing, Verdict } from './conversion.ts'
import { hashIdentifier } from './hash-identifier.ts'
import { type Answer, judgeStatus } from './judge-status.ts'
import type { WebhookSecret, WebhookSettings } from './settings.ts'

/** `now` is epoch ms: receivers refuse what was signed long ago. */
export function composeForWebhook(
  conversion: Conversion,
  settings: WebhookSettings,
  { secret, now, isTest }: { secret: WebhookSecret; now: number; isTest: boolean },
): Outgoing {
  const body = JSON.stringify(documentOf(conversion, isTest))
  const signature = signBody(body, secret.signingKey, Math.floor(now / 1000))
  return { url: settings.url, headers: { 'content-type': 'application/json', 'sluice-signature': signature }, body }
}

/** `t=<epoch seconds>,v1=<hex of the HMAC-SHA256 of "<t>.<body>">` */
export function signBody(body: string, signingKey: string, seconds: number): string {
  const mac = createHmac('sha256', signingKey).update(`${seconds}.${body}`).digest('hex')
  return `t=${seconds},v1=${mac}`
}

function documentOf(conversion: Conversion, isTest: boolean) {
  const { eventId, contactId, event, type, occurredAt, amount, currency, idempotencyKey, clicks } = conversion
  return {
    id: eventId,
    type: isTest ? 'test' : 'conversion',
    data: {
      event,
      type,
      occurredAt: new Date(occurredAt).toISOString(),
      value: amount,
      currency: amount === null ? null : currency,
      idempotencyKey,
      contactId,
      platformCustomerId: conversion.customerId,
      hashedEmails: conversion.emails.map(hashIdentifier),
      hashedPhones: conversion.phones.map((phone) => hashIdentifier(`+${phone}`)),
      clickIds: Object.fromEntries(Object.entries(clicks).map(([kind, click]) => [kind, click.id])),
    },
  }
}

/** Any 2xx is enough; what it says is not read. */
export function judgeWebhook(answer: Answer): Verdict {
  return answer.status >= 200 && answer.status < 300 ? { kind: 'sent' } : judgeStatus(answer)
}
