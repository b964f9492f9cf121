import { Code } from '../../../parts/value/code.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { textsOf } from '../../../texts/index.ts'

const pageTag = (origin: string, businessId: string) =>
  `<script async src="${origin}/sluice.js" data-business="${businessId}"></script>`

const pageCalls = `sluice.track('signup', { plan: 'pro' })
sluice.identify({ email: 'ada@example.com' })`

const serverCode = (origin: string) => `import { Sluice } from '@sluice/node'

const sluice = new Sluice({ baseUrl: '${origin}' }) // the key is SLUICE_API_KEY
sluice.identify({ identity: { email: 'ada@example.com' }, profile: { name: 'Ada Lovelace' } })
sluice.track({ event: 'purchase', identity: { email: 'ada@example.com' }, value: 49.9, currency: 'USD' })
await sluice.close() // before the process ends`

export function QuickStart({ businessId }: { businessId: string }) {
  const texts = textsOf('settings')
  return (
    <Section title={texts.quickStart} intro={texts.quickStartIntro}>
      <Code text={pageTag(location.origin, businessId)} label={texts.pageTag} />
      <Code text={pageCalls} label={texts.pageCalls} />
      <Code text={serverCode(location.origin)} label={texts.serverCode} />
    </Section>
  )
}
