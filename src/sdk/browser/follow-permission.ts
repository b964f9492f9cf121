import type { Permission } from './decide-permission.ts'
import type { Visitor } from './know-visitor.ts'

/**
 * Returns a function to call whenever the permission may have changed, here or in another tab. It acts once per change.
 */
export function followPermission(visitor: Visitor, act: Partial<Record<Permission, () => void>>): () => void {
  let before: Permission = 'pending'
  return () => {
    const permission = visitor.permission()
    if (permission === before) return
    before = permission
    act[permission]?.()
  }
}
