/** A rule as the server evaluated it for one contact: which parts are true, and the value that each condition saw. */
import { formatNumber, formatTime } from '../../../format.ts'
import { Badge } from '../../../parts/value/badge.tsx'
import { Icon } from '../../../parts/value/icon.tsx'
import { textsOf } from '../../../texts/index.ts'
import styles from './explained-rule.module.css'
import type { Explanation } from '../queries.ts'
import { type Draft, typeOf } from '../condition.ts'
import { joinOf } from '../join.ts'
import { type Speaker, describeNode } from '../sentence.ts'
import { newLeaf } from '../tree.ts'
import { Sentence } from './sentence.tsx'
import { Time } from '../../../parts/value/values.tsx'

export function ExplainedRule({ explanation, speaker }: { explanation: Explanation; speaker: Speaker }) {
  const texts = textsOf('segments')
  const { member, enteredAt, changesAt, rule } = explanation
  return (
    <div className="stack">
      <p className="row" role="status">
        <Badge kind={member ? 'good' : 'neutral'}>{member ? texts.isMember : texts.isNoMember}</Badge>
        {member && enteredAt !== null && (
          <span className="muted">
            {texts.since} <Time at={enteredAt} />
          </span>
        )}
      </p>
      {changesAt !== null && (
        <p className="muted">
          {texts.changesAt} <Time at={changesAt} />
        </p>
      )}
      <ul className={styles['tree']}>
        <Explained rule={rule as ExplainedNode} speaker={speaker} />
      </ul>
    </div>
  )
}

/** The server's format: `matches` on every group and condition, and `seen` on every condition. */
type ExplainedNode = Record<string, unknown>

interface NodeProps {
  rule: ExplainedNode
  speaker: Speaker
  /** Number of `not` around the node, and the outcome of the outermost one. */
  nots?: number
  holds?: boolean
}

function Explained({ rule, speaker, nots = 0, holds = rule['matches'] === true }: NodeProps) {
  const { not, all, any } = rule
  if (not !== undefined) {
    return <Explained rule={not as ExplainedNode} speaker={speaker} nots={nots + 1} holds={holds} />
  }
  const nodes = (all ?? any) as ExplainedNode[] | undefined
  if (nodes === undefined) return <Condition rule={rule} speaker={speaker} nots={nots} holds={holds} />
  return (
    <li>
      <div className={styles['line']}>
        <Mark holds={holds} />
        <span className={styles['title']}>
          {textsOf('segments').joins[joinOf({ kind: all === undefined ? 'any' : 'all', nots })]}
        </span>
      </div>
      <ul className={styles['inner']}>
        {nodes.map((node, at) => (
          <Explained key={at} rule={node} speaker={speaker} />
        ))}
      </ul>
    </li>
  )
}

function Condition({ rule, speaker, nots = 0, holds = false }: NodeProps) {
  const texts = textsOf('segments')
  const { matches: _, seen, stale = false, ...condition } = rule
  return (
    <li className={styles['line']}>
      <Mark holds={holds} />
      <div>
        <Sentence parts={describeNode({ ...newLeaf(condition), nots }, speaker)} />
        <div className="muted small">
          {texts.saw} <bdi className="foreign">{seenText(seen, condition, speaker)}</bdi>
        </div>
        {stale === true && <div className={styles['stale']}>{texts.stale}</div>}
      </div>
    </li>
  )
}

function Mark({ holds }: { holds: boolean }) {
  const texts = textsOf('segments')
  return (
    <span className={holds ? styles['holds'] : styles['fails']}>
      <Icon name={holds ? 'check' : 'close'} />
      <span className="visually-hidden">{holds ? texts.holds : texts.holdsNot}</span>
    </span>
  )
}

function seenText(seen: unknown, condition: Draft, { fieldTypes }: Speaker): string {
  const texts = textsOf('segments')
  if (seen === null || seen === undefined || (Array.isArray(seen) && seen.length === 0)) return texts.sawNothing
  if (Array.isArray(seen)) return seen.join(', ')
  if (typeof seen === 'boolean') return seen ? texts.yes : texts.no
  if (typeof seen === 'number') return formatNumber(seen)
  const text = typeof seen === 'string' ? seen : JSON.stringify(seen)
  const isInstant = typeOf(condition, fieldTypes) === 'date' && !Number.isNaN(Date.parse(text))
  return isInstant ? formatTime(new Date(text)) : text
}
