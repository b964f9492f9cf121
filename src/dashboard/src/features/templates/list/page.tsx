import { MESSAGE_CHANNELS } from '../../rules/channels.ts'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import { CreateLink, ListPage } from '../../../parts/list/list-page.tsx'
import { type Column, TIME_WIDTH } from '../../../parts/list/table.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { useBusiness, useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { type ListedTemplate, templatesQuery } from '../queries.ts'
import { type Use, usesQuery } from '../queries.ts'
import type { TemplatesSearch } from '../search.ts'
import styles from './templates.module.css'

export function TemplatesPage() {
  const texts = textsOf('templates')
  const { id: businessId } = useBusiness()
  const navigate = useNavigate()
  const search: TemplatesSearch = useSearch({ strict: false })
  const canOpen = useCan('contacts:read')
  const list = useQuery(templatesQuery(businessId))
  const uses = useQuery(usesQuery(businessId)).data
  const rows = list.data?.filter((template) => isMatch(template, search)) ?? []
  const create = useCan('audience:write') && (
    <CreateLink label={texts.create} to="/dashboard/b/$businessId/templates/new" params={{ businessId }} />
  )
  const isEmpty = list.data?.length === 0
  return (
    <ListPage
      title={texts.title}
      intro={texts.intro}
      width="full"
      list={list}
      actions={!isEmpty && create}
      columns={columnsOf({ businessId, canOpen, uses })}
      rows={rows}
      keyOf={({ templateId }) => templateId}
      {...(canOpen && {
        onOpen: ({ templateId }: ListedTemplate) =>
          void navigate({
            to: '/dashboard/b/$businessId/templates/$templateId',
            params: { businessId, templateId },
          }),
      })}
      empty={
        <Empty icon="mail" title={isEmpty ? texts.emptyTitle : texts.noMatch} actions={isEmpty && create}>
          {isEmpty && texts.empty}
        </Empty>
      }
    >
      {!isEmpty && <Filters search={search} />}
    </ListPage>
  )
}

const isMatch = ({ name, channel }: ListedTemplate, search: TemplatesSearch): boolean =>
  name.toLocaleLowerCase().includes((search.query ?? '').trim().toLocaleLowerCase()) &&
  (search.channel === undefined || channel === search.channel)

function Filters({ search }: { search: TemplatesSearch }) {
  const texts = textsOf('templates')
  const { channels } = textsOf('campaigns')
  const navigate = useNavigate()
  const show = (change: { [Name in keyof TemplatesSearch]: TemplatesSearch[Name] | undefined }) =>
    void navigate({ to: '.', search: { ...search, ...change }, replace: true, resetScroll: false })
  return (
    <search className={styles['filters']}>
      <TextField
        name="query"
        type="search"
        label={texts.search}
        value={search.query ?? ''}
        dir="auto"
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => show({ query: event.target.value || undefined })}
      />
      <SelectField
        name="channel"
        label={texts.channel}
        value={search.channel ?? ''}
        options={[
          { value: '', label: texts.anyChannel },
          ...MESSAGE_CHANNELS.map((value) => ({ value, label: channels[value] })),
        ]}
        onChange={({ target }) => show({ channel: MESSAGE_CHANNELS.find((one) => one === target.value) })}
      />
    </search>
  )
}

interface ColumnInput {
  businessId: string
  canOpen: boolean
  /** Undefined until they are read. */
  uses: Map<string, Use[]> | undefined
}

function columnsOf({ businessId, canOpen, uses }: ColumnInput): Column<ListedTemplate>[] {
  const texts = textsOf('templates')
  const { channels } = textsOf('campaigns')
  return [
    {
      key: 'name',
      header: texts.template,
      width: 'minmax(140px, 2fr)',
      cell: ({ templateId, name }) =>
        canOpen ? (
          <Link
            to="/dashboard/b/$businessId/templates/$templateId"
            params={{ businessId, templateId }}
            tabIndex={-1}
            className="foreign"
          >
            {name}
          </Link>
        ) : (
          <bdi className="foreign">{name}</bdi>
        ),
    },
    { key: 'channel', header: texts.channel, width: '110px', cell: ({ channel }) => channels[channel] },
    {
      key: 'languages',
      header: texts.languages,
      width: 'minmax(90px, 1fr)',
      isSecondary: true,
      cell: ({ languages }) => <span dir="ltr">{languages.join(', ')}</span>,
    },
    {
      key: 'uses',
      header: texts.usedBy,
      width: 'minmax(140px, 2fr)',
      isSecondary: true,
      cell: ({ templateId }) => uses && <Uses businessId={businessId} uses={uses.get(templateId) ?? []} />,
    },
    {
      key: 'changed',
      header: texts.changed,
      width: TIME_WIDTH,
      isSecondary: true,
      cell: ({ updatedAt }) => <Time at={updatedAt} />,
    },
  ]
}

function Uses({ businessId, uses }: { businessId: string; uses: Use[] }) {
  if (uses.length === 0) return <span className="muted">{textsOf('templates').unused}</span>
  return uses.map(({ campaignId, name }, at) => (
    <span key={campaignId}>
      {at > 0 && ', '}
      <Link
        to="/dashboard/b/$businessId/campaigns/$campaignId"
        params={{ businessId, campaignId }}
        tabIndex={-1}
        className="foreign"
      >
        {name}
      </Link>
    </span>
  ))
}
