/** Charts that a page has waited for longer than a second, by the IDs that their requests send to the server. */
import { type Store, createStore } from './store.ts'

const HEADER = 'Sluice-Chart-Id'
const CHARTS = /^\/dashboard\/api\/b\/[^/]+\/analytics\/(?!progress\/|spend\b|web\/live$)/
const SLOW_MS = 1000

/** IDs of the slow charts, oldest first. */
export const slowCharts: Store<readonly string[]> = createStore<readonly string[]>([])

/** Returns a UUID. `randomUUID` does not exist on a page without TLS. */
function newId(): string {
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))]
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Gives a request for a chart an ID, and lists it while its answer is slow. */
export async function listWhileSlow(request: Request, answer: () => Promise<Response>): Promise<Response> {
  if (request.method !== 'GET' || !CHARTS.test(new URL(request.url).pathname)) return answer()
  const id = newId()
  request.headers.set(HEADER, id)
  const timer = setTimeout(() => slowCharts.set([...slowCharts.get(), id]), SLOW_MS)
  try {
    return await answer()
  } finally {
    clearTimeout(timer)
    slowCharts.set(slowCharts.get().filter((one) => one !== id))
  }
}
