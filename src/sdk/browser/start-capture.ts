/** Captures page views, scroll depths and viewing times automatically. */
import { cleanUrl, pathOf } from './clean-url.ts'
import { startWatch } from './count-time.ts'
import { followHistory } from './follow-history.ts'
import type { Item } from './open-outbox.ts'
import { randomId } from './random-id.ts'
import { reachDepths } from './reach-depths.ts'
import { readTitle } from './read-title.ts'

export interface Capture {
  /** Begins a page view. */
  view(referrer?: string): void
  /** Sends the captured data, because the page may be closed in a moment. */
  leave(): void
  /** The page is visible again. */
  look(): void
}

const HEARTBEAT_MS = 60_000
const SCROLL_REST_MS = 250
/** A shorter time is not worth a hit, and is added to the next one. */
const SHORTEST_MS = 1_000
const SIGNS_OF_LIFE = ['pointerdown', 'pointermove', 'keydown', 'scroll']

export function startCapture(submit: (item: Item) => void): Capture {
  let [pageId, path, url] = ['', '', '']
  let reached: number[] = []
  let scrolling = 0
  const watch = startWatch()
  const touch = () => watch.touch(Date.now(), document.visibilityState === 'visible')
  const send = (kind: string, more: object) =>
    submit({ route: 'capture', at: Date.now(), body: { id: randomId(), kind, pageId, url, ...more } })

  const view = (referrer?: string): void => {
    clearTimeout(scrolling)
    scrolling = 0
    reached = []
    pageId = randomId()
    path = pathOf(location.href)
    url = cleanUrl(location.href)
    touch()
    watch.reset(Date.now())
    send('page_view', { title: readTitle(), referrer })
  }
  const sendTime = (): void => {
    const times = watch.read(Date.now())
    if (times.activeMs + times.idleMs < SHORTEST_MS) return
    watch.reset(Date.now())
    send('time', times)
  }
  const sendDepths = (): void => {
    const { scrollHeight } = document.scrollingElement ?? document.documentElement
    const depths = reachDepths(scrollY, innerHeight, scrollHeight).filter((depth) => !reached.includes(depth))
    reached.push(...depths)
    depths.forEach((depth) => send('scroll', { depth }))
  }
  /** Continues with the page that the address now names. */
  const follow = (): void => {
    if (pathOf(location.href) === path) return
    sendTime()
    view()
  }
  const rest = (): void => {
    follow()
    if (scrolling !== 0) sendDepths()
    scrolling = 0
  }

  followHistory(follow)
  SIGNS_OF_LIFE.forEach((sign) => addEventListener(sign, touch, { capture: true, passive: true }))
  addEventListener('scroll', () => (scrolling ||= setTimeout(rest, SCROLL_REST_MS)), { passive: true })
  // An unused tab sends nothing until it is used or left.
  setInterval(() => watch.read(Date.now()).activeMs > 0 && sendTime(), HEARTBEAT_MS)
  return {
    view,
    look: touch,
    leave() {
      rest()
      watch.touch(Date.now(), false)
      sendTime()
    },
  }
}
