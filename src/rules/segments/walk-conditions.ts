import type { Condition, Rule } from './rule.ts'

/** Calls `visit` for each condition of a rule, in the order of the rule. Rules of named segments are not visited. */
export function walkConditions<Leaf extends Condition>(
  rule: GroupOf<Leaf> | Leaf,
  path: string,
  visit: (condition: Leaf, path: string) => void,
): void {
  if ('all' in rule) rule.all.forEach((inner, index) => walkConditions(inner, `${path}.all[${index}]`, visit))
  else if ('any' in rule) rule.any.forEach((inner, index) => walkConditions(inner, `${path}.any[${index}]`, visit))
  else if ('not' in rule) walkConditions(rule.not, `${path}.not`, visit)
  else visit(rule, path)
}

type GroupOf<Leaf> =
  | { all: (GroupOf<Leaf> | Leaf)[] }
  | { any: (GroupOf<Leaf> | Leaf)[] }
  | { not: GroupOf<Leaf> | Leaf }

/** Returns the conditions of a rule, in its order. */
export function conditionsOf(rule: Rule): Condition[] {
  const found: Condition[] = []
  walkConditions<Condition>(rule, '', (condition) => found.push(condition))
  return found
}
