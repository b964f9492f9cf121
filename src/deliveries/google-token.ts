/** Requests Google's access tokens with the refresh token, and caches them until shortly before they expire. */
import { Type } from '@sinclair/typebox'
import type { OutgoingRequest, SendResult } from '../outbound/send-result.ts'
import { hashIdentifier } from './hash-identifier.ts'
import { type ResponseSummary, parseBody, retryLater } from '../outbound/classify-response.ts'
import { post } from '../outbound/post.ts'
import type { TargetGuard } from '../outbound/target-guard.ts'
import type { GoogleSecret, GoogleSettings } from './settings.ts'

/** A token is renewed this many milliseconds before it expires. */
const RENEW_EARLY_MS = 60_000
const MAX_TOKENS = 10_000

const TokenBody = Type.Object({
  access_token: Type.Optional(Type.String()),
  expires_in: Type.Optional(Type.Number()),
  error: Type.Optional(Type.String()),
})

type TokenResult = { accessToken: string } | { result: SendResult }

export interface GoogleTokens {
  /** Rejects when there is no response before `signal` aborts. */
  get(settings: GoogleSettings, secret: GoogleSecret, signal: AbortSignal): Promise<TokenResult>
  /** Removes a token from the cache after Google has rejected it. */
  forget(accessToken: string): void
}

export function cacheGoogleTokens(guard: TargetGuard, monotonicNow = () => performance.now()): GoogleTokens {
  const tokens = new Map<string, { accessToken: string; until: number }>()
  return {
    async get(settings, secret, signal) {
      const owner = hashIdentifier(JSON.stringify([settings.tokenUrl, secret]))
      const known = tokens.get(owner)
      if (known && known.until > monotonicNow()) return { accessToken: known.accessToken }
      const requestedAt = monotonicNow()
      const response = await post(composeTokenRequest(settings, secret), guard, signal)
      const body = parseBody(TokenBody, response.text)
      if (response.status !== 200 || body?.access_token === undefined)
        return { result: classifyTokenError(response, body?.error) }
      if (tokens.size >= MAX_TOKENS) tokens.clear()
      const validMs = (body.expires_in ?? 0) * 1000
      tokens.set(owner, { accessToken: body.access_token, until: requestedAt + validMs - RENEW_EARLY_MS })
      return { accessToken: body.access_token }
    },
    forget(accessToken) {
      for (const [owner, token] of tokens) if (token.accessToken === accessToken) tokens.delete(owner)
    },
  }
}

function composeTokenRequest({ tokenUrl }: GoogleSettings, secret: GoogleSecret): OutgoingRequest {
  const { clientId, clientSecret, refreshToken } = secret
  const body = new URLSearchParams({
    grant_type: 'refresh_token',
    client_id: clientId,
    client_secret: clientSecret,
    refresh_token: refreshToken,
  })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return { url: tokenUrl, headers, body: body.toString() }
}

/** Always a retry: an operator can correct the credentials. */
function classifyTokenError(response: ResponseSummary, error = ''): SendResult {
  const code = /^[a-z_]{1,64}$/.test(error) ? ` ${error}` : ''
  return retryLater(response, `Google issued no access token: HTTP ${response.status}${code}`)
}
