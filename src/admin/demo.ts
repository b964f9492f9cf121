/** `admin demo`: people, events, segments and campaigns to try the product with. */
import { commandActor } from '../accounts/command-actor.ts'
import { DEMO_CONTACTS, loadDemo, mayLoadDemo } from '../demo/load-demo.ts'
import { ERRORS } from '../errors.ts'
import { createRenderService } from '../messages/templates/renderer.ts'
import type { Sql } from '../stores/postgres.ts'
import { requireBusiness } from './business.ts'
import { type Command, CommandError } from './command.ts'
import { withSubmitter } from './open-submitter.ts'
import { createProgressLine } from './progress-line.ts'
import { checkId, readInteger } from './read-option.ts'
import { recordCommand } from './record-command.ts'
import { createStopSignal } from './stop-signal.ts'

const demo: Command = {
  name: 'demo',
  summary: 'Fill a business without contacts with demo people, 60 days of their events, segments and campaigns',
  options: {
    business: { value: 'ID', help: 'The business; may be left out when there is only one' },
    contacts: {
      value: 'N',
      help: `Number of people, up to ${DEMO_CONTACTS.max} (${DEMO_CONTACTS.default})`,
    },
  },
  notes: 'Running it again completes an interrupted run, and stores no event twice.',
  async run(config, args) {
    const count = readInteger('--contacts', args.text('contacts') ?? String(DEMO_CONTACTS.default), DEMO_CONTACTS.max)
    const given = args.text('business')
    const named = given === undefined ? undefined : checkId('--business', given)
    const progressLine = createProgressLine(process.stderr, Date.now)
    const stop = createStopSignal()
    const actor = commandActor('admin demo')
    try {
      const loaded = await withSubmitter(config, async ({ sql, submit }) => {
        const businessId = named ?? (await onlyBusiness(sql))
        await requireBusiness(sql, businessId)
        if (!(await mayLoadDemo(sql, businessId))) {
          throw new CommandError('business_not_empty', `${ERRORS.business_not_empty.message} ${MAKE_ONE}`)
        }
        const entry = { businessId, action: 'demo.load', target: businessId, details: { contacts: count } }
        await recordCommand(sql, 'demo', entry)
        const report = (share: number) => progressLine.draw(`Loading: ${Math.floor(share * 100)} %`)
        const renderer = createRenderService()
        try {
          const options = { businessId, actor, count, now: Date.now(), report, signal: stop.signal }
          return { businessId, ...(await loadDemo({ sql, submit, renderer, config }, options)) }
        } finally {
          await renderer.close()
        }
      })
      progressLine.end()
      return { json: loaded, text: `Loaded ${loaded.contacts} contacts and ${loaded.events} events` }
    } catch (error) {
      progressLine.end()
      if (stop.signal.aborted) throw new CommandError('stopped', 'It was stopped. To complete it, run it again')
      throw error
    } finally {
      stop.end()
    }
  },
}

const MAKE_ONE = 'To make one: admin business create --name Demo, then admin demo --business ID'

export const DEMO_COMMANDS: Command[] = [demo]

async function onlyBusiness(sql: Sql): Promise<string> {
  const [business, another] = await sql<{ id: string }[]>`select id from businesses limit 2`
  if (business === undefined || another !== undefined) {
    const how = business
      ? 'several businesses: give --business ID. To see them: admin business list'
      : 'no business: admin business create'
    throw new CommandError('business_needed', `There ${business ? 'are' : 'is'} ${how}`)
  }
  return business.id
}
