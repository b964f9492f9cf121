/** Decisions, "Identity" and "Callers without a secret key", sentence by sentence, after any calls. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PageIdentify } from '../../src/rules/business-state.ts'
import {
  type Answered,
  type SentCall,
  type Snapshot,
  calls,
  fieldsOf,
  isId,
  namesOf,
  openPeople,
  pageIdentify,
} from './people-model.ts'
import { runs } from '../support/runs.ts'

/** Checks the last call after any others. */
function afterAny(check: (last: Answered, setting: PageIdentify) => void): void {
  fc.assert(
    fc.property(calls, pageIdentify, (sent, setting) => {
      const people = openPeople(setting)
      for (const call of sent) check(people.send(call), setting)
    }),
    { numRuns: runs(500) },
  )
}
const afterAnyKeyed = (check: (last: Answered) => void) => afterAny((last) => last.keyed && check(last))
const afterAnyUnkeyed = (check: (last: Answered, setting: PageIdentify) => void) =>
  afterAny((last, setting) => !last.keyed && check(last, setting))

const idOf = (snapshot: Snapshot, contactId: string, provenOnly = false) =>
  namesOf(snapshot, contactId, provenOnly).find(isId)

/** Returns the contacts that the call merged away. */
const lostBy = ({ before, after }: Answered) => [...before.keyed.keys()].filter((id) => !after.keyed.has(id))

/** Returns the sent fields that the call's contact did not get. */
const leftOut = (last: Answered) =>
  fieldsOf(last).filter((name) => last.after.held.get(name)?.contactId !== last.contactId)

describe('after any calls, every call', () => {
  it('leaves a contact with one customer id at most, and each value with one contact', () => {
    afterAny(({ after }) => {
      for (const contactId of after.keyed.keys())
        expect(namesOf(after, contactId).filter(isId).length).toBeLessThanOrEqual(1)
    })
  })

  it('warns once of each field that its contact did not get', () => {
    afterAny((last) => expect(last.warnings).toBe(leftOut(last).length))
  })

  it('never takes a proven value away from the values that were proven with it', () => {
    afterAny(({ before, after }) => {
      for (const contactId of before.keyed.keys()) {
        const now = namesOf(before, contactId, true).map((name) => after.held.get(name))
        expect(new Set(now.map((held) => held?.contactId)).size).toBeLessThanOrEqual(1)
        expect(now.every((held) => held?.proven)).toBe(true)
      }
    })
  })
})

describe('after any calls, a keyed call', () => {
  it('proves each field that its contact has then, and uses the contact', () => {
    afterAnyKeyed((last) => {
      const got = fieldsOf(last).filter((name) => !leftOut(last).includes(name))
      expect(got.every((name) => last.after.held.get(name)?.proven)).toBe(true)
      expect(last.after.keyed.get(last.contactId)).toBe(true)
    })
  })

  it('lands on the contact of the customer id sent', () => {
    afterAnyKeyed((last) => {
      const id = fieldsOf(last).find(isId)
      if (id !== undefined) expect(idOf(last.after, last.contactId)).toBe(id)
    })
  })

  it('leaves a field with another contact only when keyed calls gave both different customer ids', () => {
    afterAnyKeyed((last) => {
      for (const name of leftOut(last)) {
        const held = last.before.held.get(name)
        expect(held?.proven).toBe(true)
        const theirs = idOf(last.before, held?.contactId ?? '', true)
        expect(theirs).toBeDefined()
        expect(theirs).not.toBe(idOf(last.after, last.contactId, true))
      }
    })
  })

  it('merges those alone that a proven value led to, and never two proven customer ids', () => {
    afterAnyKeyed((last) => {
      const { before } = last
      const found = fieldsOf(last).flatMap((name) => before.held.get(name) ?? [])
      const provenly = found.filter(({ proven }) => proven).map(({ contactId }) => contactId)
      const lost = lostBy(last)
      const parts = lost.length === 0 ? [] : [...new Set([...lost, last.contactId])]
      for (const contactId of parts) expect(provenly).toContain(contactId)
      expect(new Set(parts.flatMap((contactId) => idOf(before, contactId, true) ?? [])).size).toBeLessThanOrEqual(1)
    })
  })

  it('that knows unproven fields alone lands on a contact that no keyed call has used, else on a new one', () => {
    afterAnyKeyed((last) => {
      const known = fieldsOf(last).flatMap((name) => last.before.held.get(name) ?? [])
      if (known.length === 0 || known.some(({ proven }) => proven)) return
      const fresh = known.filter(({ contactId }) => last.before.keyed.get(contactId) === false)
      if (fresh.length > 0) expect(fresh.map(({ contactId }) => contactId)).toContain(last.contactId)
      else expect(last.isNew).toBe(true)
      expect(leftOut(last)).toEqual([])
    })
  })

  it('leaves what it did not send where it is, but for an unproven customer id that differs from the one that counts', () => {
    afterAnyKeyed((last) => {
      const joined = [...lostBy(last), last.contactId]
      for (const [name, held] of last.before.held) {
        if (fieldsOf(last).includes(name)) continue
        const now = last.after.held.get(name)
        if (now === undefined) {
          expect([isId(name), held.proven]).toEqual([true, false])
          expect(joined).toContain(held.contactId)
          expect(idOf(last.after, last.contactId)).not.toBe(name)
          expect(idOf(last.after, last.contactId)).toBeDefined()
        } else {
          expect(now.proven).toBe(held.proven)
          expect(now.contactId).toBe(joined.includes(held.contactId) ? last.contactId : held.contactId)
        }
      }
    })
  })
})

describe('after any calls, a call without a key', () => {
  it('merges, moves, proves and uses nothing', () => {
    afterAnyUnkeyed((last) => {
      expect(lostBy(last)).toEqual([])
      for (const [name, held] of last.before.held) expect(last.after.held.get(name)).toEqual(held)
      for (const [contactId, keyed] of last.before.keyed) expect(last.after.keyed.get(contactId)).toBe(keyed)
      for (const name of fieldsOf(last))
        if (!last.before.held.has(name)) expect(last.after.held.get(name)?.proven ?? false).toBe(false)
    })
  })

  it('adds no second value of a kind, and no customer id where a keyed call was; with confirmed, nothing there', () => {
    afterAnyUnkeyed((last, setting) => {
      const had = namesOf(last.before, last.contactId)
      const got = namesOf(last.after, last.contactId).filter((name) => !had.includes(name))
      const kindOf = (name: string) => name.split(' ')[0]
      for (const name of got) expect(had.map(kindOf)).not.toContain(kindOf(name))
      if (!last.before.keyed.get(last.contactId)) return
      expect(got.filter(isId)).toEqual([])
      if (setting === 'confirmed') expect(got).toEqual([])
    })
  })

  it('lands on a contact of the customer id sent when the other fields lead to another one', () => {
    afterAnyUnkeyed((last) => {
      const { before } = last
      const id = fieldsOf(last).find(isId)
      const led = fieldsOf(last).find((name) => !isId(name) && before.held.has(name))
      const theirs = led && before.held.get(led)?.contactId
      if (id === undefined || theirs === undefined) return
      const [present, known] = [idOf(before, theirs), before.held.get(id)?.contactId]
      if (known !== undefined) expect(last.contactId).toBe(known)
      else if (present === undefined) expect(last.contactId).toBe(theirs)
      else expect([last.isNew, idOf(last.after, last.contactId)]).toEqual([true, id])
    })
  })

  it('adds whatever it may', () => {
    afterAnyUnkeyed((last, setting) => {
      const kinds = namesOf(last.before, last.contactId).map((name) => name.split(' ')[0])
      for (const name of leftOut(last)) {
        if (last.before.held.has(name)) continue
        const mayNot = last.before.keyed.get(last.contactId) && (setting === 'confirmed' || isId(name))
        expect(mayNot || kinds.includes(name.split(' ')[0])).toBe(true)
      }
    })
  })
})

describe('for servers, pages do not exist:', () => {
  /**
   * Returns the values that keyed calls have proven, by contact, and which of these calls ended on the same contact.
   */
  function seenByServers(sent: SentCall[], setting: PageIdentify) {
    const people = openPeople(setting)
    const answers = sent.map((call) => people.send(call)).filter(({ keyed }) => keyed)
    const last = answers.at(-1)?.after
    const groups = [...(last?.keyed.keys() ?? [])].map((id) => namesOf(last!, id, true).sort().join()).filter(Boolean)
    const landed = answers.map(({ contactId }) => people.survivor(contactId))
    return {
      people: groups.sort(),
      landed: landed.map((contactId) => landed.indexOf(contactId)),
      warnings: answers.map(({ warnings }) => warnings),
    }
  }

  it('who is one, where each call lands and what it is warned of is the same without any call of a page', () => {
    fc.assert(
      fc.property(calls, pageIdentify, (sent, setting) => {
        const alone = sent.filter(({ keyed }) => keyed)
        expect(seenByServers(sent, setting)).toEqual(seenByServers(alone, setting))
      }),
      { numRuns: runs(2000) },
    )
  })
})
