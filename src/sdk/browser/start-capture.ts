/** What is seen without being called: page views, how far a page is scrolled, how long it is looked at. */
import { cleanUrl, pathOf } from './clean-url.ts'
import { startWatch } from './count-time.ts'
import { followHistory } from './follow-history.ts'
import type { Item } from './open-outbox.ts'
import { randomId } from './random-id.ts'
import { reachDepths } from './reach-depths.ts'
import { readTitle } from './read-title.ts'

export interface Capture {
  /** A page view begins. */
  view(referrer?: string): void
  /** The page may be closed in a moment: sends what it has captured so far. */
  leave(): void
  /** The page is looked at again. */
  look(): void
}

const HEARTBEAT_MS = 60_000
const SCROLL_REST_MS = 250
/** Not worth a hit; kept for the next one. */
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
  const tellTime = (): void => {
    const times = watch.read(Date.now())
    if (times.activeMs + times.idleMs < SHORTEST_MS) return
    watch.reset(Date.now())
    send('time', times)
  }
  const tellDepths = (): void => {
    const { scrollHeight } = document.scrollingElement ?? document.documentElement
    const depths = reachDepths(scrollY, innerHeight, scrollHeight).filter((depth) => !reached.includes(depth))
    reached.push(...depths)
    depths.forEach((depth) => send('scroll', { depth }))
  }
  /** Goes on with the page that the address names now. */
  const follow = (): void => {
    if (pathOf(location.href) === path) return
    tellTime()
    view()
  }
  const rest = (): void => {
    follow()
    if (scrolling !== 0) tellDepths()
    scrolling = 0
  }

  followHistory(follow)
  SIGNS_OF_LIFE.forEach((sign) => addEventListener(sign, touch, { capture: true, passive: true }))
  addEventListener('scroll', () => (scrolling ||= setTimeout(rest, SCROLL_REST_MS)), { passive: true })
  // A tab that is not used sends nothing until it is used or left.
  setInterval(() => watch.read(Date.now()).activeMs > 0 && tellTime(), HEARTBEAT_MS)
  return {
    view,
    look: touch,
    leave() {
      rest()
      watch.touch(Date.now(), false)
      tellTime()
    },
  }
}
