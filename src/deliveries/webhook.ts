/**
 * Sends conversions to an operator's webhook as JSON. Signs them as Standard Webhooks specifies, so that the receiver
 * can verify the sender.
 */
import { createHmac } from 'node:crypto'
import type { Conversion } from './conversion.ts'
import type { OutgoingRequest, SendResult } from '../outbound/send-result.ts'
import { hashIdentifier } from './hash-identifier.ts'
import { type ResponseSummary, classifyStatus } from '../outbound/classify-response.ts'
import { signatureHeaders } from '../outbound/standard-webhooks.ts'
import type { WebhookSecret, WebhookSettings } from './settings.ts'

/** `now`: epoch milliseconds. Receivers reject signatures that are a few minutes old. */
export function composeWebhookRequest(
  conversion: Conversion,
  settings: WebhookSettings,
  { secret, now, isTest }: { secret: WebhookSecret; now: number; isTest: boolean },
): OutgoingRequest {
  const body = JSON.stringify(documentOf(conversion, isTest))
  const seconds = Math.floor(now / 1000)
  const headers = {
    'content-type': 'application/json',
    ...signatureHeaders({ id: conversion.eventId, now, body }, keysInForce(secret, now)),
    // Deprecated: the header of version 0.1, which 0.3 will remove.
    'sluice-signature': signBody(body, secret.signingKey, seconds),
  }
  return { url: settings.url, headers, body }
}

/** Returns the current key, and also the previous one until receivers have had time to change. */
function keysInForce({ signingKey, former }: WebhookSecret, now: number): string[] {
  return former && now < former.until ? [signingKey, former.signingKey] : [signingKey]
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

/** Treats any 2xx status as success; does not read the body. */
export function classifyWebhookResponse(response: ResponseSummary): SendResult {
  return response.status >= 200 && response.status < 300 ? { kind: 'sent' } : classifyStatus(response)
}
