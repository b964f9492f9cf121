import type { Changes } from '../../rules/changes.ts'
import { type State, survivorOf } from '../../rules/state.ts'
import { inSnakeCase } from '../../stores/in-snake-case.ts'

/** What a micro-batch changes of topics, as JSON for `save_topics`. Null: nothing. */
export function topicRecords(state: State, changes: Changes): string | null {
  const { topicChoices, pastTopicChoices, topicMoves: moves } = changes
  const merges = changes.merges.filter(({ businessId }) => (state.businesses.get(businessId)?.topics.size ?? 0) > 0)
  if (topicChoices.size + pastTopicChoices.length + moves.length + merges.length === 0) return null
  const choices = [...topicChoices.values()].map(({ was: _was, ...choice }) => choice)
  const past = pastTopicChoices.map((choice) => ({ ...choice, contactId: survivorOf(state, choice.contactId) }))
  return JSON.stringify({
    merges: merges.map((one) => inSnakeCase(one)),
    moves: moves.map((one) => inSnakeCase(one)),
    choices: choices.map((one) => inSnakeCase(one)),
    past: past.map((one) => inSnakeCase(one)),
  })
}
