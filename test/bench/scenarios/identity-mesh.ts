import { MESH_EVENTS } from '../generator/traffic.ts'
import type { Stack } from '../stack.ts'
import { CROWD } from './saturation.ts'
import { type Check, type Scenario, atLeast, noError } from './scenario.ts'

/** Number of people who send their events at the same time, in shuffled order. */
const PEOPLE_AT_ONCE = 500
const PATIENCE_S = 600

export const identityMesh: Scenario = {
  name: 'identity-mesh',
  title: 'identities joined in random order (email, phone, id meshes)',
  async run(bench) {
    const callers = await bench.openCallers({ kind: 'mesh', prefix: 'mesh-', people: PEOPLE_AT_ONCE })
    const people = PEOPLE_AT_ONCE * bench.length(4, 60)
    const requests = people * MESH_EVENTS
    const measured = await bench.send([callers, { ...CROWD, seconds: PATIENCE_S, requests }])
    return {
      checks: [
        atLeast('sustained', measured.rate, 6000, 'answers/s'),
        await onePersonOneContact(bench.stack, callers.businessIds, people),
        noError(measured.load),
      ],
      measured: { [`${people.toLocaleString('en')} people`]: measured },
    }
  },
}

/** Checks that each person has one contact with all three identities. */
async function onePersonOneContact({ own: { sql } }: Stack, [id = '']: string[], people: number): Promise<Check> {
  const [found] = await sql<[{ contacts: number; whole: number }]>`
    select (select count(*)::int from contacts where business_id = ${id} and merged_into is null) as contacts,
      (select count(*)::int from (
        select from identities where business_id = ${id} group by contact_id having count(*) = 3
      ) three) as whole`
  return {
    goal: 'no duplicate contact',
    figure: `${found.contacts} contacts of ${people} people, ${found.whole} with all three fields`,
    met: found.contacts === people && found.whole === people,
  }
}
