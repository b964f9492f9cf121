/** `admin campaign …`: shows the results of campaigns, and stops them. */
import { commandActor } from '../audit/command-actor.ts'
import { readBusiness } from '../businesses/businesses.ts'
import type { Campaign, CampaignStatus, CampaignTrigger } from '../campaigns/campaign.ts'
import { type StatusChange, changeStatus } from '../campaigns/change-status.ts'
import { listCampaigns, readCampaign } from '../campaigns/list-campaigns.ts'
import { type Report as CampaignReport, readReport } from '../campaigns/read-report.ts'
import { numberOf } from '../rules/campaigns/step-number.ts'
import type { SendStep } from '../rules/campaigns/steps.ts'
import { walkSteps } from '../rules/campaigns/walk-steps.ts'
import type { Sql } from '../stores/postgres.ts'
import { businessNotFound, requireBusiness } from './business.ts'
import { type Command, CommandError, UsageError } from './command.ts'
import { formatTable } from './format-help.ts'
import { withClickHouse } from './open-clickhouse.ts'
import { withPostgres } from './open-postgres.ts'
import { checkId, readInstant } from './read-option.ts'

const list: Command = {
  name: 'campaign list',
  summary: 'List the campaigns of a business',
  options: { business: { value: 'ID', help: 'The business that the campaigns belong to' } },
  required: ['business'],
  async run(config, args) {
    const businessId = checkId('--business', args.text('business') ?? '')
    const campaigns = await withPostgres(config, async (sql) => {
      await requireBusiness(sql, businessId)
      return listCampaigns(sql, { businessId, after: null, limit: null })
    })
    const heads = ['CAMPAIGN', 'STATUS', 'VERSION', 'TRIGGER', 'NAME']
    const lines = campaigns.map(({ campaignId, status, version, trigger, name }) => [
      campaignId,
      status,
      String(version),
      describeTrigger(trigger),
      name,
    ])
    return { json: { campaigns }, text: lines.length ? formatTable([heads, ...lines]) : 'There are no campaigns yet' }
  },
}

function describeTrigger(trigger: CampaignTrigger): string {
  if ('event' in trigger) return `event ${trigger.event}`
  if ('web' in trigger) return `page ${trigger.web}`
  return `segment ${trigger.segment} ${trigger.on}`
}

const show: Command = {
  name: 'campaign show',
  summary: 'Print a campaign with its steps, as GET /api/campaigns/{id} answers',
  positionals: ['ID'],
  async run(config, args) {
    const campaignId = checkId('ID', args.positional(0))
    const campaign = await withPostgres(config, async (sql) =>
      requireCampaign(sql, await findBusinessOf(sql, campaignId), campaignId),
    )
    return { json: { campaign }, text: JSON.stringify(campaign, null, 2) }
  },
}

const CHANGED: Record<StatusChange, string> = { pause: 'is paused', resume: 'goes on', archive: 'is archived' }
const LOCKED: Record<CampaignStatus, string> = {
  draft: 'is a draft',
  published: 'is published',
  paused: 'is paused',
  archived: 'is archived and can no longer be changed',
}

const changing = (change: StatusChange, more: Pick<Command, 'summary' | 'options' | 'notes'>): Command => ({
  name: `campaign ${change}`,
  positionals: ['ID'],
  ...more,
  async run(config, args) {
    const campaignId = checkId('ID', args.positional(0))
    if (change === 'archive' && !args.flag('yes'))
      throw new UsageError('Its active enrolments would be stopped permanently. To confirm, add --yes')
    const changed = await withPostgres(config, (sql) => changeCampaign(sql, campaignId, change))
    const { campaign } = changed
    const isChanged = changed.kind === 'changed'
    return {
      json: { campaign, changed: isChanged },
      text: `The campaign ${campaign.name} ${CHANGED[change]}${isChanged ? '' : ' already'}`,
    }
  },
})

async function changeCampaign(sql: Sql, campaignId: string, change: StatusChange) {
  const businessId = await findBusinessOf(sql, campaignId)
  const actor = commandActor(`admin campaign ${change}`)
  const result = await changeStatus(sql, { businessId, actor }, campaignId, change)
  if (result.kind === 'not_found') throw campaignNotFound(campaignId)
  if (result.kind === 'locked') throw new CommandError('locked', `The campaign ${LOCKED[result.status]}`)
  return result
}

const CHANGES = [
  changing('pause', {
    summary: 'Pause a campaign: nobody enters, and nothing is sent until it is resumed',
  }),
  changing('resume', { summary: 'Resume a paused campaign: steps that fell due during the pause run at once' }),
  changing('archive', {
    summary: 'Archive a campaign permanently and stop its active enrolments',
    options: { yes: { help: 'Confirm: this cannot be undone' } },
  }),
]

const report: Command = {
  name: 'campaign report',
  summary: 'Report the enrolments of a campaign and its messages, by their state',
  positionals: ['ID'],
  options: {
    from: { value: 'TIME', help: 'Only of enrolments since then, such as 2026-03-01T09:30Z' },
    to: { value: 'TIME', help: 'Only of enrolments until then' },
  },
  notes: 'With --json, the days and the hold-out are there, too: see docs/campaigns.md.',
  async run(config, args) {
    const campaignId = checkId('ID', args.positional(0))
    const range = { from: readInstant(args, 'from'), to: readInstant(args, 'to') }
    const { campaign, counted, names } = await withPostgres(config, async (sql) => {
      const businessId = await findBusinessOf(sql, campaignId)
      const business = await readBusiness(sql, businessId)
      if (business === null) throw businessNotFound(businessId)
      const found = await requireCampaign(sql, businessId, campaignId)
      const key = { id: businessId, timezone: business.timezone }
      const read = await withClickHouse(config, (clickhouse) => readReport({ sql, clickhouse }, key, found, range))
      return { campaign: found, counted: read, names: await readTemplateNames(sql, businessId, sendsOf(found)) }
    })
    return { json: { report: counted }, text: describeReport(campaign, counted, names) }
  },
}

const SHOWN = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained', 'failed', 'unknown'] as const

type Send = { step: SendStep; number: string }

const sendsOf = ({ steps }: Campaign): Send[] =>
  walkSteps(steps).flatMap(({ step, path }) => (step.type === 'send' ? [{ step, number: numberOf(path) }] : []))

async function readTemplateNames(sql: Sql, businessId: string, sends: readonly Send[]): Promise<Map<string, string>> {
  const ids = sends.map(({ step }) => step.template)
  const rows = await sql<{ id: string; name: string }[]>`
    select id, name from templates where business_id = ${businessId} and id = any (${`{${ids.join(',')}}`}::uuid[])`
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** `names`: of templates, by id. */
function describeReport(campaign: Campaign, counted: CampaignReport, names: ReadonlyMap<string, string>): string {
  const { name, status } = campaign
  const { contacts, enrolments, conversionRate, revenue, steps } = counted
  const sends = new Map(sendsOf(campaign).map((send) => [send.step.id, send]))
  const { enrolled, ...states } = enrolments
  const counts = Object.entries(states).map(([state, many]) => `${many} ${state}`)
  const rate = conversionRate === null ? [] : [`Conversion rate: ${(conversionRate * 100).toFixed(1)} %`]
  const sums = Object.entries(revenue ?? {}).map(([currency, sum]) => `${sum} ${currency}`)
  const money =
    revenue === null ? ['Revenue: not read in time'] : sums.length > 0 ? [`Revenue: ${sums.join(', ')}`] : []
  const heads = ['STEP', 'SENDS', 'ENTERED', ...SHOWN.map((state) => state.toUpperCase()), 'SKIPPED', 'ID']
  const lines = steps.map(({ stepId, entered, skipped, ...step }) => [
    sends.get(stepId)?.number ?? '-',
    describeSend(sends.get(stepId)?.step, names),
    String(entered),
    ...SHOWN.map((state) => String(step[state])),
    String(Object.values(skipped).reduce((sum, many) => sum + many, 0)),
    stepId,
  ])
  const table = lines.length > 0 ? [formatTable([heads, ...lines])] : []
  const people = contacts === enrolled ? [] : [`Contacts: ${contacts}`]
  return [
    `${name} (${status}): ${enrolled} enrolled, ${counts.join(', ')}`,
    ...people,
    ...rate,
    ...money,
    ...table,
  ].join('\n')
}

function describeSend(step: SendStep | undefined, names: ReadonlyMap<string, string>): string {
  if (step === undefined) return 'step of an earlier version'
  return `${step.channel}: ${names.get(step.template) ?? 'deleted template'}`
}

/** Throws CommandError when there is no such campaign. */
async function findBusinessOf(sql: Sql, campaignId: string): Promise<string> {
  const [found] = await sql<{ businessId: string }[]>`
    select business_id as "businessId" from campaigns where id = ${campaignId}`
  if (found === undefined) throw campaignNotFound(campaignId)
  return found.businessId
}

async function requireCampaign(sql: Sql, businessId: string, campaignId: string): Promise<Campaign> {
  const campaign = await readCampaign(sql, businessId, campaignId)
  if (campaign === null) throw campaignNotFound(campaignId)
  return campaign
}

const campaignNotFound = (id: string) =>
  new CommandError('campaign_not_found', `There is no campaign ${id}. To see all: admin campaign list --business ID`)

export const CAMPAIGN_COMMANDS: Command[] = [list, show, ...CHANGES, report]
