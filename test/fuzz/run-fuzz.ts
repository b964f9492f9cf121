/** Sends generated requests to a front door and checks each answer against the contract. */
import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { openLine, readAnswers, speakRaw } from '../support/speak-raw.ts'
import { checkAnswer, checkSecrecy } from './check-answer.ts'
import { makeMangledBytes } from './mangle-bytes.ts'
import { type Callers, type FuzzRequest, makeRequest, writeRequest } from './make-requests.ts'

/** After this time without an answer, in ms, a caller considers the server hung. */
const PATIENCE_MS = 30_000
/** Time that the caller of a mangled request waits before it hangs up, in ms. */
const MOMENT_MS = 50
/** One request in this number is mangled. */
const MANGLED = 5
/** Concurrent callers, each with a seed of its own. */
const CALLERS = 8

export interface FuzzOptions {
  seed: number
  requests: number
}

/** Returns the number of answers by status and code. Throws with the smallest request that was answered wrongly. */
export async function fuzzEndpoints(
  url: string,
  callers: Callers,
  { seed, requests }: FuzzOptions,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  const count = (answer: string) => counts.set(answer, (counts.get(answer) ?? 0) + 1)
  const whole = makeRequest(callers).map((request) => ({ request }))
  const mangled = makeMangledBytes(callers).map((bytes) => ({ bytes }))
  const sending = fc.oneof({ weight: MANGLED - 1, arbitrary: whole }, { weight: 1, arbitrary: mangled })
  const property = fc.asyncProperty(sending, async (sent) => {
    const complaints =
      'bytes' in sent
        ? await sendBytes(url, sent.bytes, callers, count)
        : await sendRequest(url, sent.request, callers, count)
    if (complaints.length > 0) throw new Error(complaints.join('; '))
  })
  const workers = Array.from({ length: CALLERS }, (_, worker) =>
    fc.assert(property, { seed: seed + worker, numRuns: Math.ceil(requests / CALLERS) }),
  )
  const [broken] = (await Promise.allSettled(workers)).filter(({ status }) => status === 'rejected')
  if (broken?.status === 'rejected') throw broken.reason
  return counts
}

type Count = (answer: string) => void

async function sendRequest(url: string, request: FuzzRequest, callers: Callers, count: Count): Promise<string[]> {
  const now = Date.now()
  const { text, ended } = await speakRaw(url, writeRequest(request), { patienceMs: PATIENCE_MS })
  if (!ended) return [`no end of it after ${PATIENCE_MS} ms; heard: ${JSON.stringify(text.slice(0, 200))}`]
  const [answer, another] = readAnswers(text, request.method)
  if (answer === undefined) return ['no answer']
  if (another !== undefined) return ['two answers']
  count(`${answer.status} ${/"code":"(\w+)"/.exec(answer.body)?.[1] ?? ''}`.trim())
  return checkAnswer(request, answer, callers, now)
}

/** Statuses with which a server may answer bytes that are not HTTP: 501 and 505 are about the request. */
const OF_THE_PROTOCOL = [501, 505]

/** Sends arbitrary bytes: they must not break anything, and no caller may wait for ever. */
async function sendBytes(url: string, bytes: string, callers: Callers, count: Count): Promise<string[]> {
  const line = await openLine(url)
  line.say(bytes)
  const patience = new AbortController()
  const options = { signal: patience.signal }
  await Promise.race([line.ended, sleep(MOMENT_MS, undefined, options)])
  line.hangUp()
  const late = await Promise.race([line.ended, sleep(PATIENCE_MS, 'late', options)])
  patience.abort()
  if (late) return [`open ${PATIENCE_MS} ms after its caller hung up`]
  count('mangled')
  const text = line.heard()
  const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status))
  const faults = statuses.filter((status) => status >= 500 && !OF_THE_PROTOCOL.includes(status))
  return [...faults.map((status) => `the status is ${status}`), ...checkSecrecy(text, callers)]
}
