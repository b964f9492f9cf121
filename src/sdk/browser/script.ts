/** `/sluice.js`: starts with what its tag says. A tag that was re-written is found by its attribute. */
import type { Options } from './api.ts'
import { startSluice } from './start-sluice.ts'

const tag = document.currentScript ?? document.querySelector('script[data-business]')
if (tag) {
  const { src, dataset } = tag as HTMLScriptElement
  const { business = '', endpoint = src.split('/', 3).join('/'), consent, autocapture } = dataset
  // An attribute may hold any word.
  startSluice({ business, endpoint, consent, autocapture } as Options, (service) => import(`${service}/sluice-push.js`))
}
