/** `admin demo`: people, events, segments and campaigns to try the product with. */
import { commandActor } from '../audit/command-actor.ts'
import { readBusiness } from '../businesses/businesses.ts'
import { DEMO_NAME, type DemoBusiness, chooseDemoBusiness, demoRefusal } from '../demo/demo-business.ts'
import { DEMO_CONTACTS, type DemoLoad, loadDemo } from '../demo/load-demo.ts'
import { ERRORS } from '../errors.ts'
import { createRenderService } from '../messages/templates/renderer.ts'
import type { Sql } from '../stores/postgres.ts'
import { businessNotFound } from './business.ts'
import { type Command, CommandError } from './command.ts'
import { withSubmitter } from './open-submitter.ts'
import { createProgressLine } from './progress-line.ts'
import { checkId, readInteger } from './read-option.ts'
import { createStopSignal } from './stop-signal.ts'

const demo: Command = {
  name: 'demo',
  summary: 'Load demo people, 60 days of their events, segments and campaigns into a business of its own',
  options: {
    business: { value: 'ID', help: 'Load them into this business, which has no other contacts' },
    contacts: {
      value: 'N',
      help: `Number of people, up to ${DEMO_CONTACTS.max} (${DEMO_CONTACTS.default})`,
    },
  },
  notes: `Without --business, they go into the only business while that has no contacts, and else into a new one named "${DEMO_NAME}".
Running it again goes into the same business while that has no other contacts, completes an interrupted run, and stores no
event twice.
To remove a business that the demo has created:
admin business remove ID --yes`,
  async run(config, args) {
    const count = readInteger('--contacts', args.text('contacts') ?? String(DEMO_CONTACTS.default), DEMO_CONTACTS.max)
    const given = args.text('business')
    const named = given === undefined ? undefined : checkId('--business', given)
    const progressLine = createProgressLine(process.stderr, Date.now)
    const stop = createStopSignal()
    const actor = commandActor('admin demo')
    try {
      const loaded = await withSubmitter(config, async ({ sql, submit }) => {
        const { businessId, name } =
          named === undefined ? await chooseDemoBusiness(sql, actor) : await requireEmpty(sql, named)
        const report = (share: number) => progressLine.draw(`Loading: ${Math.floor(share * 100)} %`)
        const renderer = createRenderService()
        try {
          const options = { businessId, actor, count, now: Date.now(), report, signal: stop.signal }
          return { name, counts: { businessId, ...(await loadDemo({ sql, submit, renderer, config }, options)) } }
        } finally {
          await renderer.close()
        }
      })
      progressLine.end()
      return {
        json: loaded.counts,
        text: describeLoad(loaded.counts, `"${loaded.name}" (${loaded.counts.businessId})`),
      }
    } catch (error) {
      progressLine.end()
      if (stop.signal.aborted) throw new CommandError('stopped', 'It was stopped. To complete it, run it again')
      throw error
    } finally {
      stop.end()
    }
  },
}

function describeLoad({ contacts, events, added }: DemoLoad, business: string): string {
  if (added.contacts + added.events === 0)
    return `The demo was already in the business ${business}, and nothing was missing`
  return added.contacts === contacts && added.events === events
    ? `Loaded ${contacts} contacts and ${events} events into the business ${business}`
    : `Completed the demo in the business ${business}. Added contacts: ${added.contacts}, events: ${added.events}`
}

export const DEMO_COMMANDS: Command[] = [demo]

async function requireEmpty(sql: Sql, businessId: string): Promise<DemoBusiness> {
  const business = await readBusiness(sql, businessId)
  if (business === null) throw businessNotFound(businessId)
  const refusal = await demoRefusal(sql, business)
  if (refusal === null) return business
  const instead = {
    business_inactive: `To activate it: admin business update ${businessId} --active true`,
    business_not_empty: 'Without --business, the demo gets a business of its own',
  }
  throw new CommandError(refusal, `${ERRORS[refusal].message} ${instead[refusal]}`)
}
