/** A group: how its conditions are joined, its conditions and groups, and buttons that add more. */
import { MAX_LEVELS } from '../../../../../rules/segments/grammar/limits.ts'
import { type DragEvent, Fragment } from 'react'
import { Button } from '../../../parts/action/button.tsx'
import { SelectField } from '../../../parts/form/field.tsx'
import { Icon } from '../../../parts/value/icon.tsx'
import { useStore } from '../../../store.ts'
import { textsOf } from '../../../texts/index.ts'
import * as edit from '../edit-tree.ts'
import { JOINS, type Join, joinOf } from '../join.ts'
import { type Group, type Node, isGroup, newGroup, newLeaf } from '../tree.ts'
import { ConditionRow } from './condition-row.tsx'
import { dragging, dropPlace } from './dragging.ts'
import { useEditing } from './editing.ts'
import { FieldPicker } from './field-picker.tsx'
import { NodeFrame } from './node-frame.tsx'
import styles from './rule-editor.module.css'

/** The root group, which cannot be moved. */
export function RootGroup() {
  const { tree, issues } = useEditing()
  const own = issues.get(tree.root.id) ?? []
  return (
    <div className={styles['root']} onDragOver={(event) => event.preventDefault()} onDrop={useDrop()}>
      <JoinField group={tree.root} />
      <Nodes group={tree.root} />
      {own.map(({ part, message }) => (
        <p key={part + message} role="alert" className={styles['issue']}>
          <Icon name="warn" size={14} />
          {message}
        </p>
      ))}
    </div>
  )
}

function useDrop(): (event: DragEvent) => void {
  const { tree, change } = useEditing()
  return (event) => {
    event.preventDefault()
    const [id, place] = [dragging.get(), dropPlace.get()]
    dragging.set(null)
    dropPlace.set(null)
    if (id !== null && place !== null) change(edit.moveTo(tree, id, place.groupId, place.at), `${id}:handle`)
  }
}

function GroupNode({ group }: { group: Group }) {
  const texts = textsOf('segments')
  const { tree, change } = useEditing()
  const items = [
    { label: texts.unwrap, onSelect: () => change(edit.unwrap(tree, group), `${group.nodes[0]?.id ?? ''}:handle`) },
  ]
  return (
    <NodeFrame node={group} name={texts.joins[joinOf(group)]} items={group.nodes.length > 0 ? items : []} parts={[]}>
      <JoinField group={group} />
      <Nodes group={group} />
    </NodeFrame>
  )
}

function JoinField({ group }: { group: Group }) {
  const texts = textsOf('segments')
  const { tree, change } = useEditing()
  return (
    <div className={styles['join']}>
      <SelectField
        name="join"
        label={texts.join}
        isLabelHidden
        value={joinOf(group)}
        options={Object.entries(texts.joins).map(([value, label]) => ({ value, label }))}
        onChange={(event) => change(edit.setGroup(tree, group.id, JOINS[event.target.value as Join]))}
      />
    </div>
  )
}

function Nodes({ group }: { group: Group }) {
  const { words } = useEditing().speaker
  const drop = useStore(dropPlace)
  const dropAt = drop?.groupId === group.id ? drop.at : -1
  return (
    <>
      <ol className={styles['nodes']}>
        {group.nodes.map((node, at) => (
          <Fragment key={node.id}>
            {at > 0 && (
              <li className={styles['word']} aria-hidden="true">
                {group.kind === 'all' ? words.and : words.or}
              </li>
            )}
            <li
              className={dropClass(at === dropAt, at === group.nodes.length - 1 && at + 1 === dropAt)}
              onDragOver={(event) => onDragOver(event, group, at)}
            >
              {isGroup(node) ? <GroupNode group={node} /> : <ConditionRow leaf={node} />}
            </li>
          </Fragment>
        ))}
      </ol>
      <Adders group={group} isDropPlace={group.nodes.length === 0 && dropAt === 0} />
    </>
  )
}

const dropClass = (isBefore: boolean, isAfter: boolean): string | undefined =>
  (isBefore && styles['dropBefore']) || (isAfter && styles['dropAfter']) || undefined

/** Sets the drop place before or after the node, depending on which half the pointer is in. */
function onDragOver(event: DragEvent, group: Group, at: number): void {
  if (dragging.get() === null) return
  event.preventDefault()
  event.stopPropagation()
  const box = event.currentTarget.getBoundingClientRect()
  const isLower = event.clientY > box.top + box.height / 2
  dropPlace.set({ groupId: group.id, at: isLower ? at + 1 : at })
}

function Adders({ group, isDropPlace }: { group: Group; isDropPlace: boolean }) {
  const texts = textsOf('segments')
  const { tree, change } = useEditing()
  const add = (node: Node, focus: string) => change(edit.insert(tree, group.id, node), focus)
  const levels = edit.levelsAbove(tree, group.id)
  return (
    <div
      className={`${styles['adders']} ${isDropPlace ? styles['dropBefore'] : ''}`}
      onDragOver={(event) => {
        event.stopPropagation()
        onDragOver(event, group, group.nodes.length)
      }}
    >
      {levels < MAX_LEVELS ? (
        <FieldPicker
          label={texts.chooseField}
          icon="plus"
          size="small"
          focusKey={`${group.id}:add`}
          onChoose={(condition) => {
            const leaf = newLeaf(condition)
            add(leaf, `${leaf.id}:operator`)
          }}
        >
          {texts.addCondition}
        </FieldPicker>
      ) : (
        <span className="muted small">{texts.tooDeep}</span>
      )}
      {levels < MAX_LEVELS - 1 && (
        <Button
          size="small"
          kind="quiet"
          icon="plus"
          onClick={() => {
            const inner = newGroup([], 'any')
            add(inner, `${inner.id}:add`)
          }}
        >
          {texts.addGroup}
        </Button>
      )}
    </div>
  )
}
