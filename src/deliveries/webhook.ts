/** Sends conversions to an operator's webhook: a JSON body, signed according to Standard Webhooks, so that the receiver can verify the sender. */
import { createHmac } from 'node:crypto'
import type { Conversion } from './conversion.ts'
import type { OutgoingRequest, SendResult } from '../outbound/send-result.ts'
import { hashIdentifier } from './hash-identifier.ts'
import { type ResponseSummary, classifyStatus } from '../outbound/classify-response.ts'
import type { WebhookSecret, WebhookSettings } from './settings.ts'

/** `now`: epoch ms. Receivers reject a signature that is some minutes old. */
export function composeWebhookRequest(
  conversion: Conversion,
  settings: WebhookSettings,
  { secret, now, isTest }: { secret: WebhookSecret; now: number; isTest: boolean },
): OutgoingRequest {
  const body = JSON.stringify(documentOf(conversion, isTest))
  const seconds = Math.floor(now / 1000)
  const signed = { id: conversion.eventId, seconds, body }
  const headers = {
    'content-type': 'application/json',
    'webhook-id': signed.id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': keysInForce(secret, now)
      .map((key) => signMessage(signed, key))
      .join(' '),
    // Deprecated: the header of version 0.1, to be removed in 0.3.
    'sluice-signature': signBody(body, secret.signingKey, seconds),
  }
  return { url: settings.url, headers, body }
}

/** The current key, and the previous one until the receivers have had time to change. */
function keysInForce({ signingKey, former }: WebhookSecret, now: number): string[] {
  return former && now < former.until ? [signingKey, former.signingKey] : [signingKey]
}

/** `v1,<base64 of the HMAC-SHA256 of "<id>.<seconds>.<body>">` */
function signMessage({ id, seconds, body }: { id: string; seconds: number; body: string }, signingKey: string): string {
  const mac = createHmac('sha256', keyBytes(signingKey)).update(`${id}.${seconds}.${body}`).digest('base64')
  return `v1,${mac}`
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** The bytes of a key, as the Standard Webhooks libraries read it: base64 after `whsec_`. A key in another form stands for its own bytes. */
export function keyBytes(signingKey: string): Buffer {
  const encoded = signingKey.replace(/^whsec_/, '')
  return BASE64.test(encoded) ? Buffer.from(encoded, 'base64') : Buffer.from(signingKey, 'utf8')
}

/** `t=<epoch seconds>,v1=<hex of the HMAC-SHA256 of "<t>.<body>">` */
function signBody(body: string, signingKey: string, seconds: number): string {
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

/** Any 2xx status means success; the body is not read. */
export function classifyWebhookResponse(response: ResponseSummary): SendResult {
  return response.status >= 200 && response.status < 300 ? { kind: 'sent' } : classifyStatus(response)
}
