/** A table of a list that the server sends page by page. */
import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ErrorBox } from '../feedback/error-box.tsx'
import { Table, type TableProps } from './table.tsx'

interface PagedTableProps<Row> extends Omit<TableProps<Row>, 'onEnd' | 'isLoading'> {
  list: UseInfiniteQueryResult
}

/** Rows that were loaded before an error stay. After an error, nothing more is requested until the person retries. */
export function PagedTable<Row>({ list, ...table }: PagedTableProps<Row>) {
  const { error, isPending, isFetching, fetchNextPage } = list
  const isEmpty = table.rows.length === 0
  const hasMore = list.hasNextPage && error === null
  // A page that is being loaded would be requested again.
  const canLoad = hasMore && !isFetching
  // A page can be empty although more pages follow.
  useEffect(() => {
    if (isEmpty && canLoad) void fetchNextPage()
  }, [isEmpty, canLoad, fetchNextPage])
  return (
    <>
      <ErrorBox error={error} onRetry={() => void list.refetch()} />
      {(error === null || !isEmpty) && (
        <Table
          {...table}
          onEnd={canLoad ? () => void fetchNextPage() : undefined}
          isLoading={isPending || (isEmpty && hasMore)}
        />
      )}
    </>
  )
}
