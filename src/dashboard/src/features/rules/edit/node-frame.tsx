/** The frame of a condition or a group. It is dragged by its handle, moved by arrow keys, and has a menu. */
import { MAX_LEVELS } from '../../../../../rules/segments/grammar/limits.ts'
import { type DragEvent, type KeyboardEvent, type ReactNode, useRef } from 'react'
import { Icon } from '../../../parts/value/icon.tsx'
import { Menu, type MenuItem } from '../../../parts/overlay/menu.tsx'
import { textsOf } from '../../../texts/index.ts'
import * as edit from '../edit-tree.ts'
import { type Node, type Tree, isGroup } from '../tree.ts'
import { dragging } from './dragging.ts'
import { focusWithout, issueOf, useEditing } from './editing.ts'
import styles from './rule-editor.module.css'

interface NodeFrameProps {
  node: Node
  /** Description in words. */
  name: string
  /** Menu items of this kind of node, before the common ones. */
  items: MenuItem[]
  /** Parts whose issues are shown at their own fields. */
  parts: readonly string[]
  children: ReactNode
}

export function NodeFrame({ node, name, items, parts, children }: NodeFrameProps) {
  const texts = textsOf('segments')
  const { issues, warnings } = useEditing()
  const frame = useRef<HTMLDivElement>(null)
  const shown = parts.filter((part) => issueOf(issues.get(node.id), part) !== undefined)
  const others = (issues.get(node.id) ?? []).filter(
    (issue) => !shown.some((part) => issueOf([issue], part) !== undefined),
  )
  return (
    <div ref={frame} className={isGroup(node) ? styles['groupFrame'] : styles['frame']} role="group" aria-label={name}>
      <div className={styles['bar']}>
        <Handle node={node} name={name} frame={frame} />
        <div className={styles['body']}>{children}</div>
        <NodeMenu node={node} label={texts.actions(name)} items={items} />
      </div>
      {others.map(({ part, message }) => (
        <p key={part + message} role="alert" className={styles['issue']}>
          <Icon name="warn" size={14} />
          {message}
        </p>
      ))}
      {(warnings.get(node.id) ?? []).map(({ message }) => (
        <p key={message} className={styles['warning']}>
          <Icon name="warn" size={14} />
          {message}
        </p>
      ))}
    </div>
  )
}

interface HandleProps {
  node: Node
  name: string
  frame: React.RefObject<HTMLDivElement | null>
}

function Handle({ node, name, frame }: HandleProps) {
  const texts = textsOf('segments')
  const move = useMove(node)
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return
    event.preventDefault()
    move(event.key === 'ArrowUp' ? 'up' : 'down')
  }
  const onDragStart = (event: DragEvent) => {
    // Firefox drags nothing without data.
    event.dataTransfer.setData('text/plain', name)
    event.dataTransfer.effectAllowed = 'move'
    if (frame.current !== null) event.dataTransfer.setDragImage(frame.current, 0, 0)
    dragging.set(node.id)
  }
  return (
    // Not a <button>, because Firefox cannot drag buttons.
    <span
      role="button"
      tabIndex={0}
      draggable
      className={styles['handle']}
      aria-label={texts.handle(name)}
      aria-keyshortcuts="ArrowUp ArrowDown"
      title={texts.handleHint}
      data-focus={`${node.id}:handle`}
      onKeyDown={onKeyDown}
      onDragStart={onDragStart}
      onDragEnd={() => dragging.set(null)}
    >
      <Icon name="grip" />
    </span>
  )
}

function useMove(node: Node): (direction: 'up' | 'down') => void {
  const texts = textsOf('segments')
  const { tree, change, announce } = useEditing()
  return (direction) => {
    const moved = edit.move(tree, node.id, direction)
    if (moved === tree) return
    change(moved, `${node.id}:handle`)
    const place = edit.placeOf(moved, node.id)
    if (place !== undefined) announce(texts.moved(String(place.at + 1), String(place.group.nodes.length)))
  }
}

function NodeMenu({ node, label, items }: { node: Node; label: string; items: MenuItem[] }) {
  const texts = textsOf('segments')
  const { tree, change } = useEditing()
  const move = useMove(node)
  const turn = (next: Tree) => change(next, `${node.id}:handle`)
  const isNegated = node.nots % 2 === 1
  const isDeep = depthWith(tree, node) >= MAX_LEVELS
  const all: MenuItem[] = [
    ...items,
    { label: texts.moveUp, onSelect: () => move('up') },
    { label: texts.moveDown, onSelect: () => move('down') },
    ...(isDeep && !isNegated
      ? []
      : [{ label: isNegated ? texts.affirm : texts.negate, onSelect: () => turn(edit.negate(tree, node)) }]),
    ...(isDeep ? [] : [{ label: texts.wrapAny, onSelect: () => turn(edit.wrap(tree, node, 'any')) }]),
    { label: texts.duplicate, onSelect: () => turn(edit.duplicate(tree, node)) },
    {
      label: texts.removeNode,
      icon: 'trash',
      isDangerous: true,
      onSelect: () => change(edit.remove(tree, node.id), focusWithout(tree, node)),
    },
  ]
  return (
    <Menu label={label} items={all}>
      <Icon name="more" />
    </Menu>
  )
}

/** Returns the number of levels from the root to the deepest condition of this node. */
function depthWith(tree: Tree, node: Node): number {
  const place = edit.placeOf(tree, node.id)
  return (place === undefined ? 0 : edit.levelsAbove(tree, place.group.id)) + edit.levelsOf(node)
}
