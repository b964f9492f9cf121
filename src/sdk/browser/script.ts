/** `/sluice.js`: starts with the options of its tag. A tag that was rewritten is found by its attribute. */
import type { Options } from './api.ts'
import { startSluice } from './start-sluice.ts'

const tag = document.currentScript ?? document.querySelector('script[data-business]')
if (tag) {
  const { src, dataset } = tag as HTMLScriptElement
  const { business = '', endpoint = src.split('/', 3).join('/'), consent, autocapture } = dataset
  // An attribute may contain any text.
  startSluice({ business, endpoint, consent, autocapture } as Options, (service) => import(`${service}/sluice-push.js`))
}
