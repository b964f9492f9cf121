/** Where the revenue came from, and its cost. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../../parts/action/button.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { Note } from '../../../parts/feedback/note.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { useBusiness, useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { SaveToBoard } from '../../boards/links.ts'
import { AnalyticsPage, Result } from '../frame.tsx'
import { type Range, rangeOf } from '../range.ts'
import { AttributionControls } from './controls.tsx'
import { DeleteSpend } from './delete-spend.tsx'
import { ImportSpend } from './import-spend.tsx'
import { type AttributionQuery, attributionQuery } from './queries.ts'
import { currenciesOf, rowsOf } from './rows.ts'
import type { AttributionSearch, Model } from './search.ts'
import { AttributionTable } from './table.tsx'

export function AttributionPage() {
  const texts = textsOf('attribution')
  const { id: businessId, timezone, currency: own } = useBusiness()
  const search: AttributionSearch = useSearch({ strict: false })
  const range = rangeOf(search, timezone)
  const { model = 'last', beside } = search
  const asked = askOf(search, range, model)
  const query = useQuery(attributionQuery(businessId, asked))
  const other = useQuery(attributionQuery(businessId, beside === undefined ? null : askOf(search, range, beside)))
  const used = query.data === undefined ? [] : currenciesOf(query.data)
  const currency = search.currency ?? used[0] ?? own
  // The second model's rows must be those of the same choices.
  const isFitting = beside !== undefined && !other.isPlaceholderData && other.data !== undefined
  return (
    <AnalyticsPage title={textsOf('analytics').tabs.attribution}>
      <Section
        title={texts.title}
        intro={texts.intro}
        actions={
          <>
            <SaveToBoard kind="attribution" query={asked} title={textsOf('analytics').tabs.attribution} />
            <SpendActions range={range} />
          </>
        }
      >
        <AttributionControls search={search} range={range} currency={currency} used={used} />
        <Result query={other.error === null ? query : failedOf(query, other)} isEmpty={() => false}>
          {(data) => {
            // Use the choices of the answer, not those in the URL: until the next answer arrives, they differ.
            const rows = rowsOf(data, currency)
            if (rows.length === 0) return <None range={range} />
            return (
              <>
                {data.truncated && <Note>{texts.truncated}</Note>}
                <AttributionTable
                  rows={rows}
                  by={data.by}
                  currency={currency}
                  model={data.model}
                  beside={isFitting ? { model: beside, rows: rowsOf(other.data, currency) } : undefined}
                />
              </>
            )
          }}
        </Result>
      </Section>
    </AnalyticsPage>
  )
}

/** The result counts as failed when the query of the second model has failed. */
const failedOf = <Query extends UseQueryResult>(query: Query, { error, refetch }: UseQueryResult) =>
  ({ ...query, error, refetch }) as Query

function askOf({ by = 'channel', event }: AttributionSearch, { from, to }: Range, model: Model): AttributionQuery {
  return { model, by, from, ...(to !== undefined && { to }), ...(event !== undefined && { event }) }
}

/** Explains what to do to get data. */
function None({ range }: { range: Range }) {
  const texts = textsOf('attribution')
  return (
    <Empty icon="chart" title={texts.noneTitle} actions={<SpendActions range={range} isFirst />}>
      {texts.none}
    </Empty>
  )
}

/** Requires permission to change spend. */
function SpendActions({ range, isFirst = false }: { range: Range; isFirst?: boolean }) {
  const texts = textsOf('attribution')
  const canEdit = useCan('audience:write')
  const [opened, setOpened] = useState<'import' | 'delete' | null>(null)
  if (!canEdit) return null
  const close = () => setOpened(null)
  return (
    <>
      {!isFirst && (
        <Button kind="quiet" icon="trash" onClick={() => setOpened('delete')}>
          {texts.deleteSpend}
        </Button>
      )}
      <Button icon="import" onClick={() => setOpened('import')}>
        {texts.importSpend}
      </Button>
      {opened === 'import' && <ImportSpend onClose={close} />}
      {opened === 'delete' && <DeleteSpend range={range} onClose={close} />}
    </>
  )
}
