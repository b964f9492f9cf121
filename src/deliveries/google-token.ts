/** Google's access tokens: got for the refresh token, and kept until shortly before they run out. */
import { Type } from '@sinclair/typebox'
import type { Verdict } from '../outbound/verdict.ts'
import { hashIdentifier } from './hash-identifier.ts'
import { type Answer, readAnswer, tryAgain } from '../outbound/classify-response.ts'
import { post } from '../outbound/post.ts'
import type { GoogleSecret, GoogleSettings } from './settings.ts'

const SPARE_MS = 60_000
const MOST_TOKENS = 10_000

const TokenAnswer = Type.Object({
  access_token: Type.Optional(Type.String()),
  expires_in: Type.Optional(Type.Number()),
  error: Type.Optional(Type.String()),
})

type Got = { accessToken: string } | { verdict: Verdict }

export interface GoogleTokens {
  /** Rejects when there is no answer before `signal` aborts. */
  get(settings: GoogleSettings, secret: GoogleSecret, signal: AbortSignal): Promise<Got>
  /** To be called for one that was refused. */
  forget(accessToken: string): void
}

export function keepGoogleTokens(monotonicNow = () => performance.now()): GoogleTokens {
  const tokens = new Map<string, { accessToken: string; until: number }>()
  return {
    async get(settings, secret, signal) {
      const owner = hashIdentifier(JSON.stringify([settings.tokenUrl, secret]))
      const known = tokens.get(owner)
      if (known && known.until > monotonicNow()) return { accessToken: known.accessToken }
      const asked = monotonicNow()
      const answer = await askForToken(settings, secret, signal)
      const told = readAnswer(TokenAnswer, answer.text)
      if (answer.status !== 200 || told?.access_token === undefined)
        return { verdict: classifyTokenError(answer, told?.error) }
      if (tokens.size >= MOST_TOKENS) tokens.clear()
      const lastsMs = (told.expires_in ?? 0) * 1000
      tokens.set(owner, { accessToken: told.access_token, until: asked + lastsMs - SPARE_MS })
      return { accessToken: told.access_token }
    },
    forget(accessToken) {
      for (const [owner, token] of tokens) if (token.accessToken === accessToken) tokens.delete(owner)
    },
  }
}

function askForToken({ tokenUrl }: GoogleSettings, secret: GoogleSecret, signal: AbortSignal): Promise<Answer> {
  const { clientId, clientSecret, refreshToken } = secret
  const body = new URLSearchParams({
    grant_type: 'refresh_token',
    client_id: clientId,
    client_secret: clientSecret,
    refresh_token: refreshToken,
  })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return post({ url: tokenUrl, headers, body: body.toString() }, signal)
}

/** Whatever is wrong with the credentials, the conversion waits for an operator to mend it. */
function classifyTokenError(answer: Answer, error = ''): Verdict {
  const code = /^[a-z_]{1,64}$/.test(error) ? ` ${error}` : ''
  return tryAgain(answer, `no access token: HTTP ${answer.status}${code}`)
}
