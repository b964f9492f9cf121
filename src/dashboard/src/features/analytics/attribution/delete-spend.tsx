import { useQueryClient } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import { formatDay, formatNumber } from '../../../format.ts'
import { Confirm } from '../../../parts/overlay/confirm.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { type Range, dayAfter, lastDayOf } from '../range.ts'
import { attributionKey } from './queries.ts'

/** Deletes the spend of the days that are shown. */
export function DeleteSpend({ range, onClose }: { range: Range; onClose: () => void }) {
  const texts = textsOf('attribution')
  const client = useQueryClient()
  const { id: businessId, timezone } = useBusiness()
  const { from } = range
  const last = lastDayOf(range, timezone)
  async function remove() {
    const params = { path: { businessId }, query: { from, to: dayAfter(last) } }
    let deleted = 0
    // One request deletes a few thousand rows.
    for (let hasMore = true; hasMore;) {
      const some = await take(api.DELETE('/dashboard/api/b/{businessId}/analytics/spend', { params }))
      deleted += some.deleted
      ;({ hasMore } = some)
    }
    showToast(texts.deleted(formatNumber(deleted)))
    await client.invalidateQueries({ queryKey: attributionKey(businessId) })
  }
  // Noon is on the same day in the reader's zone, whichever zone that is.
  const nameOf = (day: string) => formatDay(new Date(`${day}T12:00:00`))
  return (
    <Confirm title={texts.deleteSpend} action={texts.deleteSpend} onConfirm={remove} onClose={onClose}>
      {texts.deleteText(nameOf(from), nameOf(last))}
    </Confirm>
  )
}
