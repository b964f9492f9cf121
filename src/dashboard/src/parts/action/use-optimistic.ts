/** A change that the page shows before the server has answered (docs/development.md, "Show a change at once"). */
import {
  type MutationScope,
  type QueryKey,
  hashKey,
  useMutation,
  useMutationState,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { showError } from '../feedback/toast.tsx'

interface Options<Stored, Change, Answer> {
  /** Key of the query that returned `stored`. */
  queryKey: QueryKey
  /** Sends the change. `stored` includes the outcome of earlier changes. */
  send: (change: Change, stored: Stored) => Promise<Answer>
  /**
   * Returns what to show until the answer arrives. Applying a change twice must have the same result as applying it
   * once.
   */
  show: (stored: Stored, change: Change) => Stored
  /** Set when the answer has everything that the query reads. Otherwise the query is read again. */
  keep?: (answer: Answer) => Stored
  onDone?: (change: Change) => void
}

export interface Refused<Change> {
  change: Change
  error: Error
}

interface Optimistic<Stored, Change> {
  /** The server's state with the changes that it has not answered yet. */
  shown: Stored
  change: (change: Change) => void
  /** True while a change has no answer. */
  isPending: boolean
  /**
   * The last rejected change, until the next one is made. A change rejected after the person left the page is shown as
   * a toast.
   */
  refused: readonly Refused<Change>[]
}

/**
 * Changes of one scope are sent one after the other. Other mutations of the data that the query reads can join the
 * scope.
 */
export const scopeOf = (queryKey: QueryKey): MutationScope => ({ id: hashKey(queryKey) })

/**
 * The query cache holds only the server's state; changes without an answer are applied on top of it. So a running fetch
 * does not hide them, and a rejected change needs no rollback.
 */
export function useOptimistic<Stored, Change, Answer>(
  stored: Stored,
  { queryKey, send, show, keep, onDone }: Options<NonNullable<Stored>, Change, Answer>,
): Optimistic<Stored, Change> {
  type Data = NonNullable<Stored>
  const client = useQueryClient()
  const [refused, setRefused] = useState<(Refused<Change> & { id: string })[]>([])
  const id = hashKey(queryKey)
  // The page may be closed, or show another object, before the answer arrives.
  const seen = useRef<string | null>(null)
  useEffect(() => {
    seen.current = id
    return () => void (seen.current = null)
  }, [id])
  const mutationKey = ['optimistic', ...queryKey]
  const changes = useMutationState({
    filters: { mutationKey, exact: true, status: 'pending' },
    select: ({ state }) => state.variables as Change,
  })
  const readAgain = () => client.invalidateQueries({ queryKey, exact: true })
  const { mutate } = useMutation<Answer, Error, Change>({
    mutationKey,
    scope: scopeOf(queryKey),
    // Fail without a connection, as all other requests do. Otherwise the change would look done until there is one.
    networkMode: 'always',
    mutationFn: (change) => send(change, client.getQueryData<Data>(queryKey) ?? (stored as Data)),
    onSuccess: async (answer, change) => {
      // A fetch that began earlier would bring back the old state.
      await client.cancelQueries({ queryKey, exact: true })
      client.setQueryData<Data>(queryKey, (data) => data && (keep?.(answer) ?? show(data, change)))
      if (keep === undefined) void readAgain()
      onDone?.(change)
    },
    onError: async (error, change) => {
      if (seen.current === id) setRefused((before) => [...before, { id, change, error }])
      else showError(error)
      // The next change of the scope is sent with the state that this reads.
      await readAgain()
    },
  })
  return {
    shown: stored == null ? stored : changes.reduce<Data>(show, stored),
    change: (change) => {
      setRefused([])
      mutate(change)
    },
    isPending: changes.length > 0,
    refused: refused.filter((one) => one.id === id),
  }
}
